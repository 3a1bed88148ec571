/** The fields for models that answer in place of another one, which most models need not have. */
import type { FormEvent, ReactNode } from "react";
import type { ModelSpec } from "../../gen/console/settings_object.js";
import { fallbackWords as say } from "../copy/en-objects.ts";
import { Field } from "../parts/field.tsx";
import { LateDetails } from "../parts/late-details.tsx";

export interface TypedFallbacks {
  /** Names of models, with commas between them. */
  readonly fallbacks: string;
  readonly onContext: string;
}

type FallbackSpec = Pick<ModelSpec, "fallbacks" | "onContext">;

export function typedFallbacks({ fallbacks = [], onContext = "" }: Partial<FallbackSpec> = {}): TypedFallbacks {
  return { fallbacks: fallbacks.join(", "), onContext };
}

export function fallbackSpec({ fallbacks, onContext }: TypedFallbacks): FallbackSpec {
  const names = fallbacks.split(",").map((name) => name.trim());
  return { fallbacks: names.filter((name) => name !== ""), onContext: onContext.trim() };
}

export interface FallbackFieldsParts {
  readonly typed: TypedFallbacks;
  readonly onType: (change: Partial<TypedFallbacks>) => void;
}

export function FallbackFields({ typed, onType }: FallbackFieldsParts): ReactNode {
  const take = ({ currentTarget: { name, value } }: FormEvent<HTMLInputElement>): void => onType({ [name]: value });
  return (
    <LateDetails className="more" summary={say.title}>
      {() => (
        <div className="stack">
          <Field
            label={say.fallbacks}
            hint={say.fallbacksRule}
            name="fallbacks"
            value={typed.fallbacks}
            onChange={take}
          />
          <Field
            label={say.onContext}
            hint={say.onContextRule}
            name="onContext"
            value={typed.onContext}
            onChange={take}
          />
        </div>
      )}
    </LateDetails>
  );
}
