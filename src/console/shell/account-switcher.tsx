/** In which account the pages act, and the way to another. */
import { lazy, type ReactNode } from "react";
import { words } from "../copy/en.ts";
import { LateMenu } from "../parts/late-menu.tsx";
import { useSignedIn } from "./session.ts";

const AccountMenu = lazy(() => import("./account-menu.tsx").then(({ AccountMenu }) => ({ default: AccountMenu })));

export function AccountSwitcher(): ReactNode {
  const { session, account } = useSignedIn();
  const found = session.memberships.find(({ accountId }) => accountId === account);
  const name = found?.accountName || account;
  return (
    <LateMenu
      label={words.shell.switchAccount(name)}
      className="button switcher"
      face={
        <>
          <span className="initial" aria-hidden="true">
            {(name || "?").slice(0, 1).toUpperCase()}
          </span>
          <span className="grow">{name || words.shell.noAccount}</span>
          <span aria-hidden="true">▾</span>
        </>
      }
      menu={(parts) => <AccountMenu {...parts} />}
    />
  );
}
