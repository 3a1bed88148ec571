/** By what the page of usage groups, and what its chart shows. */
import { useNavigate, useSearch } from "@tanstack/react-router";
import { type FormEvent, type ReactNode, useState } from "react";
import { usageWords } from "../copy/en-usage.ts";
import { Choice, Field } from "../parts/field.tsx";
import { USAGE_GROUPS, type UsageGroup } from "../states.ts";
import { MEASURE_NAMES } from "./measures.ts";

export function Grouping(): ReactNode {
  const { by = "model", and, show, tag, compare } = useSearch({ from: "/usage" });
  const navigate = useNavigate({ from: "/usage" });
  const groupIn = (value: string): UsageGroup | undefined => USAGE_GROUPS.find((group) => group === value);
  const change = (wanted: { readonly tag?: string | undefined; readonly compare?: "before" | undefined }): void =>
    void navigate({ search: (before) => ({ ...before, ...wanted }), replace: true });
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
          const wanted = MEASURE_NAMES.find((one) => one === value);
          void navigate({ search: (before) => ({ ...before, show: wanted }), replace: true });
        }}
      >
        {MEASURE_NAMES.map((one) => (
          <option key={one} value={one}>
            {usageWords.measures[one]}
          </option>
        ))}
      </Choice>
      {[by, and].includes("tag_value") && (
        <TagName key={tag} name={tag ?? ""} onName={(name) => change({ tag: name || undefined })} />
      )}
      <button
        className="button"
        type="button"
        aria-pressed={compare !== undefined}
        onClick={() => change({ compare: compare === undefined ? "before" : undefined })}
      >
        {usageWords.compare}
      </button>
    </div>
  );
}

interface TagNameParts {
  readonly name: string;
  readonly onName: (name: string) => void;
}

/** The tag whose values are summed up; it holds once the field is left or sent. */
function TagName({ name, onName }: TagNameParts): ReactNode {
  const [typed, setTyped] = useState(name);
  const send = (event: FormEvent): void => {
    event.preventDefault();
    onName(typed.trim());
  };
  return (
    <form onSubmit={send} onBlur={() => onName(typed.trim())}>
      <Field
        label={usageWords.tagName}
        placeholder="team"
        maxLength={128}
        value={typed}
        onChange={({ currentTarget: { value } }) => setTyped(value)}
      />
    </form>
  );
}
