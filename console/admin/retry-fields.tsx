/** The fields for how often a request is tried, which most upstreams and models need not have. */
import type { FormEvent, ReactNode } from "react";
import type { RetriesSpec } from "../../gen/console/settings_object.js";
import { retryWords as say } from "../copy/en-objects.ts";
import { Field } from "../parts/field.tsx";
import { LateDetails } from "../parts/late-details.tsx";

/** An empty text leaves the default, or what wider settings say. */
export type TypedRetries = Readonly<Record<keyof RetriesSpec, string>>;

const TIMES = ["backoff", "backoffMax", "coolDownMax"] as const;
const TIME = "[0-9]{1,7}(ms|s|m)";

export function typedRetries(said: RetriesSpec | undefined): TypedRetries {
  const { attempts = 0, ...times } = said ?? {};
  return { backoff: "", backoffMax: "", coolDownMax: "", ...times, attempts: attempts === 0 ? "" : String(attempts) };
}

/** Undefined where nothing is said. */
export function retriesSpec({ attempts, ...times }: TypedRetries): RetriesSpec | undefined {
  const isUnsaid = attempts === "" && TIMES.every((time) => times[time] === "");
  return isUnsaid ? undefined : { ...times, attempts: Number(attempts) };
}

export interface RetryFieldsParts {
  readonly typed: TypedRetries;
  readonly onType: (typed: TypedRetries) => void;
}

export function RetryFields({ typed, onType }: RetryFieldsParts): ReactNode {
  const take = ({ currentTarget: { name, value } }: FormEvent<HTMLInputElement>): void =>
    onType({ ...typed, [name]: value.trim() });
  return (
    <LateDetails className="more" summary={say.title}>
      {() => (
        <div className="pairs">
          <Field
            label={say.attempts}
            hint={say.attemptsRule}
            name="attempts"
            pattern="[1-9]|10"
            value={typed.attempts}
            onChange={take}
          />
          {TIMES.map((time) => (
            <Field
              key={time}
              label={say.times[time]}
              hint={say.rules[time]}
              name={time}
              pattern={TIME}
              value={typed[time]}
              onChange={take}
            />
          ))}
        </div>
      )}
    </LateDetails>
  );
}
