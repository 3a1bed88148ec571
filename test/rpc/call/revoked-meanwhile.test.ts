/** A key that is revoked stops at the very next request: no verdict from before it is believed. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { KeyServiceService } from "../../../src/api/index.js";
import type { Admission } from "../../../src/api/channel.js";
import { GatewayError } from "../../../src/base/errors.js";
import type { ServerCall } from "../../../src/rpc/call/server-call.js";
import { Gate, openWorld, settingsOf, type World } from "../../keys/key-world.js";
import { openCore, type OpenCore } from "../open-core.js";
import { TEST_ACT } from "../../support/acts.js";

const METHOD = KeyServiceService.getCaller;
const PERMISSION = { operator: false, scope: "" };

let world: World;
let core: OpenCore;
let key: { readonly id: string; readonly secret: string };
let makerId: string;
beforeEach(async () => {
  world = await openWorld();
  core = await openCore({ keys: world.keys, nowMs: () => world.clock.nowMs });
  const expireTime = new Date(world.clock.nowMs + 60_000);
  makerId = (await world.keys.create({ accountId: "acme", settings: settingsOf(), secret: undefined }, TEST_ACT)).key
    .id;
  const made = await world.keys.create(
    { accountId: "acme", makerId, settings: settingsOf({ expireTime }), secret: undefined },
    TEST_ACT,
  );
  key = { id: made.key.id, secret: made.secret };
});
afterEach(async () => {
  await core.close();
  await world.close();
});

const metadata = (): Record<string, string> => ({ authorization: `Bearer ${key.secret}` });

async function ask(admission?: Admission): Promise<string> {
  const call: ServerCall = {
    metadata: metadata(),
    signal: new AbortController().signal,
    peer: "",
    local: true,
    admission,
  };
  const outcome = await core.dispatcher.unary(METHOD, {}, call);
  return outcome.kind === "answered" ? "answered" : outcome.error.reason;
}

const admit = (): Promise<Admission> =>
  Promise.resolve(core.dispatcher.admit(PERMISSION, { metadata: metadata(), peer: "", local: true }, METHOD.path));

test.each([
  { name: "is revoked", change: () => world.keys.revoke(key.id, TEST_ACT), want: "ERROR_REASON_KEY_REVOKED" },
  {
    name: "is revoked on another node",
    change: () => world.node().revoke(key.id, TEST_ACT),
    want: "ERROR_REASON_KEY_REVOKED",
  },
  {
    name: "expires",
    change: async () => (world.clock.nowMs += 60_000),
    want: "ERROR_REASON_KEY_EXPIRED",
  },
])("a request that was let in by its headers is refused where its key $name before its body is there", async (row) => {
  const admission = await admit();
  expect(await ask(admission)).toBe("answered");
  await row.change();
  expect(await ask(admission)).toBe(row.want);
});

test("a look-up that began before the revocation lets nobody in after it", async () => {
  const gate = (world.watched.gate = new Gate());
  const asking = ask();
  await gate.reached;
  await world.keys.revoke(key.id, TEST_ACT);
  world.watched.gate = undefined;
  gate.open();
  expect(await asking).toBe("ERROR_REASON_KEY_REVOKED");
});

/** Asks with a key that is not known yet, while the change is made during each of its look-ups, 20 at most. */
async function askAmid(
  change: () => Promise<unknown>,
): Promise<{ readonly outcome: string; readonly lookups: number }> {
  const { watched } = world;
  let lookups = 0;
  let gate = (watched.gate = new Gate());
  const asking = ask();
  const settled = asking.then(() => true);
  while (lookups < 20 && !(await Promise.race([settled, gate.reached.then(() => false)]))) {
    lookups += 1;
    watched.gate = undefined;
    await change();
    const last = gate;
    gate = watched.gate = new Gate();
    last.open();
  }
  watched.gate = undefined;
  gate.open();
  return { outcome: await asking, lookups };
}

const another = (accountId: string): Promise<unknown> =>
  world.keys.create({ accountId, settings: settingsOf(), secret: undefined }, TEST_ACT);

test.each([
  { name: "its account", change: () => world.keys.publishAccount("acme") },
  { name: "the key", change: () => world.keys.update(key.id, settingsOf(), ["models"], { act: TEST_ACT }) },
  {
    name: "the key that made it",
    change: () => world.keys.update(makerId, settingsOf(), ["models"], { act: TEST_ACT }),
  },
])("$name that changes all the time ends in a refusal, not in a call without end", async ({ change }) => {
  const { outcome, lookups } = await askAmid(change);
  expect(outcome).toBe(new GatewayError("ERROR_REASON_OVERLOADED").reason);
  expect(lookups).toBe(8);
});

test.each([
  { name: "another account's keys", change: () => another("other") },
  { name: "another account", change: () => world.keys.publishAccount("other") },
  { name: "other keys of its account", change: () => another("acme") },
  { name: "a person", change: () => world.keys.publishUser("user_1") },
])("$name may change all the time: a key that is looked up meanwhile is found and remembered", async ({ change }) => {
  expect(await askAmid(change)).toEqual({ outcome: "answered", lookups: 1 });
  expect(world.keys.authenticate(key.secret)).not.toBeInstanceOf(Promise);
});
