/** The two ways out of a dialog: not to do it, and to do it. */
import type { ReactNode } from "react";
import { words } from "../copy/en.ts";
import { ActButton } from "./act-button.tsx";

export interface DialogFootParts {
  /** Undefined while nobody may close it. */
  readonly onCancel: (() => void) | undefined;
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
      <ActButton className="button" disabled={onCancel === undefined} onAct={() => onCancel?.()}>
        {words.form.cancel}
      </ActButton>
      <ActButton className={danger ? "button danger" : "button main"} disabled={disabled} onAct={onGo}>
        {children}
      </ActButton>
    </div>
  );
}
