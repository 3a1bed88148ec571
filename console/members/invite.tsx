/** Invites somebody, to an account or to the gateway, and shows the link this once. */
import { type ReactNode, useState } from "react";
import { createInvitation, inviteUser, listInvitations } from "../../gen/console/identity_service.js";
import { call } from "../api/client.ts";
import { forget } from "../api/queries.ts";
import { useMaking } from "../api/use-act.ts";
import { memberWords } from "../copy/en-members.ts";
import { Dialog } from "../parts/dialog.tsx";
import { DialogFoot } from "../parts/dialog-foot.tsx";
import { Choice, Field } from "../parts/field.tsx";
import { Problem } from "../parts/problem.tsx";
import { ShownOnce } from "../parts/shown-once.tsx";
import { RoleChoice } from "./role-choice.tsx";
import { INSTALLATION_ROLES, installationRoleNames, MEMBER_ROLES, roleNames } from "./roles.ts";

const A_WEEK_SECONDS = 604_800;

interface Terms {
  readonly email: string;
  readonly ttlSeconds: number;
}

/** Invites to an account. */
export function Invite({ account, onClose }: { readonly account: string; readonly onClose: () => void }): ReactNode {
  const [role, setRole] = useState<(typeof MEMBER_ROLES)[number]>("member");
  const send = async (terms: Terms): Promise<string> => {
    const { token } = await call(createInvitation, { accountId: account, role, ...terms }, { account });
    await forget(listInvitations);
    return token;
  };
  return (
    <InviteDialog title={memberWords.inviteTitle} send={send} onClose={onClose}>
      <RoleChoice roles={MEMBER_ROLES} names={roleNames} says={memberWords.rolesDo} role={role} onChoose={setRole} />
    </InviteDialog>
  );
}

/** Invites to the gateway. */
export function InvitePerson({ onClose }: { readonly onClose: () => void }): ReactNode {
  const [installationRole, setRole] = useState<(typeof INSTALLATION_ROLES)[number]>("unspecified");
  const send = async (terms: Terms): Promise<string> => (await call(inviteUser, { installationRole, ...terms })).token;
  return (
    <InviteDialog title={memberWords.people.inviteTitle} send={send} onClose={onClose}>
      <RoleChoice
        roles={INSTALLATION_ROLES}
        names={installationRoleNames}
        says={memberWords.people.rolesDo}
        role={installationRole}
        onChoose={setRole}
      />
    </InviteDialog>
  );
}

interface InviteDialogParts {
  readonly title: string;
  readonly send: (terms: Terms) => Promise<string>;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

function InviteDialog({ title, send, onClose, children }: InviteDialogParts): ReactNode {
  const [email, setEmail] = useState("");
  const [ttlSeconds, setTtlSeconds] = useState(A_WEEK_SECONDS);
  const invite = useMaking(() => send({ email: email.trim(), ttlSeconds }), onClose);
  if (invite.data !== undefined) return <LinkShown path="invitation" token={invite.data} onClose={onClose} />;
  return (
    <Dialog title={title} onClose={invite.close}>
      <p className="soft">{memberWords.inviteWill}</p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          invite.run();
        }}
      >
        <Field
          label={memberWords.forWhom}
          hint={memberWords.forWhomRule}
          value={email}
          type="email"
          maxLength={254}
          autoFocus
          onChange={({ currentTarget: { value } }) => setEmail(value)}
        />
        {children}
        <Choice
          label={memberWords.lasts}
          value={ttlSeconds}
          onChange={({ currentTarget: { value } }) => setTtlSeconds(Number(value))}
        >
          {Object.entries(memberWords.lifetimes).map(([seconds, name]) => (
            <option key={seconds} value={seconds}>
              {name}
            </option>
          ))}
        </Choice>
        {invite.error !== null && <Problem error={invite.error} what={memberWords.inviteFailed} />}
        <DialogFoot onCancel={invite.close} disabled={invite.isPending}>
          {memberWords.inviteGo}
        </DialogFoot>
      </form>
    </Dialog>
  );
}

export interface LinkShownParts {
  readonly path: "invitation" | "password";
  readonly token: string;
  readonly onClose: () => void;
}

/** A link of the console whose token stands behind its #, so that it is in no log of any server. */
export function LinkShown({ path, token, onClose }: LinkShownParts): ReactNode {
  return (
    <ShownOnce
      title={memberWords.linkTitle}
      about={memberWords.linkOnce}
      text={`${window.location.origin}/console/${path}#${token}`}
      what={memberWords.link}
      done={memberWords.done}
      onClose={onClose}
    />
  );
}
