/** Everybody who can sign in to the gateway, for its operators. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { listUsers, removeUser, resetUser, updateUser, type User } from "../../gen/console/identity_service.js";
import { call } from "../api/client.ts";
import { ask, forget } from "../api/queries.ts";
import { useMaking } from "../api/use-act.ts";
import { words } from "../copy/en.ts";
import { memberWords } from "../copy/en-members.ts";
import { clockTime } from "../format.ts";
import { Dialog } from "../parts/dialog.tsx";
import { DialogFoot } from "../parts/dialog-foot.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Page } from "../parts/page.tsx";
import { Pager } from "../parts/pager.tsx";
import { Problem } from "../parts/problem.tsx";
import { actionsColumn, RowActions } from "../parts/row-actions.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { useSignedIn } from "../shell/session.ts";
import { ChangeRole } from "./change-role.tsx";
import { InvitePerson, LinkShown } from "./invite.tsx";
import { PersonName } from "./members.tsx";
import { INSTALLATION_ROLES, installationRoleNames } from "./roles.ts";
import { Remove } from "./remove.tsx";

const PAGE_SIZE = 500;

export function People(): ReactNode {
  const { isOperator } = useSignedIn();
  const [isInviting, setInviting] = useState(false);
  const { page } = useSearch({ from: "/admin/people" });
  const users = useQuery({
    ...ask(listUsers, { pageSize: PAGE_SIZE, pageToken: page ?? "" }),
    placeholderData: keepPreviousData,
  });
  const button = (
    <button className="button main" type="button" onClick={() => setInviting(true)}>
      {memberWords.people.invite}
    </button>
  );
  return (
    <Page title={words.pages.people} about={memberWords.people.about} actions={isOperator ? button : undefined}>
      <Loaded of={users} what={words.pages.people}>
        {(answer) => (
          <>
            <Table
              label={words.pages.people}
              columns={isOperator ? [...COLUMNS, ACTIONS] : COLUMNS}
              rows={answer.users}
              keyOf={({ id }) => id}
            />
            <Pager page={page} next={answer.nextPageToken} first={memberWords.first} more={memberWords.more} />
          </>
        )}
      </Loaded>
      {isInviting && <InvitePerson onClose={() => setInviting(false)} />}
    </Page>
  );
}

const COLUMNS: readonly Column<User>[] = [
  { name: memberWords.name, cell: ({ id, name }) => <PersonName id={id} name={name} /> },
  { name: memberWords.email, cell: ({ email }) => email, isExtra: true },
  {
    name: memberWords.people.installation,
    cell: ({ installationRole }) => <span className="tag">{installationRoleNames[installationRole]}</span>,
  },
  {
    name: memberWords.seen,
    cell: ({ signInTime }) => (signInTime === undefined ? memberWords.never : clockTime(signInTime)),
    isNumber: true,
    isExtra: true,
  },
];

const ACTIONS = actionsColumn<User>(memberWords.actions, (user) => <Actions user={user} />);

function Actions({ user: { id, name, installationRole } }: { readonly user: User }): ReactNode {
  const change = (close: () => void): ReactNode => (
    <ChangeRole
      title={memberWords.people.changeTitle(name)}
      names={installationRoleNames}
      roles={INSTALLATION_ROLES}
      says={memberWords.people.rolesDo}
      role={installationRole}
      act={async (next) => {
        await call(updateUser, { id, installationRole: next });
        await forget(listUsers);
      }}
      onClose={close}
    />
  );
  const remove = (close: () => void): ReactNode => (
    <Remove
      title={memberWords.people.removeTitle(name)}
      will={memberWords.people.removeWill}
      act={async (keepKeys) => {
        await call(removeUser, { id, keepKeys });
        await forget(listUsers);
      }}
      onClose={close}
    />
  );
  return (
    <RowActions
      actions={[
        { name: memberWords.change, opens: change },
        { name: memberWords.people.reset, opens: (close) => <Reset id={id} name={name} onClose={close} /> },
        { name: memberWords.remove, isDanger: true, opens: remove },
      ]}
    />
  );
}

interface ResetParts {
  readonly id: string;
  readonly name: string;
  readonly onClose: () => void;
}

function Reset({ id, name, onClose }: ResetParts): ReactNode {
  const reset = useMaking(() => call(resetUser, { id }), onClose);
  if (reset.data !== undefined) return <LinkShown path="password" token={reset.data.token} onClose={onClose} />;
  return (
    <Dialog title={memberWords.people.resetTitle(name)} onClose={reset.close}>
      <p>{memberWords.people.resetWill}</p>
      {reset.error !== null && <Problem error={reset.error} what={memberWords.people.resetFailed} />}
      <DialogFoot onCancel={reset.close} disabled={reset.isPending} onGo={() => reset.run()}>
        {memberWords.people.resetGo}
      </DialogFoot>
    </Dialog>
  );
}
