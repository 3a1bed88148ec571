/** People of each role, signed in at a core. */
import { randomBytes } from "node:crypto";
import { expect } from "vitest";
import { ownActor } from "../../src/audit/act.js";
import { makeToken } from "../../src/identity/tokens.js";
import type { InstallationRole, MemberRole } from "../../src/store/people-rows.js";
import { NOW_MS, type OpenCore } from "./open-core.js";

export type Who = MemberRole | InstallationRole | "nobody here";

const ACT = { actor: ownActor("gateway"), method: "test", timeMs: NOW_MS };

/** A person with a role in an account, signed in. Returns the secret of the session. */
export async function signIn({ store }: OpenCore, who: Who, accountId: string): Promise<string> {
  const { people } = store;
  const { text, digest } = makeToken(randomBytes);
  const userId = `user_${who.replaceAll(" ", "")}`;
  const isMember = who !== "operator" && who !== "auditor" && who !== "nobody here";
  const link = {
    id: `link_${userId}`,
    digest: makeToken(randomBytes).digest,
    kind: "invitation",
    accountId: isMember ? accountId : null,
    role: isMember ? who : null,
    installationRole: who === "operator" || who === "auditor" ? who : null,
    email: null,
    userId: null,
    giverUserId: null,
    giverKeyId: null,
    createTimeMs: NOW_MS,
    expireTimeMs: NOW_MS + 1_000,
  } as const;
  const event = { ...ACT, resource: userId, accountId: "", result: "done", reason: "", before: "", after: "" } as const;
  await people.makeLink(link);
  const user = {
    id: userId,
    email: `${userId}@example.com`,
    name: who,
    password: null,
    installationRole: null,
    secondFactor: false,
  };
  const session = { id: `session_${userId}`, digest, userId, createTimeMs: NOW_MS, useTimeMs: NOW_MS };
  const accepted = await people.acceptInvitation(
    {
      link,
      user: { ...user, createTimeMs: NOW_MS, signInTimeMs: null },
      session: { ...session, address: "", userAgent: "", method: "password", proofTimeMs: NOW_MS },
      isNew: true,
    },
    { ...event, transferId: "" },
  );
  expect(accepted).toBe(true);
  return text;
}
