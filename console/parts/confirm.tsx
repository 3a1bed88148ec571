/** Does something after it said what that does. */
import type { ReactNode } from "react";
import { useAct } from "../api/use-act.ts";
import { Dialog } from "./dialog.tsx";
import { DialogFoot } from "./dialog-foot.tsx";
import { Problem } from "./problem.tsx";

export interface ConfirmParts {
  readonly title: string;
  /** What it will do. */
  readonly children: ReactNode;
  /** True where it cannot be done, as `children` says. */
  readonly isBlocked?: boolean;
  /** What stands on its button. */
  readonly go: string;
  /** What is said where it failed. */
  readonly failed: string;
  readonly act: () => Promise<unknown>;
  readonly onClose: () => void;
}

export function Confirm({ title, children, isBlocked = false, go, failed, act, onClose }: ConfirmParts): ReactNode {
  const doing = useAct(act, onClose);
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      {doing.error !== null && <Problem error={doing.error} what={failed} />}
      <DialogFoot onCancel={onClose} disabled={isBlocked || doing.isPending} danger onGo={() => doing.run()}>
        {go}
      </DialogFoot>
    </Dialog>
  );
}
