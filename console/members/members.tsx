/** The people of the account, and those who are invited. */
import { keepPreviousData, useQuery, type UseQueryResult } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import type { ReactNode } from "react";
import {
  type Invitation,
  listInvitations,
  type ListInvitationsResponse,
  listMembers,
  type Member,
  removeMember,
  revokeInvitation,
  updateMember,
} from "../../gen/console/identity_service.js";
import { call } from "../api/client.ts";
import { ask, forget } from "../api/queries.ts";
import { words } from "../copy/en.ts";
import { memberWords } from "../copy/en-members.ts";
import { clockTime, dateTime } from "../format.ts";
import { Confirm } from "../parts/confirm.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Page } from "../parts/page.tsx";
import { Pager } from "../parts/pager.tsx";
import { actionsColumn, RowActions } from "../parts/row-actions.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { useSignedIn } from "../shell/session.ts";
import { ChangeRole } from "./change-role.tsx";
import { Invite } from "./invite.tsx";
import { MemberLimits } from "./member-limits.tsx";
import { MEMBER_ROLES, roleNames } from "./roles.ts";
import { Remove } from "./remove.tsx";

const PAGE_SIZE = 100;
/** Few are open at once: each ends after some days. */
const INVITATIONS_MAX = 1_000;

export function Members(): ReactNode {
  const { account, isManager } = useSignedIn();
  const { page, form } = useSearch({ from: "/members" });
  const navigate = useNavigate({ from: "/members" });
  const open = (isOpen: boolean): void =>
    void navigate({ search: (before) => ({ ...before, form: isOpen ? "member" : undefined }), replace: !isOpen });
  const members = useQuery({
    ...ask(listMembers, { accountId: account, pageSize: PAGE_SIZE, pageToken: page ?? "" }, account),
    placeholderData: keepPreviousData,
  });
  // Asked beside the members, and shown below them once these are there: nothing moves then.
  const invitations = useQuery({
    ...ask(listInvitations, { accountId: account, pageSize: INVITATIONS_MAX }, account),
    enabled: isManager,
  });
  const button = (
    <button className="button main" type="button" onClick={() => open(true)}>
      {memberWords.invite}
    </button>
  );
  return (
    <Page title={words.pages.members} about={memberWords.about} actions={isManager ? button : undefined}>
      <Loaded of={members} what={words.pages.members}>
        {(answer) => (
          <>
            {answer.members.length === 0 ? (
              <p className="soft">{memberWords.emptyAbout}</p>
            ) : (
              <Table
                label={words.pages.members}
                columns={isManager ? [...COLUMNS, ACTIONS] : COLUMNS}
                rows={answer.members}
                keyOf={({ user }) => user?.id ?? ""}
              />
            )}
            <Pager page={page} next={answer.nextPageToken} first={memberWords.first} more={memberWords.more} />
            {isManager && <Invitations of={invitations} />}
          </>
        )}
      </Loaded>
      {isManager && form === "member" && <Invite account={account} onClose={() => open(false)} />}
    </Page>
  );
}

const COLUMNS: readonly Column<Member>[] = [
  { name: memberWords.name, cell: ({ user }) => <PersonName id={user?.id} name={user?.name ?? ""} /> },
  { name: memberWords.email, cell: ({ user }) => user?.email, isExtra: true },
  { name: memberWords.role, cell: ({ role }) => <span className="tag">{memberWords.roles[role]}</span> },
  {
    name: memberWords.seen,
    cell: ({ user }) => (user?.signInTime === undefined ? memberWords.never : clockTime(user.signInTime)),
    isNumber: true,
    isExtra: true,
  },
];

const ACTIONS = actionsColumn<Member>(memberWords.actions, (member) => <Actions member={member} />);

/** A person's name, marked where it is the reader's own. */
export function PersonName({ id, name }: { readonly id: string | undefined; readonly name: string }): ReactNode {
  const { session } = useSignedIn();
  return (
    <>
      <strong>{name}</strong>
      {id === session.user?.id && <small className="soft"> ({memberWords.you})</small>}
    </>
  );
}

function Actions({ member: { user, role } }: { readonly member: Member }): ReactNode {
  const { account } = useSignedIn();
  const { id = "", name = "" } = user ?? {};
  const change = (close: () => void): ReactNode => (
    <ChangeRole
      title={memberWords.changeTitle(name)}
      names={roleNames}
      roles={MEMBER_ROLES}
      says={memberWords.rolesDo}
      role={role}
      act={async (next) => {
        await call(updateMember, { accountId: account, userId: id, role: next }, { account });
        await forget(listMembers);
      }}
      onClose={close}
    />
  );
  const remove = (close: () => void): ReactNode => (
    <Remove
      title={memberWords.removeTitle(name)}
      will={memberWords.removeWill}
      act={async (keepKeys) => {
        await call(removeMember, { accountId: account, userId: id, keepKeys }, { account });
        await forget(listMembers);
      }}
      onClose={close}
    />
  );
  return (
    <RowActions
      actions={[
        { name: memberWords.change, opens: change },
        {
          name: memberWords.limits,
          opens: (close) => <MemberLimits userId={id} name={name} onClose={close} />,
        },
        { name: memberWords.remove, isDanger: true, opens: remove },
      ]}
    />
  );
}

function Invitations({ of }: { readonly of: UseQueryResult<ListInvitationsResponse> }): ReactNode {
  return (
    <section className="stack">
      <h2>{memberWords.open}</h2>
      <Loaded of={of} what={memberWords.open} height={80}>
        {({ invitations }) =>
          invitations.length === 0 ? (
            <p className="soft">{memberWords.noneOpen}</p>
          ) : (
            <Table label={memberWords.open} columns={INVITED} rows={invitations} keyOf={({ id }) => id} />
          )
        }
      </Loaded>
    </section>
  );
}

const INVITED: readonly Column<Invitation>[] = [
  { name: memberWords.forWhom, cell: ({ email }) => email || memberWords.nobody },
  { name: memberWords.role, cell: ({ role }) => <span className="tag">{memberWords.roles[role]}</span> },
  {
    name: memberWords.ends,
    cell: ({ expireTime }) => (expireTime === undefined ? "" : dateTime(expireTime)),
    isNumber: true,
    isExtra: true,
  },
  actionsColumn(memberWords.actions, (invitation) => <TakeBack invitation={invitation} />),
];

function TakeBack({ invitation: { id } }: { readonly invitation: Invitation }): ReactNode {
  const { account } = useSignedIn();
  const confirm = (close: () => void): ReactNode => (
    <Confirm
      title={memberWords.revokeTitle}
      go={memberWords.revoke}
      failed={memberWords.revokeFailed}
      act={async () => {
        await call(revokeInvitation, { accountId: account, id }, { account });
        await forget(listInvitations);
      }}
      onClose={close}
    >
      <p>{memberWords.revokeWill}</p>
    </Confirm>
  );
  return <RowActions actions={[{ name: memberWords.revoke, opens: confirm }]} />;
}
