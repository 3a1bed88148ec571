/** A button that keeps the focus where it cannot be pressed, as while what it does is under way. */
import type { MouseEvent, ReactNode } from "react";

export interface ActButtonParts {
  readonly className: string;
  readonly disabled: boolean;
  /** Absent: the form that this stands in does it. */
  readonly onAct?: (() => void) | undefined;
  readonly autoFocus?: boolean;
  readonly children: ReactNode;
}

export function ActButton({ className, disabled, onAct, autoFocus = false, children }: ActButtonParts): ReactNode {
  const act = (event: MouseEvent): void => {
    if (disabled) event.preventDefault();
    else onAct?.();
  };
  // Not `disabled`: that would take the focus out of a dialog, and with it Escape.
  return (
    <button
      className={className}
      type={onAct === undefined ? "submit" : "button"}
      aria-disabled={disabled}
      autoFocus={autoFocus}
      onClick={act}
    >
      {children}
    </button>
  );
}
