/** A button whose menu is loaded when it is opened first: what draws menus is not needed for the first page. */
import { type ReactNode, type RefObject, Suspense, useRef, useState } from "react";

export interface LateMenuParts {
  readonly className: string;
  /** What stands on the button, and names it. */
  readonly face: ReactNode;
  /** The menu, lazily loaded, beside its button. */
  readonly menu: (parts: OpenMenuParts) => ReactNode;
}

export interface OpenMenuParts {
  readonly button: RefObject<HTMLButtonElement | null>;
  readonly onClose: () => void;
}

export function LateMenu({ className, face, menu }: LateMenuParts): ReactNode {
  const button = useRef<HTMLButtonElement>(null);
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button
        ref={button}
        className={className}
        type="button"
        aria-haspopup="menu"
        aria-expanded={isOpen}
        onClick={() => setOpen(true)}
      >
        {face}
      </button>
      {isOpen && <Suspense>{menu({ button, onClose: () => setOpen(false) })}</Suspense>}
    </>
  );
}
