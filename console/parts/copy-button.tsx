/** Copies a text, and says that it did. */
import { type ReactNode, useState } from "react";
import { words } from "../copy/en.ts";

const SHOWN_MS = 1_500;

export function CopyButton({ text, what }: { readonly text: string; readonly what: string }): ReactNode {
  const [state, setState] = useState<"ready" | "copied" | "failed">("ready");
  const copy = async (): Promise<void> => {
    const done = await navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    );
    setState(done ? "copied" : "failed");
    setTimeout(() => setState("ready"), SHOWN_MS);
  };
  return (
    <button
      className="button small"
      type="button"
      onClick={() => void copy()}
      aria-label={state === "ready" ? words.copy.label(what) : undefined}
    >
      <span aria-live="polite">{words.copy[state]}</span>
    </button>
  );
}
