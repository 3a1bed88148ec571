/** The fields for how long an answer may take, which most upstreams and models need not have. */
import type { FormEvent, ReactNode } from "react";
import type { UpstreamTimeoutsSpec } from "../../gen/console/settings_object.js";
import { timeoutWords as say } from "../copy/en-objects.ts";
import { Choice, Field } from "../parts/field.tsx";
import { LateDetails } from "../parts/late-details.tsx";

/** An empty text leaves the default, or what wider settings say. */
export type TypedTimeouts = Readonly<Record<keyof UpstreamTimeoutsSpec, string>>;

const TIMES = ["firstOutput", "idle", "total"] as const;
const TIME = "[0-9]{1,7}(ms|s|m|h)";

export function typedTimeouts(said: Partial<TypedTimeouts> | undefined): TypedTimeouts {
  return { profile: "", connect: "", firstOutput: "", idle: "", total: "", ...said };
}

/** Undefined where nothing is said. */
export function timeoutsSpec<Spec extends Partial<TypedTimeouts>>(typed: Spec): Spec | undefined {
  return Object.values(typed).every((text) => text === "") ? undefined : typed;
}

export interface TimeoutFieldsParts {
  readonly typed: TypedTimeouts;
  /** True of an upstream, whose connections its models share. */
  readonly connects: boolean;
  readonly onType: (change: Partial<TypedTimeouts>) => void;
}

export function TimeoutFields({ typed, connects, onType }: TimeoutFieldsParts): ReactNode {
  const take = ({ currentTarget: { name, value } }: FormEvent<HTMLInputElement | HTMLSelectElement>): void =>
    onType({ [name]: value.trim() });
  return (
    <LateDetails className="more" summary={say.title}>
      {() => (
        <div className="stack">
          <p className="soft">{connects ? say.ofUpstream : say.ofModel}</p>
          <Choice label={say.profile} name="profile" value={typed.profile} onChange={take}>
            <option value="">{say.none}</option>
            {Object.entries(say.profiles).map(([profile, words]) => (
              <option key={profile} value={profile}>
                {words}
              </option>
            ))}
          </Choice>
          <div className="pairs">
            {[...(connects ? (["connect"] as const) : []), ...TIMES].map((time) => (
              <Field
                key={time}
                label={say.times[time]}
                hint={say.rule}
                name={time}
                pattern={TIME}
                value={typed[time]}
                onChange={take}
              />
            ))}
          </div>
        </div>
      )}
    </LateDetails>
  );
}
