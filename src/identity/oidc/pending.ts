/** A sign-in that was begun, as the browser carries it: sealed, so that any node can go on and nobody can read it. */
import { z } from "zod";
import type { Seal } from "../second-factors.js";

/** How long a person may take at the issuer. */
export const PENDING_MS = 10 * 60_000;
const OWNER = "sign-in at an issuer";
/** No cookie of ours is longer. */
const TEXT_MAX = 3_800;

const vouched = z.object({
  /** The issuer's address. */
  issuer: z.string(),
  subject: z.string(),
  /** In small letters. */
  email: z.string(),
  name: z.string(),
  /** When the person showed the issuer who it is; 0 where it does not say. */
  authTimeMs: z.number(),
});
const asked = z.object({
  kind: z.literal("asked"),
  nonce: z.string(),
  verifier: z.string(),
  redirectUri: z.url(),
  fresh: z.boolean(),
});
const known = z.object({ kind: z.literal("known"), vouched });
const pending = z.object({
  /** The issuer's name. */
  name: z.string(),
  /** What the issuer sends back as it came; it names the sign-in. */
  state: z.string(),
  untilMs: z.number(),
  /** The token of an invitation; empty: none. */
  invitation: z.string(),
  /** Either the issuer was asked, or it has vouched for somebody of whom more is needed. */
  stage: z.discriminatedUnion("kind", [asked, known]),
});

/** Whom an issuer vouches for. */
export type Vouched = Readonly<z.output<typeof vouched>>;
export type SignInRequest = Readonly<z.output<typeof asked>>;
export type Pending = Readonly<z.output<typeof pending>>;

export function sealPending(seal: Seal, one: Pending): string {
  return Buffer.from(seal.seal(OWNER, JSON.stringify(one))).toString("base64url");
}

/** Undefined where it is none of ours, or over. */
export function openPending(seal: Seal, text: string, nowMs: number): Pending | undefined {
  if (text === "" || text.length > TEXT_MAX) return undefined;
  const opened = seal.open(OWNER, Buffer.from(text, "base64url"));
  if (opened === undefined) return undefined;
  // One that a node of another release sealed may have another form.
  const { data } = pending.safeParse(JSON.parse(opened));
  return data !== undefined && data.untilMs > nowMs ? data : undefined;
}
