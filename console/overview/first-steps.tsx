/** What a new gateway still needs, for its operator: each step leads to its form, and is done once it holds. */
import { useQueries } from "@tanstack/react-query";
import { Link, type LinkProps } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { listAccounts } from "../../gen/console/account_service.js";
import { listMembers } from "../../gen/console/identity_service.js";
import { listKeys } from "../../gen/console/key_service.js";
import { listUpstreams } from "../../gen/console/upstream_service.js";
import { ask } from "../api/queries.ts";
import { stepWords as say } from "../copy/en-first-steps.ts";
import { useSignedIn } from "../shell/session.ts";

/** Kept in the browser once all steps were done, or the person wants to see them no more. */
const OVER = "tollgate-first-steps-over";
const BUILT_IN = "sim";
const OPERATORS_OWN = "operator";

interface Step {
  readonly name: keyof typeof say.steps;
  readonly isDone: boolean;
  readonly link: Pick<LinkProps, "to" | "search">;
}

export function FirstSteps(): ReactNode {
  const [isOver, setOver] = useState(() => localStorage.getItem(OVER) !== null);
  if (isOver) return null;
  const end = (): void => {
    localStorage.setItem(OVER, "1");
    setOver(true);
  };
  return <Steps onEnd={end} />;
}

function Steps({ onEnd }: { readonly onEnd: () => void }): ReactNode {
  const steps = useSteps();
  const left = steps?.filter(({ isDone }) => !isDone) ?? [];
  if (steps === undefined || left.length === 0) return null;
  return (
    <section className="card stack" aria-label={say.title}>
      <div className="card-head">
        <h2>{say.title}</h2>
        <button className="button small" type="button" onClick={onEnd}>
          {say.end}
        </button>
      </div>
      <p className="soft">{say.about}</p>
      <ol className="stack">
        {steps.map(({ name, isDone, link }) => (
          <li key={name}>
            <span className={isDone ? "tag good" : "tag"}>{isDone ? say.done : say.open}</span>{" "}
            {isDone ? say.steps[name].name : <Link {...link}>{say.steps[name].name}</Link>}{" "}
            {!isDone && <small className="soft">{say.steps[name].about}</small>}
          </li>
        ))}
      </ol>
    </section>
  );
}

/** Undefined until everything is known. */
function useSteps(): readonly Step[] | undefined {
  const { account } = useSignedIn();
  const isIn = account !== "";
  const [upstreams, accounts, keys, members] = useQueries({
    queries: [
      ask(listUpstreams, {}),
      ask(listAccounts, { pageSize: 10 }),
      { ...ask(listKeys, { accountId: account, pageSize: 1 }, account), enabled: isIn },
      { ...ask(listMembers, { accountId: account, pageSize: 1 }, account), enabled: isIn },
    ],
  });
  if (upstreams.data === undefined || accounts.data === undefined) return undefined;
  if (isIn && (keys.data === undefined || members.data === undefined)) return undefined;
  const real = upstreams.data.upstreams.filter(({ family }) => family !== BUILT_IN);
  const holders = accounts.data.accounts.filter(({ id }) => id !== OPERATORS_OWN);
  const form =
    (name: "account" | "upstream"): ((before: object) => object) =>
    (before) => ({ ...before, form: name });
  return [
    { name: "upstream", isDone: real.length > 0, link: { to: "/admin/upstreams", search: form("upstream") } },
    { name: "tested", isDone: real.some(({ health }) => health === "healthy"), link: { to: "/admin/upstreams" } },
    { name: "models", isDone: real.some(({ models }) => models.length > 0), link: { to: "/admin/models" } },
    {
      name: "account",
      isDone: holders.some(({ figures }) => (figures?.availableNanos ?? 0n) > 0n),
      link: { to: "/admin/accounts", search: form("account") },
    },
    { name: "member", isDone: (members.data?.members.length ?? 0) > 0, link: { to: "/members" } },
    {
      name: "key",
      isDone: (keys.data?.keys.length ?? 0) > 0,
      link: { to: "/keys", search: (before: object) => ({ ...before, make: "key" }) },
    },
  ];
}
