/** What a new gateway still needs, for its operator: each step leads to its form, and is done once it holds. */
import { useQuery } from "@tanstack/react-query";
import { Link, type LinkProps } from "@tanstack/react-router";
import { type ReactNode, useEffect, useState } from "react";
import { getFirstSteps, type GetFirstStepsResponse } from "../../gen/console/settings_service.js";
import { ask } from "../api/queries.ts";
import { stepWords as say } from "../copy/en-first-steps.ts";

/** Kept in the browser once all steps were done, or the person wants to see them no more. */
const OVER = "tollgate-first-steps-over";

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
  const { data } = useQuery(ask(getFirstSteps, {}));
  const steps = data === undefined ? [] : stepsOf(data);
  const isDone = steps.length > 0 && steps.every((step) => step.isDone);
  useEffect(() => {
    if (isDone) onEnd();
  }, [isDone, onEnd]);
  if (steps.length === 0 || isDone) return null;
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

function stepsOf(done: GetFirstStepsResponse): readonly Step[] {
  const form =
    (name: "account" | "model" | "upstream"): ((before: object) => object) =>
    (before) => ({ ...before, form: name });
  return [
    { name: "upstream", isDone: done.upstream, link: { to: "/admin/upstreams", search: form("upstream") } },
    { name: "tested", isDone: done.tested, link: { to: "/admin/upstreams" } },
    { name: "models", isDone: done.models, link: { to: "/admin/models", search: form("model") } },
    { name: "account", isDone: done.account, link: { to: "/admin/accounts", search: form("account") } },
    { name: "member", isDone: done.member, link: { to: "/members" } },
    { name: "key", isDone: done.key, link: { to: "/keys", search: (before) => ({ ...before, make: "key" }) } },
  ];
}
