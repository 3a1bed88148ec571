/** The accounts to switch to: those that the person is a member of, and all of them for an operator. */
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Menu, MenuItem, Popover } from "react-aria-components";
import { listAccounts } from "../../gen/console/account_service.js";
import { ask } from "../api/queries.ts";
import { words } from "../copy/en.ts";
import type { OpenMenuParts } from "../parts/late-menu.tsx";
import { useSignedIn } from "./session.ts";

const SHOWN_MAX = 200;

export function AccountMenu({ button, onClose }: OpenMenuParts): ReactNode {
  const { session, account, isOverAll } = useSignedIn();
  const navigate = useNavigate();
  const all = useQuery({ ...ask(listAccounts, { pageSize: SHOWN_MAX }), enabled: isOverAll });
  const own = session.memberships.map(({ accountId, accountName }) => ({ id: accountId, name: accountName }));
  const others = (all.data?.accounts ?? []).filter(({ id }) => own.every((one) => one.id !== id));
  const go = (id: string | number): void =>
    void navigate({ to: ".", search: (before) => ({ ...before, account: String(id) }) });
  return (
    <Popover className="popover" triggerRef={button} isOpen onOpenChange={onClose}>
      <Menu
        className="menu"
        aria-label={words.shell.accounts}
        autoFocus="first"
        items={[...own, ...others]}
        selectionMode="single"
        selectedKeys={[account]}
        onAction={go}
        onClose={onClose}
        renderEmptyState={() => <p className="menu-head">{words.shell.noAccount}</p>}
      >
        {({ id, name }) => (
          <MenuItem id={id} textValue={name || id} className="menu-item">
            <span>{name || id}</span>
            {name !== "" && <small className="soft">{id}</small>}
          </MenuItem>
        )}
      </Menu>
    </Popover>
  );
}
