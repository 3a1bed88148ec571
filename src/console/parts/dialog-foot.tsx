/** The two ways out of a dialog: not to do it, and to do it. */
import type { ReactNode } from "react";
import { words } from "../copy/en.ts";

export interface DialogFootParts {
  readonly onCancel: () => void;
  /** True where it cannot be done yet, or is being done. */
  readonly disabled: boolean;
  /** True where it cannot be undone. */
  readonly danger?: boolean;
  /** Does it. Absent: the form that this stands in does. */
  readonly onGo?: () => void;
  /** What is done, in a word or two. */
  readonly children: ReactNode;
}

export function DialogFoot({ onCancel, disabled, danger = false, onGo, children }: DialogFootParts): ReactNode {
  return (
    <div className="foot">
      <button className="button" type="button" onClick={onCancel}>
        {words.form.cancel}
      </button>
      <button
        className={danger ? "button danger" : "button main"}
        type={onGo === undefined ? "submit" : "button"}
        // Not `disabled`: that would take the focus out of the dialog, and with it Escape, while something is done.
        aria-disabled={disabled}
        onClick={disabled ? (event) => event.preventDefault() : onGo}
      >
        {children}
      </button>
    </div>
  );
}
