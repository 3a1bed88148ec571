/** By what the page of usage groups, and what its chart shows. */
import { useNavigate, useSearch } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { usageWords } from "../copy/en-usage.ts";
import { Choice } from "../parts/field.tsx";
import { USAGE_GROUPS, type UsageGroup } from "../states.ts";

export function Grouping(): ReactNode {
  const { by = "model", and, show } = useSearch({ from: "/usage" });
  const navigate = useNavigate({ from: "/usage" });
  const groupIn = (value: string): UsageGroup | undefined => USAGE_GROUPS.find((group) => group === value);
  return (
    <div className="row filters">
      <Choice
        label={usageWords.by}
        value={by}
        onChange={({ currentTarget: { value } }) =>
          void navigate({ search: (before) => ({ ...before, by: groupIn(value) }), replace: true })
        }
      >
        {USAGE_GROUPS.map((group) => (
          <option key={group} value={group}>
            {usageWords.groups[group]}
          </option>
        ))}
      </Choice>
      <Choice
        label={usageWords.also}
        value={and ?? ""}
        onChange={({ currentTarget: { value } }) =>
          void navigate({ search: (before) => ({ ...before, and: groupIn(value) }), replace: true })
        }
      >
        <option value="">{usageWords.nothing}</option>
        {USAGE_GROUPS.filter((group) => group !== by).map((group) => (
          <option key={group} value={group}>
            {usageWords.groups[group]}
          </option>
        ))}
      </Choice>
      <Choice
        label={usageWords.show}
        value={show ?? "spend"}
        onChange={({ currentTarget: { value } }) => {
          const wanted = (["tokens", "requests"] as const).find((one) => one === value);
          void navigate({ search: (before) => ({ ...before, show: wanted }), replace: true });
        }}
      >
        {(["spend", "tokens", "requests"] as const).map((one) => (
          <option key={one} value={one}>
            {usageWords.measures[one]}
          </option>
        ))}
      </Choice>
    </div>
  );
}
