/** Does something after it said what that does. */
import { useMutation } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Dialog } from "./dialog.tsx";
import { DialogFoot } from "./dialog-foot.tsx";
import { Problem } from "./problem.tsx";

export interface ConfirmParts {
  readonly title: string;
  /** What it will do. */
  readonly children: ReactNode;
  /** What stands on its button. */
  readonly go: string;
  /** What is said where it failed. */
  readonly failed: string;
  readonly act: () => Promise<unknown>;
  readonly onClose: () => void;
}

export function Confirm({ title, children, go, failed, act, onClose }: ConfirmParts): ReactNode {
  const run = useMutation({ mutationFn: act, onSuccess: onClose });
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      {run.error !== null && <Problem error={run.error} what={failed} />}
      <DialogFoot onCancel={onClose} disabled={run.isPending} danger onGo={() => run.mutate()}>
        {go}
      </DialogFoot>
    </Dialog>
  );
}
