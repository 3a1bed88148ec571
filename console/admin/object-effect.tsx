/** What changes of models would do: what is wrong with them, which prices change, and which model is not served. */
import type { ReactNode } from "react";
import type { CheckObjectsResponse, ModelEffect } from "../../gen/console/settings_service.js";
import { objectWords as say } from "../copy/en-objects.ts";
import { priceInShort } from "./list-price.tsx";

export function ObjectEffect({ of }: { readonly of: CheckObjectsResponse }): ReactNode {
  if (of.problems.length > 0)
    return (
      <ul className="notice bad">
        {of.problems.map(({ field, problem }) => (
          <li key={`${field} ${problem}`}>
            {field} {problem}
          </li>
        ))}
      </ul>
    );
  const unserved = of.models.filter(({ problem }) => problem !== "");
  const told = new Set(of.effects.flatMap(({ losses }) => losses));
  // A target may cost more than a price that stays as it is.
  const losses = of.models.flatMap((model) => model.losses).filter((loss) => !told.has(loss));
  return (
    <div className={unserved.length + losses.length > 0 ? "notice warn stack" : "notice stack"}>
      <strong>{say.effect}</strong>
      {unserved.map(({ id, problem }) => (
        <span key={id}>{say.unserved(problem)}</span>
      ))}
      {of.effects.length === 0 && unserved.length === 0 && say.effectNone}
      {of.effects.map((effect) => (
        <Effect key={effect.id} effect={effect} />
      ))}
      <Losses of={losses} />
    </div>
  );
}

function Effect({ effect: { id, before, after, source, losses } }: { readonly effect: ModelEffect }): ReactNode {
  if (after === undefined) return <span>{say.effectGone(id)}</span>;
  return (
    <span className="stack">
      {before === undefined
        ? say.effectNew(id, priceInShort(after), source)
        : say.effectOf(id, priceInShort(before), priceInShort(after))}
      <Losses of={losses} />
    </span>
  );
}

function Losses({ of: losses }: { readonly of: readonly string[] }): ReactNode {
  return losses.map((loss) => (
    <small className="wrong" key={loss}>
      {loss}
    </small>
  ));
}
