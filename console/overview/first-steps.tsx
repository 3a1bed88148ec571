/** What a new gateway still needs, for its operator: each step leads to its form, and is done once it holds. */
import { useQuery } from "@tanstack/react-query";
import { Link, type LinkProps } from "@tanstack/react-router";
import { type ReactNode, useEffect, useState } from "react";
import { getFirstSteps, type GetFirstStepsResponse } from "../../gen/console/settings_service.js";
import { ask, cache, forget } from "../api/queries.ts";
import { stepWords as say } from "../copy/en-first-steps.ts";
import { areOver, end, follow } from "./following.ts";

/** An answer of the playground is no change that this tab hears of, and what an upstream lists comes after its save. */
const AGAIN_MS = 3_000;

interface Step {
  readonly name: keyof typeof say.steps;
  readonly isDone: boolean;
  readonly link: Pick<LinkProps, "to" | "search">;
}

/** The list, on the overview. */
export function FirstSteps(): ReactNode {
  const { isOver, hide } = useOver();
  return isOver ? null : <List onHide={hide} />;
}

/** The next step, on every page without the list, while the operator follows it. */
export function NextStep(): ReactNode {
  const { isOver, hide } = useOver();
  return isOver ? null : <Next onHide={hide} />;
}

function useOver(): { readonly isOver: boolean; readonly hide: () => void } {
  const [isOver, setOver] = useState(areOver);
  const hide = (): void => {
    end();
    setOver(true);
  };
  return { isOver, hide };
}

interface StepsParts {
  readonly onHide: () => void;
}

function List({ onHide }: StepsParts): ReactNode {
  const { data } = useQuery(ask(getFirstSteps, {}));
  const steps = data === undefined ? [] : stepsOf(data);
  const isDone = steps.length > 0 && steps.every((step) => step.isDone);
  useEffect(() => {
    if (isDone) onHide();
  }, [isDone, onHide]);
  if (steps.length === 0 || isDone) return null;
  return (
    <section className="card stack" aria-label={say.title}>
      <div className="card-head">
        <h2>{say.title}</h2>
        <HideButton onHide={onHide} />
      </div>
      <p className="soft">{say.about}</p>
      <ol className="stack steps">
        {steps.map(({ name, isDone, link }) => (
          <li key={name}>
            <span className={isDone ? "tag good" : "tag"}>{isDone ? say.done : say.open}</span>
            <span>
              {isDone ? (
                say.steps[name].name
              ) : (
                <Link {...link} onClick={follow}>
                  {say.steps[name].name}
                </Link>
              )}
              {!isDone && <small className="soft"> {say.steps[name].about}</small>}
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}

function Next({ onHide }: StepsParts): ReactNode {
  const { data } = useQuery({ ...ask(getFirstSteps, {}), refetchInterval: AGAIN_MS });
  useEffect(
    () =>
      cache.getMutationCache().subscribe(({ type, mutation }) => {
        if (type === "updated" && mutation.state.status === "success") void forget(getFirstSteps);
      }),
    [],
  );
  const steps = data === undefined ? [] : stepsOf(data);
  const next = steps.find(({ isDone }) => !isDone);
  const isDone = steps.length > 0 && next === undefined;
  useEffect(() => {
    if (isDone) end();
  }, [isDone]);
  if (steps.length === 0) return null;
  return (
    <section className="notice row spread" aria-label={say.title}>
      {next === undefined ? (
        <span role="status">{say.allDone}</span>
      ) : (
        <span>
          {say.progress(steps.filter((step) => step.isDone).length, steps.length)}{" "}
          <Link {...next.link}>{say.steps[next.name].name}</Link>
        </span>
      )}
      <HideButton onHide={onHide} />
    </section>
  );
}

function HideButton({ onHide }: StepsParts): ReactNode {
  return (
    <button className="button small" type="button" onClick={onHide}>
      {say.end}
    </button>
  );
}

function stepsOf(done: GetFirstStepsResponse): readonly Step[] {
  const form =
    (name: "account" | "member" | "model" | "upstream"): ((before: object) => object) =>
    (before) => ({ ...before, form: name });
  return [
    { name: "upstream", isDone: done.upstream, link: { to: "/admin/upstreams", search: form("upstream") } },
    { name: "models", isDone: done.models, link: { to: "/admin/models", search: form("model") } },
    { name: "account", isDone: done.account, link: { to: "/admin/accounts", search: form("account") } },
    { name: "member", isDone: done.member, link: { to: "/members", search: form("member") } },
    { name: "key", isDone: done.key, link: { to: "/keys", search: (before) => ({ ...before, make: "key" }) } },
    { name: "tested", isDone: done.tested, link: { to: "/playground" } },
  ];
}
