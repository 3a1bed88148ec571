/** The field for the password that a person has here, as password managers know it. */
import type { ReactNode } from "react";
import { words } from "../copy/en.ts";
import { Field } from "./field.tsx";

export function PasswordField({ autoFocus = false }: { readonly autoFocus?: boolean }): ReactNode {
  return (
    <Field
      label={words.signIn.password}
      name="password"
      type="password"
      autoComplete="current-password"
      autoFocus={autoFocus}
      required
    />
  );
}
