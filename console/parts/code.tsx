/** A piece of code that is copied as it stands. */
import type { ReactNode } from "react";
import { CopyButton } from "./copy-button.tsx";

export function Code({ text, what }: { readonly text: string; readonly what: string }): ReactNode {
  return (
    <div className="code-box">
      <pre className="code" tabIndex={0} role="region" aria-label={what}>
        <code>{text}</code>
      </pre>
      <CopyButton text={text} what={what} />
    </div>
  );
}
