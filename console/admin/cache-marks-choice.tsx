/** Whether the gateway marks prompts without marks for Claude's caches, and for how long. */
import type { ReactNode } from "react";
import type { ModelSpec } from "../../gen/console/settings_object.js";
import { cacheMarksWords as say } from "../copy/en-objects.ts";
import { Choice } from "../parts/field.tsx";

type CacheMarksSpec = Pick<ModelSpec, "cacheMarks" | "cacheMarksTtl">;

/** What is chosen: `off`, or how long the marks hold. */
export type TypedCacheMarks = "off" | "5m" | "1h";
const CHOICES: readonly TypedCacheMarks[] = ["off", "5m", "1h"];

export function typedCacheMarks(model: CacheMarksSpec | undefined): TypedCacheMarks {
  if (model?.cacheMarks !== "auto") return "off";
  return model.cacheMarksTtl === "1h" ? "1h" : "5m";
}

/** Empty texts where nothing is marked. */
export function cacheMarksSpec(typed: TypedCacheMarks): CacheMarksSpec {
  return typed === "off" ? { cacheMarks: "", cacheMarksTtl: "" } : { cacheMarks: "auto", cacheMarksTtl: typed };
}

export interface CacheMarksChoiceParts {
  readonly value: TypedCacheMarks;
  readonly onChoose: (value: TypedCacheMarks) => void;
}

export function CacheMarksChoice({ value, onChoose }: CacheMarksChoiceParts): ReactNode {
  return (
    <Choice
      label={say.title}
      hint={say.about}
      name="cacheMarks"
      value={value}
      onChange={({ currentTarget }) => onChoose(CHOICES.find((one) => one === currentTarget.value) ?? "off")}
    >
      {CHOICES.map((one) => (
        <option key={one} value={one}>
          {say.choices[one]}
        </option>
      ))}
    </Choice>
  );
}
