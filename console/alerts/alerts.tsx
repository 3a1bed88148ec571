/** The alerts of an account or of the operators: rules, webhooks, and what was sent. */
import { Link, useSearch } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { words } from "../copy/en.ts";
import { alertWords } from "../copy/en-alerts.ts";
import { Page } from "../parts/page.tsx";
import { useSignedIn } from "../shell/session.ts";
import { Deliveries } from "./deliveries.tsx";
import { Rules } from "./rules.tsx";
import { Webhooks } from "./webhooks.tsx";

const VIEWS = [undefined, "webhooks", "deliveries"] as const;

/** Whose alerts they are, and what the person may do with them. */
export interface Owner {
  /** The account's id; empty for the operators, who see those of all. */
  readonly account: string;
  readonly mayChange: boolean;
}

export function Alerts(): ReactNode {
  const { account, isManager } = useSignedIn();
  const { show, page } = useSearch({ from: "/alerts" });
  return (
    <Page title={words.pages.alerts} about={alertWords.about}>
      <Views to="/alerts" />
      <Shown owner={{ account, mayChange: isManager }} show={show} page={page} />
    </Page>
  );
}

export function OperatorAlerts(): ReactNode {
  const { isOperator } = useSignedIn();
  const { show, page } = useSearch({ from: "/admin/alerts" });
  return (
    <Page title={words.pages.operatorAlerts} about={alertWords.operatorAbout}>
      <Views to="/admin/alerts" />
      <Shown owner={{ account: "", mayChange: isOperator }} show={show} page={page} />
    </Page>
  );
}

interface ViewsParts {
  readonly to: "/alerts" | "/admin/alerts";
}

function Views({ to }: ViewsParts): ReactNode {
  return (
    <nav className="segments" aria-label={alertWords.views}>
      {VIEWS.map((view) => (
        <Link
          key={view ?? "rules"}
          to={to}
          search={(before) => ({ ...before, show: view, page: undefined })}
          activeOptions={{ explicitUndefined: true }}
        >
          {alertWords.tabs[view ?? "rules"]}
        </Link>
      ))}
    </nav>
  );
}

interface ShownParts {
  readonly owner: Owner;
  readonly show: (typeof VIEWS)[number];
  readonly page: string | undefined;
}

function Shown({ owner, show, page }: ShownParts): ReactNode {
  if (show === "webhooks") return <Webhooks owner={owner} />;
  if (show === "deliveries") return <Deliveries owner={owner} page={page} />;
  return <Rules owner={owner} />;
}
