/** Gives a person another role. */
import { useMutation } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { words } from "../copy/en.ts";
import { memberWords } from "../copy/en-members.ts";
import { Dialog } from "../parts/dialog.tsx";
import { Problem } from "../parts/problem.tsx";
import { RoleChoice, type RoleChoiceParts } from "./role-choice.tsx";

export interface ChangeRoleParts<Role extends string> extends Omit<RoleChoiceParts<Role>, "onChoose"> {
  readonly title: string;
  readonly act: (role: Role) => Promise<void>;
  readonly onClose: () => void;
}

export function ChangeRole<Role extends string>({ title, act, onClose, ...rest }: ChangeRoleParts<Role>): ReactNode {
  const [role, setRole] = useState(rest.role);
  const change = useMutation({ mutationFn: () => act(role), onSuccess: onClose });
  return (
    <Dialog title={title} onClose={onClose}>
      <RoleChoice {...rest} role={role} onChoose={setRole} />
      {change.error !== null && <Problem error={change.error} what={memberWords.changeFailed} />}
      <div className="foot">
        <button className="button" type="button" onClick={onClose}>
          {words.form.cancel}
        </button>
        <button
          className="button main"
          type="button"
          disabled={change.isPending || role === rest.role}
          onClick={() => change.mutate()}
        >
          {memberWords.changeGo}
        </button>
      </div>
    </Dialog>
  );
}
