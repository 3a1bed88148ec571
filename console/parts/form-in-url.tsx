/** A button and the form that it opens. The URL says that it is open, so that a link can open it. */
import { useNavigate, useSearch } from "@tanstack/react-router";
import type { ReactNode } from "react";

export interface FormInUrlParts {
  /** The parameter of the URL, and its value while the form is open. */
  readonly name?: "form" | "make";
  readonly value: string;
  readonly label: string;
  readonly children: (close: () => void) => ReactNode;
}

export function FormInUrl({ name = "form", value, label, children }: FormInUrlParts): ReactNode {
  const search: Readonly<Record<string, unknown>> = useSearch({ strict: false });
  const navigate = useNavigate();
  const open = (isOpen: boolean): void =>
    void navigate({
      to: ".",
      search: (before: object) => ({ ...before, [name]: isOpen ? value : undefined }),
      replace: !isOpen,
      // The form lies over the page, which stays where it is, so that the button still shows its focus afterwards.
      resetScroll: false,
    });
  return (
    <>
      <button className="button main" type="button" onClick={() => open(true)}>
        {label}
      </button>
      {search[name] === value && children(() => open(false))}
    </>
  );
}
