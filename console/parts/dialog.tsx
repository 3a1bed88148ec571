/** A dialog over the page. It takes the focus, gives it back, and closes by Escape. */
import { lazy, type ReactNode, Suspense, useState } from "react";
import { late } from "./late.ts";
import type { DialogBox } from "./dialog-box.tsx";

export interface DialogParts {
  readonly title: string;
  /** Undefined while nobody may close it. */
  readonly onClose: (() => void) | undefined;
  /** True where a click beside it must not lose what is in it. */
  readonly isFirm?: boolean;
  readonly children: ReactNode;
}

/** A page that has dialogs stands first; then their box is loaded, so that one that opens is there at once. */
const LOAD_AFTER_MS = 200;
let loaded: typeof DialogBox | undefined;

const load = late(async () => {
  loaded = (await import("./dialog-box.tsx")).DialogBox;
  return { default: loaded };
});

const LateBox = lazy(load);
// Where that fails the dialog tries again when it opens.
setTimeout(() => void load().catch(() => undefined), LOAD_AFTER_MS);

export function Dialog(parts: DialogParts): ReactNode {
  // One and the same as long as it is open: another one would lose what was typed.
  const [Box] = useState(() => loaded ?? LateBox);
  return (
    <Suspense>
      <Box {...parts} />
    </Suspense>
  );
}
