/** A link that somebody gets: to an invitation, to a password, or to the first operator's account. */
import type { LinkRow } from "../store/people-rows.js";
import { makeId, makeToken, type RandomBytes } from "./tokens.js";

/** A link with its secret, which is told this once. */
export interface ToldLink {
  readonly link: LinkRow;
  readonly token: string;
}

const NOTHING = {
  accountId: null,
  role: null,
  installationRole: null,
  email: null,
  userId: null,
  giverUserId: null,
  giverKeyId: null,
} as const;

/** `leads` is what it leads to, beside its kind, and who gives it; without those it is the gateway's own. */
export function newLink(
  kind: LinkRow["kind"],
  lifeMs: number,
  leads: Partial<Pick<LinkRow, keyof typeof NOTHING>>,
  { nowMs, randomBytes }: { readonly nowMs: number; readonly randomBytes: RandomBytes },
): ToldLink {
  const { text, digest } = makeToken(randomBytes);
  const id = makeId("link", randomBytes);
  const times = { createTimeMs: nowMs, expireTimeMs: nowMs + lifeMs };
  return { link: { ...NOTHING, ...leads, id, digest, kind, ...times }, token: text };
}
