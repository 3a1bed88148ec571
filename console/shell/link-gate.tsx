/** The frame of a page that a link with a token leads to, before anybody is signed in. */
import type { ReactNode } from "react";
import { words } from "../copy/en.ts";
import { Field } from "../parts/field.tsx";
import { Brand } from "./brand.tsx";

export interface LinkGateParts {
  readonly title: string;
  readonly about: string;
  readonly hasToken: boolean;
  /** What is said instead where the link is not whole. */
  readonly needsLink: string;
  readonly children: ReactNode;
}

export function LinkGate({ title, about, hasToken, needsLink, children }: LinkGateParts): ReactNode {
  return (
    <main className="gate">
      <div className="gate-card">
        <Brand />
        <div className="stack">
          <h1>{title}</h1>
          <p className="soft">{about}</p>
        </div>
        {hasToken ? children : <p className="notice warn">{needsLink}</p>}
      </div>
    </main>
  );
}

export function PasswordField(): ReactNode {
  return (
    <Field
      label={words.signIn.password}
      name="password"
      type="password"
      autoComplete="new-password"
      hint={words.welcome.passwordRule}
      minLength={10}
      maxLength={256}
      required
    />
  );
}

/** What was typed into the fields of a form. */
export function textsOf<Name extends string>(form: HTMLFormElement, names: readonly Name[]): Record<Name, string> {
  const data = new FormData(form);
  const texts = names.map((name) => [name, String(data.get(name) ?? "")]);
  // The edge: each name has its text.
  return Object.fromEntries(texts) as Record<Name, string>;
}
