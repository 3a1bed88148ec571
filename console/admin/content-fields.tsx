/** The fields for what is kept of an account's requests, by which rules and bounds. */
import type { ReactNode } from "react";
import { contentWords } from "../copy/en-content.ts";
import { Check, Field, TextField } from "../parts/field.tsx";
import { type TypedContent, wrongSize } from "./content-form.ts";

export interface ContentFieldsParts {
  /** What the first field turns on. */
  readonly label: string;
  readonly typed: TypedContent;
  readonly autoFocus?: boolean;
  readonly onType: (typed: TypedContent) => void;
}

export function ContentFields({ label: kept, typed, autoFocus = false, onType }: ContentFieldsParts): ReactNode {
  const size = (name: "eachKib" | "allMib", label: string, hint: string): ReactNode => (
    <Field
      label={label}
      hint={hint}
      wrong={wrongSize(typed[name])}
      inputMode="numeric"
      value={typed[name]}
      onChange={({ currentTarget: { value } }) => onType({ ...typed, [name]: value })}
    />
  );
  return (
    <>
      <Check
        label={kept}
        checked={typed.kept}
        autoFocus={autoFocus}
        onChange={({ currentTarget: { checked } }) => onType({ ...typed, kept: checked })}
      />
      <TextField
        label={contentWords.rules}
        hint={contentWords.rulesHint}
        rows={3}
        value={typed.rules}
        onChange={({ currentTarget: { value } }) => onType({ ...typed, rules: value })}
      />
      {size("eachKib", contentWords.eachBytes, contentWords.eachHint)}
      {size("allMib", contentWords.allBytes, contentWords.allHint)}
    </>
  );
}
