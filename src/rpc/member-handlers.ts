/** The methods of IdentityService about members of accounts, invitations, and the people of the installation. */
import { type IdentityServiceService, MemberRole } from "../api/index.js";
import type { Members } from "../identity/members.js";
import { required } from "../api/check.js";
import type { Handlers } from "./handler.js";
import { checkOwner } from "./ownership.js";
import { pageById } from "./page.js";
import { askedInstallationRole, askedRole, shownInvitation, shownMember, shownUser } from "./people-messages.js";

type MemberMethods = Pick<
  Handlers<typeof IdentityServiceService>,
  | "listMembers"
  | "updateMember"
  | "removeMember"
  | "createInvitation"
  | "listInvitations"
  | "revokeInvitation"
  | "listUsers"
  | "inviteUser"
  | "createUser"
  | "endUserSessions"
  | "updateUser"
  | "resetUser"
  | "removeUser"
>;

export function memberHandlers(members: Members): MemberMethods {
  return {
    async listMembers(request, { caller }) {
      const { accountId } = request;
      checkOwner(caller, required("account_id", accountId), "account", accountId);
      const all = (await members.list(accountId)).map((member) => ({ id: member.user.id, member }));
      const { rows, nextPageToken } = pageById(all, request, "m");
      return { members: rows.map(({ member }) => shownMember(member)), nextPageToken };
    },
    async updateMember({ accountId, userId, role }, { caller, act }) {
      checkOwner(caller, required("account_id", accountId), "account", accountId);
      await members.change(accountId, required("user_id", userId), askedRole(role), caller, act);
      return {};
    },
    async removeMember({ accountId, userId }, { caller, act }) {
      checkOwner(caller, required("account_id", accountId), "account", accountId);
      await members.change(accountId, required("user_id", userId), null, caller, act);
      return {};
    },
    async createInvitation({ accountId, role, email, ttlSeconds }, { caller, act }) {
      checkOwner(caller, required("account_id", accountId), "account", accountId);
      const wish = { accountId, role: askedRole(role), installationRole: null, email, ttlSeconds };
      const { link, token } = await members.invite(wish, caller, act);
      return { invitation: shownInvitation(link), token };
    },
    async listInvitations(request, { caller }) {
      const { accountId } = request;
      checkOwner(caller, required("account_id", accountId), "account", accountId);
      const { rows, nextPageToken } = pageById(await members.invitations(accountId), request, "i");
      return { invitations: rows.map(shownInvitation), nextPageToken };
    },
    async revokeInvitation({ accountId, id }, { caller, act }) {
      checkOwner(caller, required("account_id", accountId), "account", accountId);
      await members.endInvitation(accountId, required("id", id), act);
      return {};
    },
    async listUsers(request) {
      const { rows, nextPageToken } = pageById(await members.users(), request, "u");
      return { users: rows.map(shownUser), nextPageToken };
    },
    async inviteUser({ installationRole, email, ttlSeconds }, { caller, act }) {
      const leads = { accountId: null, role: null, installationRole: askedInstallationRole(installationRole) };
      const { link, token } = await members.invite({ ...leads, email, ttlSeconds }, caller, act);
      return { invitation: shownInvitation(link), token };
    },
    async createUser({ email, name, installationRole, accountId, role }, { act }) {
      required("email", email);
      const asked = role === MemberRole.MEMBER_ROLE_UNSPECIFIED ? "member" : askedRole(role);
      const leads = { accountId: accountId || null, role: asked };
      const wish = { email, name, installationRole: askedInstallationRole(installationRole), ...leads };
      const { user, token } = await members.create(wish, act);
      return { user: shownUser(user), token };
    },
    async endUserSessions({ id }, { act }) {
      await members.endSessions(required("id", id), act);
      return {};
    },
    async updateUser({ id, installationRole }, { caller, act }) {
      const role = askedInstallationRole(installationRole);
      return { user: shownUser(await members.setInstallationRole(required("id", id), role, caller, act)) };
    },
    async resetUser({ id, secondFactor }, { act }) {
      return { token: await members.reset(required("id", id), secondFactor, act) };
    },
    async removeUser({ id }, { caller, act }) {
      await members.remove(required("id", id), caller, act);
      return {};
    },
  };
}
