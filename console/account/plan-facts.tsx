/** What the plan of an account says. */
import type { ReactNode } from "react";
import type { AccountPlan } from "../../gen/console/account_service.js";
import { planWords as say } from "../copy/en-plans.ts";
import { limitWords } from "../keys/limit-words.ts";
import { type Fact, FactList } from "../parts/fact-list.tsx";
import { useSignedIn } from "../shell/session.ts";

export interface PlanFactsParts {
  readonly plan: AccountPlan | undefined;
  /** What an operator does with it. */
  readonly children?: ReactNode;
}

export function PlanFacts({ plan, children }: PlanFactsParts): ReactNode {
  const { isOverAll } = useSignedIn();
  const { name = "", gone = false } = plan ?? {};
  return (
    <section className="card stack">
      <div className="card-head">
        <h2>{say.title}</h2>
        <span className="row">
          {name !== "" && <span className={gone ? "tag warn" : "tag"}>{gone ? say.gone(name) : name}</span>}
          {children}
        </span>
      </div>
      {name === "" && <p>{isOverAll ? say.noneForOperators : say.none}</p>}
      {gone && <p>{say.goneAbout}</p>}
      {plan !== undefined && name !== "" && !gone && <Values plan={plan} />}
    </section>
  );
}

function Values({ plan }: { readonly plan: AccountPlan }): ReactNode {
  const { account, members, keys, keysExpireAfterDays: days, contentAllowed } = plan;
  const models = (account?.modelLimits ?? []).map(({ model, ...limits }) => `${model}: ${inWords(limits)}`);
  const expiry = days === 0 ? [] : [say.expires(days)];
  const facts: readonly Fact[] = [
    [say.account, listed([...limitWords(account), ...models])],
    [say.members, listed(limitWords(members))],
    [say.keys, listed([...limitWords(keys), ...expiry])],
    [say.content, contentAllowed ? say.contentAllowed : say.contentRefused],
  ];
  return (
    <>
      <p className="soft">{say.about}</p>
      <FactList facts={facts} two />
    </>
  );
}

function inWords(limits: Parameters<typeof limitWords>[0]): string {
  return listed(limitWords(limits));
}

function listed(parts: readonly string[]): string {
  return parts.length === 0 ? say.nothing : parts.join(", ");
}
