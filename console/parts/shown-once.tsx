/** A dialog with something that is shown this once, such as a link or a secret. */
import type { ReactNode } from "react";
import { Code } from "./code.tsx";
import { Dialog } from "./dialog.tsx";

export interface ShownOnceParts {
  readonly title: string;
  readonly about: string;
  readonly text: string;
  readonly what: string;
  readonly done: string;
  readonly onClose: () => void;
}

export function ShownOnce({ title, about, text, what, done, onClose }: ShownOnceParts): ReactNode {
  return (
    <Dialog title={title} onClose={onClose} isFirm>
      <p>{about}</p>
      <Code text={text} what={what} />
      <div className="foot">
        <button className="button main" type="button" onClick={onClose}>
          {done}
        </button>
      </div>
    </Dialog>
  );
}
