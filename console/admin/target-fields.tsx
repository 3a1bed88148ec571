/** The fields of one target of a model: where requests go, its share, and what they cost the operator there. */
import type { FormEvent, ReactNode } from "react";
import { objectWords as say, targetWords } from "../copy/en-objects.ts";
import { Choice, Field } from "../parts/field.tsx";
import { LateDetails } from "../parts/late-details.tsx";
import { hasOnlyUnits, isRightCost, isRightWeight, type TypedTarget } from "./targets.ts";

const COST_KINDS = ["published", "own", "free"] as const;

export interface TargetFieldsParts {
  readonly target: TypedTarget;
  readonly upstreams: readonly string[];
  /** True where others have its level. */
  readonly isSharing: boolean;
  /** True where it was chosen just now, so that its first field gets the focus. */
  readonly isChosen: boolean;
  readonly onType: (change: Partial<TypedTarget>) => void;
}

export function TargetFields({ target, upstreams, isSharing, isChosen, onType }: TargetFieldsParts): ReactNode {
  const take = ({ currentTarget: { name, value } }: FormEvent<HTMLInputElement | HTMLSelectElement>): void =>
    onType({ [name]: value });
  // One that is gone, or that comes from elsewhere, stays chosen until another is.
  const named = target.upstream === "" || upstreams.includes(target.upstream);
  return (
    <>
      <Choice
        label={say.upstream}
        name="upstream"
        value={target.upstream}
        onChange={take}
        autoFocus={isChosen}
        required
      >
        {(named ? upstreams : [target.upstream, ...upstreams]).map((id) => (
          <option key={id} value={id}>
            {id}
          </option>
        ))}
      </Choice>
      <Field label={say.upstreamModel} hint={say.upstreamModelRule} name="model" value={target.model} onChange={take} />
      {isSharing && (
        <Field
          label={targetWords.weight}
          hint={targetWords.weightRule}
          wrong={isRightWeight(target.weight) ? undefined : targetWords.wrongWeight}
          name="weight"
          inputMode="decimal"
          value={target.weight}
          onChange={take}
        />
      )}
      <LateDetails className="more" summary={targetWords.cost}>
        {() => <CostFields target={target} onType={take} />}
      </LateDetails>
    </>
  );
}

interface CostFieldsParts {
  readonly target: TypedTarget;
  readonly onType: (event: FormEvent<HTMLInputElement | HTMLSelectElement>) => void;
}

function CostFields({ target, onType }: CostFieldsParts): ReactNode {
  const money = (name: "costInput" | "costOutput"): ReactNode => (
    <Field
      label={targetWords[name]}
      wrong={target[name] === "" || isRightCost(target[name]) ? undefined : say.wrongPrice}
      name={name}
      inputMode="decimal"
      value={target[name]}
      onChange={onType}
      required={!hasOnlyUnits(target.costBefore)}
    />
  );
  return (
    <div className="stack">
      <Choice label={targetWords.cost} name="cost" value={target.cost} onChange={onType}>
        {COST_KINDS.map((kind) => (
          <option key={kind} value={kind}>
            {targetWords.costs[kind]}
          </option>
        ))}
      </Choice>
      {target.cost === "own" && (
        <div className="pairs">
          {money("costInput")}
          {money("costOutput")}
        </div>
      )}
    </div>
  );
}
