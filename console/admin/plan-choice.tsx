/** The choice of a plan, or of none. */
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { listObjects } from "../../gen/console/settings_service.js";
import { ask } from "../api/queries.ts";
import { planWords as say } from "../copy/en-plans.ts";
import { Choice } from "../parts/field.tsx";

export interface PlanChoiceParts {
  /** Empty: none. */
  readonly value: string;
  readonly hint?: string;
  readonly onChoose: (name: string) => void;
}

/** A plan that is gone stays a choice where it is the present one. */
export function PlanChoice({ value, hint, onChoose }: PlanChoiceParts): ReactNode {
  const objects = useQuery(ask(listObjects, { kind: "plan" })).data?.objects ?? [];
  const names = [...new Set([...objects.map(({ name }) => name), ...(value === "" ? [] : [value])])].sort();
  return (
    <Choice
      label={say.choose}
      hint={hint}
      value={value}
      onChange={({ currentTarget }) => onChoose(currentTarget.value)}
    >
      <option value="">{say.noPlan}</option>
      {names.map((name) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </Choice>
  );
}
