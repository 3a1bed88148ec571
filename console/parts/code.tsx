/** A piece of code that is copied as it stands. */
import type { ReactNode } from "react";
import { CopyButton } from "./copy-button.tsx";

export interface CodeParts {
  readonly text: string;
  /** What the code is called. Names of regions are unique on a page; those of groups need not be. */
  readonly what: string;
  readonly role?: "region" | "group";
}

export function Code({ text, what, role = "region" }: CodeParts): ReactNode {
  return (
    <div className="code-box">
      <pre className="code" tabIndex={0} role={role} aria-label={what}>
        <code>{text}</code>
      </pre>
      <CopyButton text={text} what={what} />
    </div>
  );
}
