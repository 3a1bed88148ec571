/** In which account the pages act, and the way to another. */
import { useQuery } from "@tanstack/react-query";
import { lazy, type ReactNode } from "react";
import { getAccount } from "../../gen/console/account_service.js";
import { ask } from "../api/queries.ts";
import { words } from "../copy/en.ts";
import { LateMenu } from "../parts/late-menu.tsx";
import { useSignedIn } from "./session.ts";
import { late } from "../parts/late.ts";

const AccountMenu = lazy(late(async () => ({ default: (await import("./account-menu.tsx")).AccountMenu })));

export function AccountSwitcher(): ReactNode {
  const { session, account } = useSignedIn();
  const found = session.memberships.find(({ accountId }) => accountId === account);
  const shown = useQuery({
    ...ask(getAccount, { id: account }, account),
    enabled: found === undefined && account !== "",
  });
  const name = found?.accountName || shown.data?.account?.name || account;
  return (
    <LateMenu
      className="button switcher"
      face={
        <>
          <span className="initial" aria-hidden="true">
            {(name || "?").slice(0, 1).toUpperCase()}
          </span>
          <span className="hidden-text">{words.shell.account}</span>
          <span className="grow">{name || words.shell.noAccount}</span>
          <span aria-hidden="true">▾</span>
        </>
      }
      menu={(parts) => <AccountMenu {...parts} />}
    />
  );
}
