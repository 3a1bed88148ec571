/** Gives a person another role. */
import { type ReactNode, useState } from "react";
import { useAct } from "../api/use-act.ts";
import { memberWords } from "../copy/en-members.ts";
import { Dialog } from "../parts/dialog.tsx";
import { DialogFoot } from "../parts/dialog-foot.tsx";
import { Problem } from "../parts/problem.tsx";
import { RoleChoice, type RoleChoiceParts } from "./role-choice.tsx";

export interface ChangeRoleParts<Role extends string> extends Omit<RoleChoiceParts<Role>, "onChoose"> {
  readonly title: string;
  readonly act: (role: Role) => Promise<void>;
  readonly onClose: () => void;
}

export function ChangeRole<Role extends string>({ title, act, onClose, ...rest }: ChangeRoleParts<Role>): ReactNode {
  const [role, setRole] = useState(rest.role);
  const change = useAct(() => act(role), onClose);
  return (
    <Dialog title={title} onClose={onClose}>
      <RoleChoice {...rest} role={role} onChoose={setRole} />
      {change.error !== null && <Problem error={change.error} what={memberWords.changeFailed} />}
      <DialogFoot onCancel={onClose} disabled={change.isPending || role === rest.role} onGo={() => change.run()}>
        {memberWords.changeGo}
      </DialogFoot>
    </Dialog>
  );
}
