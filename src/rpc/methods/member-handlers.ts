/** The methods of IdentityService about members of accounts, invitations, and the people of the installation. */
import { type IdentityServiceService, MemberRole } from "../../api/index.js";
import type { Members } from "../../identity/members.js";
import type { Keys } from "../../keys/keys.js";
import { required } from "../../api/check.js";
import type { Handlers } from "../call/handler.js";
import { revokeKeysOf } from "./keys-of-gone.js";
import { checkOwner } from "../call/account-scope.js";
import { cutById, idPageOf } from "./page.js";
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

export function memberHandlers(members: Members, keys: Keys): MemberMethods {
  return {
    ...memberLists(members),
    async updateMember({ accountId, userId, role }, { caller, act }) {
      checkOwner(caller, required("account_id", accountId), "account", accountId);
      await members.change(accountId, required("user_id", userId), askedRole(role), caller, act);
      return {};
    },
    async removeMember({ accountId, userId, keepKeys }, { caller, act }) {
      checkOwner(caller, required("account_id", accountId), "account", accountId);
      await members.leave(accountId, required("user_id", userId), keepKeys, caller, act);
      if (!keepKeys) await revokeKeysOf(userId, accountId, keys, act);
      return {};
    },
    async createInvitation({ accountId, role, email, ttlSeconds }, { caller, act }) {
      checkOwner(caller, required("account_id", accountId), "account", accountId);
      const params = { accountId, role: askedRole(role), installationRole: null, email, ttlSeconds };
      const { link, token } = await members.invite(params, caller, act);
      return { invitation: shownInvitation(link), token };
    },
    async revokeInvitation({ accountId, id }, { caller, act }) {
      checkOwner(caller, required("account_id", accountId), "account", accountId);
      await members.endInvitation(accountId, required("id", id), act);
      return {};
    },
    async inviteUser({ installationRole, email, ttlSeconds }, { caller, act }) {
      const leads = { accountId: null, role: null, installationRole: askedInstallationRole(installationRole) };
      const { link, token } = await members.invite({ ...leads, email, ttlSeconds }, caller, act);
      return { invitation: shownInvitation(link), token };
    },
    async createUser({ email, name, installationRole, accountId, role }, { caller, act }) {
      required("email", email);
      const asked = role === MemberRole.MEMBER_ROLE_UNSPECIFIED ? "member" : askedRole(role);
      const leads = { accountId: accountId || null, role: asked };
      const params = { email, name, installationRole: askedInstallationRole(installationRole), ...leads };
      const { user, token } = await members.create(params, caller, act);
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
    async resetUser({ id, secondFactor }, { caller, act }) {
      return { token: await members.reset(required("id", id), secondFactor, caller, act) };
    },
    async removeUser({ id, keepKeys }, { caller, act }) {
      const accountIds = await members.remove(required("id", id), keepKeys, caller, act);
      for (const accountId of accountIds) await revokeKeysOf(id, accountId, keys, act);
      return {};
    },
  };
}

function memberLists(members: Members): Pick<MemberMethods, "listMembers" | "listInvitations" | "listUsers"> {
  return {
    async listMembers(request, { caller }) {
      const { accountId } = request;
      checkOwner(caller, required("account_id", accountId), "account", accountId);
      const page = idPageOf(request, "m");
      const found = await members.list(accountId, page.afterId, page.size + 1);
      const { rows, nextPageToken } = cutById(found, page, "m", ({ user }) => user.id);
      return { members: rows.map(shownMember), nextPageToken };
    },
    async listInvitations(request, { caller }) {
      const { accountId } = request;
      checkOwner(caller, required("account_id", accountId), "account", accountId);
      const page = idPageOf(request, "i");
      const found = await members.invitations(accountId, page.afterId, page.size + 1);
      const { rows, nextPageToken } = cutById(found, page, "i", ({ id }) => id);
      return { invitations: rows.map(shownInvitation), nextPageToken };
    },
    async listUsers(request) {
      const page = idPageOf(request, "u");
      const found = await members.users(page.afterId, page.size + 1);
      const { rows, nextPageToken } = cutById(found, page, "u", ({ id }) => id);
      return { users: rows.map(shownUser), nextPageToken };
    },
  };
}
