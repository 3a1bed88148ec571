/** A key that is revoked stops at the very next request: no verdict from before it is believed. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { KeyServiceService } from "../../src/api/index.js";
import type { Admission } from "../../src/api/channel.js";
import { GatewayError } from "../../src/errors.js";
import type { ServerCall } from "../../src/rpc/server-call.js";
import { Gate, openWorld, settingsOf, type World } from "../keys/key-world.js";
import { openCore, type OpenCore } from "./open-core.js";
import { TEST_ACT } from "../support/acts.js";

const METHOD = KeyServiceService.getCaller;
const PERMISSION = { operator: false, scope: "" };

let world: World;
let core: OpenCore;
let key: { readonly id: string; readonly secret: string };
beforeEach(async () => {
  world = await openWorld();
  core = await openCore({ keys: world.keys, nowMs: () => world.clock.nowMs });
  const expireTime = new Date(world.clock.nowMs + 60_000);
  const made = await world.keys.create(
    { accountId: "acme", settings: settingsOf({ expireTime }), secret: undefined },
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

test("keys that change all the time end in a refusal, not in a call without end", async () => {
  const { watched } = world;
  const gates: Gate[] = [];
  const next = (): Gate => {
    const gate = new Gate();
    gates.push(gate);
    watched.gate = gate;
    return gate;
  };
  let gate = next();
  const asking = ask();
  const settled = asking.then(() => true);
  for (let turn = 0; turn < 20; turn++) {
    if (await Promise.race([settled, gate.reached.then(() => false)])) break;
    // The account's limits changed, say: what was looked up before may be old.
    await world.keys.publishAccount("acme");
    const last = gate;
    gate = next();
    last.open();
  }
  expect(await asking).toBe(new GatewayError("ERROR_REASON_OVERLOADED").reason);
});
