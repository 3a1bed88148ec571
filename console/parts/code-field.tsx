/** The digits of a second factor, which are asked for only of who has one. */
import type { ReactNode } from "react";
import { words } from "../copy/en.ts";
import { Field } from "./field.tsx";

export function CodeField({ autoFocus = true }: { readonly autoFocus?: boolean }): ReactNode {
  return (
    <Field
      label={words.signIn.code}
      hint={words.signIn.codeRule}
      name="code"
      inputMode="numeric"
      autoComplete="one-time-code"
      autoFocus={autoFocus}
      required
    />
  );
}
