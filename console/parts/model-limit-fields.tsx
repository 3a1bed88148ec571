/** The fields for an account's limits of some models, and what was typed into them. */
import type { ReactNode } from "react";
import type { ModelLimits } from "../../gen/console/account_service.js";
import { planWords as say } from "../copy/en-plans.ts";
import { parseWhole, wrongWhole } from "../typed.ts";
import { Field } from "./field.tsx";
import { LIMIT_NAMES } from "./limit-fields.tsx";
import { COUNTS } from "./limit-form.ts";

export type TypedModelLimits = Readonly<Record<"model" | (typeof COUNTS)[number], string>>;

const FRESH: TypedModelLimits = { model: "", requestsPerMinute: "", tokensPerMinute: "", concurrency: "" };

export interface ModelLimitFieldsParts {
  readonly typed: readonly TypedModelLimits[];
  readonly onType: (typed: readonly TypedModelLimits[]) => void;
}

export function ModelLimitFields({ typed, onType }: ModelLimitFieldsParts): ReactNode {
  const change = (place: number, part: Partial<TypedModelLimits>): void =>
    onType(typed.map((one, index) => (index === place ? { ...one, ...part } : one)));
  return (
    <fieldset className="stack">
      <legend>{say.modelLimits}</legend>
      <small className="soft">{say.modelLimitsRule}</small>
      {typed.map((one, place) => (
        <div className="pairs" key={place}>
          <Field
            label={say.model}
            value={one.model}
            maxLength={256}
            required
            onChange={({ currentTarget: { value } }) => change(place, { model: value })}
          />
          {COUNTS.map((name) => (
            <Field
              key={name}
              label={LIMIT_NAMES[name]}
              inputMode="numeric"
              value={one[name]}
              wrong={wrongWhole(one[name])}
              onChange={({ currentTarget: { value } }) => change(place, { [name]: value })}
            />
          ))}
          <span>
            <button
              className="button small"
              type="button"
              aria-label={say.removeModelLimit(one.model)}
              onClick={() => onType(typed.filter((_, index) => index !== place))}
            >
              ✕
            </button>
          </span>
        </div>
      ))}
      <span>
        <button className="button small" type="button" onClick={() => onType([...typed, FRESH])}>
          {say.addModelLimit}
        </button>
      </span>
    </fieldset>
  );
}

export function typedModelLimits(limits: readonly ModelLimits[]): readonly TypedModelLimits[] {
  const text = (value: bigint): string => (value === 0n ? "" : String(value));
  return limits.map(({ model, requestsPerMinute, tokensPerMinute, concurrency }) => ({
    model,
    requestsPerMinute: text(requestsPerMinute),
    tokensPerMinute: text(tokensPerMinute),
    concurrency: text(concurrency),
  }));
}

export function areRightModels(typed: readonly TypedModelLimits[]): boolean {
  return typed.every((one) => one.model.trim() !== "" && COUNTS.every((name) => wrongWhole(one[name]) === undefined));
}

/** Of what is right. */
export function modelLimitsOf(typed: readonly TypedModelLimits[]): readonly ModelLimits[] {
  const number = (text: string): bigint => parseWhole(text) ?? 0n;
  return typed.map(({ model, requestsPerMinute, tokensPerMinute, concurrency }) => ({
    model: model.trim(),
    requestsPerMinute: number(requestsPerMinute),
    tokensPerMinute: number(tokensPerMinute),
    concurrency: number(concurrency),
  }));
}
