/** The choice of a role, with what each allows. */
import type { ReactNode } from "react";
import { memberWords } from "../copy/en-members.ts";
import { Choice } from "../parts/field.tsx";

export interface RoleChoiceParts<Role extends string> {
  readonly roles: readonly Role[];
  readonly names: Readonly<Record<Role, string>>;
  readonly says: Readonly<Record<Role, string>>;
  readonly role: Role;
  readonly onChoose: (role: Role) => void;
}

export function RoleChoice<Role extends string>(parts: RoleChoiceParts<Role>): ReactNode {
  const { roles, names, says, role, onChoose } = parts;
  return (
    <Choice
      label={memberWords.role}
      hint={says[role]}
      value={role}
      onChange={({ currentTarget: { value } }) => onChoose(roles.find((one) => one === value) ?? role)}
    >
      {roles.map((one) => (
        <option key={one} value={one}>
          {names[one]}
        </option>
      ))}
    </Choice>
  );
}
