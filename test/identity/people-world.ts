/** People over a real store, with a clock that the test drives. */
import { createHash } from "node:crypto";
import { KeySettings } from "../../src/api/index.js";
import { SecretSeal } from "../../src/alerts/seal.js";
import { createInProcessCoordination } from "../../src/coordination/in-process.js";
import type { GatewayError } from "../../src/base/errors.js";
import { gatewayAct } from "../../src/audit/act.js";
import type { Identity, IdentityOptions } from "../../src/identity/identity.js";
import type { SignedIn } from "../../src/identity/new-session.js";
import type { UserCaller } from "../../src/identity/user-caller.js";
import type { Caller } from "../../src/keys/caller.js";
import type { KeyRow, Store } from "../../src/store/store.js";
import { TEST_ACT, TEST_EVENT } from "../support/acts.js";
import { identityOver } from "../support/identity-over.js";
import { refusalOf, settingsOf } from "../keys/key-world.js";

export const START_MS = Date.UTC(2026, 10, 21);
export const PASSWORD = "a long enough password";
/** Of who has no second factor, or shows none yet. */
export const NO_FACTOR = { code: "", passkey: "" };
export const HOME = { address: "192.0.2.1", userAgent: "a browser" };

export interface PeopleWorld {
  readonly identity: Identity;
  readonly store: Store;
  readonly clock: { nowMs: number };
  /** Another node over the same store, without what this one remembers. */
  node(options?: Partial<IdentityOptions>): Identity;
  /** A new person with a role in the account `acme`, who signs in from HOME. */
  person(name: string, role?: "owner" | "admin" | "member" | "viewer"): Promise<SignedIn>;
  signIn(email: string, password?: string, code?: string, address?: string, passkey?: string): Promise<SignedIn>;
  caller(signedIn: SignedIn, accountId?: string): Promise<UserCaller>;
}

/** An operator's key, which each of these worlds has. */
export const OPERATOR: Caller = { user: undefined, keyId: "key_operator", hasScope: () => true } as never;

/** A row of a key in the account `acme`. */
export function keyRow(id: string, more: Partial<KeyRow> = {}): KeyRow {
  const settings = KeySettings.encode(settingsOf({ scopes: ["operator"] })).finish();
  const digest = createHash("sha256").update(id).digest();
  const plain = { makerId: null, previousDigest: null, previousUntilMs: null, hint: id, revokeTimeMs: null };
  return { ...plain, id, accountId: "acme", settings, digest, createTimeMs: START_MS, revision: 1, ...more };
}

/** Acts are written once: each call has its own. */
export const act = () => gatewayAct("test", START_MS);

export async function openPeople(store: Store, options: Partial<IdentityOptions> = {}): Promise<PeopleWorld> {
  const clock = { nowMs: START_MS };
  const nowMs = (): number => clock.nowMs;
  const coordination = createInProcessCoordination({ nowMs, heartbeatMs: 0 });
  const keys = { publishUser: () => Promise.resolve(), publishRights: () => Promise.resolve() };
  const seal = new SecretSeal({ keys: [Buffer.alloc(32, 7)] });
  const node = (more: Partial<IdentityOptions> = {}): Identity =>
    identityOver(store, { coordination, keys, nowMs, seal, ...options, ...more });
  const identity = node();
  await store.accounts.create({ id: "acme", name: "acme", createTimeMs: START_MS }, TEST_ACT);
  await store.keys.create(keyRow(OPERATOR.keyId), TEST_EVENT);
  return {
    identity,
    store,
    clock,
    node,
    person: async (name, role = "owner") => {
      const wish = { accountId: "acme", role, installationRole: null, email: "", ttlSeconds: 0 };
      const { token } = await identity.members.invite(wish, OPERATOR, act());
      const email = `${name}@example.com`;
      const shown = { email, name, password: PASSWORD, ...NO_FACTOR };
      return identity.acceptInvitation(token, shown, HOME, act());
    },
    signIn: (email, password = PASSWORD, code = "", address = HOME.address, passkey = "") =>
      identity.signIn({ email, password, code, passkey }, { ...HOME, address }, act()),
    caller: ({ token }, accountId = "acme") => identity.authenticate(token, accountId),
  };
}

/** The word of a refusal, such as SIGN_IN_REFUSED. */
export async function reasonOf(call: () => unknown): Promise<string> {
  const refusal: GatewayError = await refusalOf(call);
  return refusal.reasonWord;
}
