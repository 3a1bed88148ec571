/** From a secret to its caller: refusals, the cache and its bounds, and how soon a change holds. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { GatewayError } from "../../src/base/errors.js";
import type { Caller } from "../../src/keys/caller.js";
import type { Keys } from "../../src/keys/keys.js";
import { createInProcessCoordination } from "../../src/coordination/in-process.js";
import { FOREIGN, Gate, openWorld, refusalOf, ROOT_SECRET, settingsOf, START_MS, type World } from "./key-world.js";
import { TEST_ACT } from "../support/acts.js";

/** By its own digest, by an imported one, and again by its own, which may have replaced that meanwhile. */
const FOREIGN_LOOKUPS = 3;

let world: World;

beforeEach(async () => {
  world = await openWorld();
});

afterEach(async () => {
  await world.close();
});

async function make(some: Parameters<typeof settingsOf>[0] = {}, secret?: string) {
  return world.keys.create({ accountId: "acme", settings: settingsOf(some), secret }, TEST_ACT);
}

/** The caller, which must be known without a promise. */
function atOnce(keys: Keys, secret: string): Caller {
  const caller = keys.authenticate(secret);
  if (caller instanceof Promise) throw new Error("the caller was not remembered");
  return caller;
}

test("a key's secret leads to its caller, at first through the store and then at once", async () => {
  const { key, secret } = await make({ scopes: ["chat"] });
  world.watched.lookups = 0;
  const first = await world.keys.authenticate(secret);
  expect([first.keyId, first.accountId, first.key.hint]).toEqual([key.id, "acme", key.hint]);
  expect(first.settings.scopes).toEqual(["chat"]);
  for (let count = 0; count < 10; count++) expect(atOnce(world.keys, secret)).toBe(first);
  expect(world.watched.lookups).toBe(1);
});

test("keys of two accounts lead each to its own", async () => {
  const acme = await make();
  const other = await world.keys.create({ accountId: "other", settings: undefined }, TEST_ACT);
  for (const { key, secret } of [acme, other, acme, other]) {
    const caller = await world.keys.authenticate(secret);
    expect([caller.accountId, caller.keyId]).toEqual([key.accountId, key.id]);
  }
});

describe("a refusal", () => {
  test.each([
    { name: "no secret", secret: undefined, reason: "ERROR_REASON_KEY_MISSING", lookups: 0 },
    { name: "an empty secret", secret: "", reason: "ERROR_REASON_KEY_MISSING", lookups: 0 },
    { name: "an unknown secret", secret: FOREIGN, reason: "ERROR_REASON_KEY_INVALID", lookups: FOREIGN_LOOKUPS },
    { name: "a malformed secret", secret: "password", reason: "ERROR_REASON_KEY_INVALID", lookups: 0 },
    {
      name: "SQL for a secret",
      secret: "sk-' OR 1=1 -- ; DROP TABLE key",
      reason: "ERROR_REASON_KEY_INVALID",
      lookups: 0,
    },
    {
      name: "SQL without spaces",
      secret: "sk-'/**/OR/**/1=1;--xxxxxxxxx",
      reason: "ERROR_REASON_KEY_INVALID",
      lookups: FOREIGN_LOOKUPS,
    },
    { name: "a mistyped secret", secret: `sk-tg${"a".repeat(46)}`, reason: "ERROR_REASON_KEY_INVALID", lookups: 0 },
  ])("of $name is $reason after $lookups lookups", async ({ secret, reason, lookups }) => {
    await make();
    world.watched.lookups = 0;
    const refusal = await refusalOf(() => world.keys.authenticate(secret));
    expect(refusal.reason).toBe(reason);
    expect(world.watched.lookups).toBe(lookups);
  });

  test("of a secret that differs in one place or length from a good one is KEY_INVALID", async () => {
    await make({}, FOREIGN);
    await world.keys.authenticate(FOREIGN);
    for (const secret of [
      FOREIGN.slice(0, -1),
      `${FOREIGN}0`,
      FOREIGN.toUpperCase().replace("SK", "sk"),
      `${FOREIGN.slice(0, -1)}8`,
    ])
      expect((await refusalOf(() => world.keys.authenticate(secret))).reason).toBe("ERROR_REASON_KEY_INVALID");
  });

  test("never repeats the secret", async () => {
    const revoked = await make();
    await world.keys.revoke(revoked.key.id, TEST_ACT);
    const expired = await make({ expireTime: new Date(START_MS - 1) });
    for (const secret of [revoked.secret, expired.secret, FOREIGN, `${revoked.secret}x`]) {
      const refusal = await refusalOf(() => world.keys.authenticate(secret));
      const said = JSON.stringify([refusal.message, refusal.metadata]);
      for (let at = 0; at + 8 <= secret.length; at++) expect(said).not.toContain(secret.slice(at, at + 8));
    }
  });
});

describe("time", () => {
  test("ends a key at its expiry, remembered or not", async () => {
    const { secret } = await make({ expireTime: new Date(START_MS + 10_000) });
    await world.keys.authenticate(secret);
    world.clock.nowMs = START_MS + 9_999;
    expect(atOnce(world.keys, secret).accountId).toBe("acme");
    world.clock.nowMs = START_MS + 10_000;
    expect(() => world.keys.authenticate(secret)).toThrow(GatewayError);
    for (const keys of [world.keys, world.node()]) {
      const refusal = await refusalOf(() => keys.authenticate(secret));
      expect(refusal.reason).toBe("ERROR_REASON_KEY_EXPIRED");
      expect(refusal.metadata["expired"]).toBe(new Date(START_MS + 10_000).toISOString());
    }
  });

  test("makes the store be asked again after 30 seconds, for the same caller", async () => {
    const { secret } = await make();
    const first = await world.keys.authenticate(secret);
    world.clock.nowMs += 29_999;
    expect(atOnce(world.keys, secret)).toBe(first);
    world.clock.nowMs += 1;
    const again = world.keys.authenticate(secret);
    expect(again).toBeInstanceOf(Promise);
    expect(await again).toBe(first);
    expect(atOnce(world.keys, secret)).toBe(first);
  });

  test.each([-3_600_000, 3_600_000])("set by %i ms neither ends nor prolongs what is remembered", async (jumpMs) => {
    const { secret } = await make();
    const first = await world.keys.authenticate(secret);
    const set = (ms: number): void => {
      world.clock.nowMs += ms;
      world.clock.setByMs += ms;
    };
    set(jumpMs);
    world.clock.nowMs += 29_999;
    expect(atOnce(world.keys, secret)).toBe(first);
    set(-jumpMs);
    world.clock.nowMs += 1;
    const again = world.keys.authenticate(secret);
    expect(again).toBeInstanceOf(Promise);
    await again;
  });

  test("a store that is away leaves remembered keys their 30 seconds, and then refuses as itself", async () => {
    const { secret } = await make();
    await world.keys.authenticate(secret);
    world.watched.failing = true;
    world.clock.nowMs += 29_999;
    expect(atOnce(world.keys, secret).accountId).toBe("acme");
    world.clock.nowMs += 1;
    const refusal = await refusalOf(() => world.keys.authenticate(secret));
    expect(refusal.reason).toBe("ERROR_REASON_LEDGER_UNAVAILABLE");
    world.watched.failing = false;
    expect((await world.keys.authenticate(secret)).accountId).toBe("acme");
  });
});

describe("a revocation", () => {
  test("holds from the next call on every node that hears of it", async () => {
    const { key, secret } = await make();
    const nodes = [world.keys, world.node(), world.node()];
    for (const node of nodes) await node.authenticate(secret);
    await world.keys.revoke(key.id, TEST_ACT);
    for (const node of nodes)
      expect((await refusalOf(() => node.authenticate(secret))).reason).toBe("ERROR_REASON_KEY_REVOKED");
  });

  test("holds on a node that hears nothing after 30 seconds", async () => {
    const { key, secret } = await make();
    const deaf = createInProcessCoordination({ nowMs: () => world.clock.nowMs, heartbeatMs: 0 });
    const node = world.node({ coordination: deaf });
    await node.authenticate(secret);
    await world.keys.revoke(key.id, TEST_ACT);
    expect(atOnce(node, secret).keyId).toBe(key.id);
    world.clock.nowMs += 30_000;
    expect((await refusalOf(() => node.authenticate(secret))).reason).toBe("ERROR_REASON_KEY_REVOKED");
  });

  test("holds for calls that begin after it, though a lookup from before is under way", async () => {
    const { key, secret } = await make();
    const gate = new Gate();
    world.watched.gate = gate;
    const before = world.keys.authenticate(secret);
    // The first lookup has read the row and waits at the gate; the revocation overtakes it.
    await gate.reached;
    world.watched.gate = undefined;
    await world.keys.revoke(key.id, TEST_ACT);
    expect((await refusalOf(() => world.keys.authenticate(secret))).reason).toBe("ERROR_REASON_KEY_REVOKED");
    gate.open();
    expect((await before).keyId).toBe(key.id);
    expect((await refusalOf(() => world.keys.authenticate(secret))).reason).toBe("ERROR_REASON_KEY_REVOKED");
  });

  test("of a remembered key is refused at once, without asking the store each time", async () => {
    const { key, secret } = await make();
    await world.keys.revoke(key.id, TEST_ACT);
    await refusalOf(() => world.keys.authenticate(secret));
    world.watched.lookups = 0;
    for (let count = 0; count < 5; count++) expect(() => world.keys.authenticate(secret)).toThrow("was revoked");
    expect(world.watched.lookups).toBe(0);
  });
});

describe("the cache", () => {
  test("lets all calls that miss at once share one lookup", async () => {
    const { secret } = await make();
    world.watched.lookups = 0;
    const callers = await Promise.all(Array.from({ length: 50 }, () => world.keys.authenticate(secret)));
    expect(new Set(callers).size).toBe(1);
    expect(world.watched.lookups).toBe(1);
  });

  test("asks once for a secret that no key has, and again after a while or a change", async () => {
    world.watched.lookups = 0;
    for (let count = 0; count < 5; count++) await refusalOf(() => world.keys.authenticate(FOREIGN));
    expect(world.watched.lookups).toBe(FOREIGN_LOOKUPS);
    world.clock.nowMs += 10_000;
    await refusalOf(() => world.keys.authenticate(FOREIGN));
    expect(world.watched.lookups).toBe(2 * FOREIGN_LOOKUPS);
    await make({}, FOREIGN);
    expect((await world.keys.authenticate(FOREIGN)).accountId).toBe("acme");
  });

  test("stays within its bound, and made-up secrets do not drive out good ones", async () => {
    const node = world.node({ cacheEntriesMax: 10 });
    const made = [];
    for (let count = 0; count < 15; count++) made.push(await make());
    for (const { secret } of made) await node.authenticate(secret);
    expect(node.cachedCount).toBe(10);
    for (let count = 0; count < 40; count++)
      await refusalOf(() => node.authenticate(`sk-made-up-${String(count).padStart(20, "0")}`));
    expect(node.cachedCount).toBe(20);
    expect(atOnce(node, made.at(-1)?.secret ?? "").accountId).toBe("acme");
    // A key that fell out and came back is still forgotten as one.
    const first = made[0];
    if (first === undefined) throw new Error("nothing was made");
    await node.authenticate(first.secret);
    await world.keys.revoke(first.key.id, TEST_ACT);
    expect((await refusalOf(() => node.authenticate(first.secret))).reason).toBe("ERROR_REASON_KEY_REVOKED");
  });

  test("knows whose key a secret was for long after its caller is forgotten, and nothing of others", async () => {
    const { key, secret } = await make();
    const later = await make();
    expect(world.keys.knownAccount(secret)).toBeUndefined();
    await world.keys.authenticate(secret);
    world.clock.nowMs += 3_600_000;
    await world.keys.authenticate(later.secret);
    expect(world.keys.cachedCount).toBe(1);
    expect([secret, later.secret].map((known) => world.keys.knownAccount(known))).toEqual(["acme", "acme"]);
    await world.keys.revoke(key.id, TEST_ACT);
    expect((await refusalOf(() => world.keys.authenticate(secret))).reason).toBe("ERROR_REASON_KEY_REVOKED");
    expect([FOREIGN, "password", ""].map((made) => world.keys.knownAccount(made))).toEqual(Array(3).fill(undefined));
  });

  test("knows the other keys of an account after one of them is forgotten", async () => {
    const [one, other] = [await make(), await make()];
    for (const { secret } of [one, other]) await world.keys.authenticate(secret);
    await world.keys.update(one.key.id, settingsOf({ name: "changed" }), ["name"], { act: TEST_ACT });
    await world.store.accounts.setSettings("acme", { tokensPerMinute: 7n }, "", TEST_ACT);
    await world.keys.publishAccount("acme");
    expect((await world.keys.authenticate(other.secret)).accountLimits).toMatchObject({ tokensPerMinute: 7n });
  });

  test("reads a secret that goes from key to key three times, and then under no revision", async () => {
    const [one, other] = [await make(), await make()];
    const rows = [await world.store.keys.get(one.key.id), await world.store.keys.get(other.key.id)];
    const [first, second] = rows;
    if (first === undefined || second === undefined) throw new Error("no key was made");
    second.digest.set(first.digest);
    let reads = 0;
    const keys = { ...world.store.keys, findByDigest: async () => rows[reads++ % 2] };
    const shared = { isShared: true, onRevision: () => undefined, revisionsOf: async () => undefined };
    const node = world.node({
      store: { ...world.store, keys },
      coordination: { ...world.coordination, ...shared },
    });
    const { keyId, revisions } = await node.authenticate(one.secret);
    expect([keyId, revisions, reads]).toEqual([one.key.id, undefined, 3]);
  });

  test("does not keep secrets that are no longer used", async () => {
    for (let count = 0; count < 5; count++) await world.keys.authenticate((await make()).secret);
    await refusalOf(() => world.keys.authenticate(FOREIGN));
    const { secret } = await make();
    await world.keys.authenticate(secret);
    world.clock.nowMs += 60_000;
    await world.keys.authenticate(secret);
    expect(world.keys.cachedCount).toBe(1);
  });

  test("refuses more than 1,024 lookups at once", async () => {
    const gate = new Gate();
    world.watched.gate = gate;
    const secretAt = (count: number) => `sk-made-up-${String(count).padStart(20, "0")}`;
    const lookups = Array.from({ length: 1_024 }, (_, count) =>
      refusalOf(() => world.keys.authenticate(secretAt(count))),
    );
    expect((await refusalOf(() => world.keys.authenticate(FOREIGN))).reason).toBe("ERROR_REASON_OVERLOADED");
    gate.open();
    for (const refusal of await Promise.all(lookups)) expect(refusal.reason).toBe("ERROR_REASON_KEY_INVALID");
    expect((await refusalOf(() => world.keys.authenticate(FOREIGN))).reason).toBe("ERROR_REASON_KEY_INVALID");
  });
});

describe("a rotation", () => {
  const inGrace = "the old secret during the grace";

  test(`takes the new secret and ${inGrace}, and the old one no longer after it`, async () => {
    const { key, secret } = await make();
    await world.keys.authenticate(secret);
    const rotated = await world.keys.rotate(key.id, 60, TEST_ACT);
    expect(rotated.key.id).toBe(key.id);
    expect(rotated.secret).not.toBe(secret);
    expect((await world.keys.authenticate(rotated.secret)).keyId).toBe(key.id);
    world.clock.nowMs += 59_999;
    expect((await world.keys.authenticate(secret)).keyId).toBe(key.id);
    world.clock.nowMs += 1;
    const refusal = await refusalOf(() => world.keys.authenticate(secret));
    expect(refusal.reason).toBe("ERROR_REASON_KEY_EXPIRED");
    expect((await world.keys.authenticate(rotated.secret)).keyId).toBe(key.id);
  });

  test("without a grace ends the old secret at once", async () => {
    const { key, secret } = await make();
    await world.keys.authenticate(secret);
    await world.keys.rotate(key.id, 0, TEST_ACT);
    expect((await refusalOf(() => world.keys.authenticate(secret))).reason).toBe("ERROR_REASON_KEY_EXPIRED");
  });

  test("ends the secret before the last, and a revocation ends both that are left", async () => {
    const { key, secret } = await make();
    const second = await world.keys.rotate(key.id, 600, TEST_ACT);
    const third = await world.keys.rotate(key.id, 600, TEST_ACT);
    expect((await refusalOf(() => world.keys.authenticate(secret))).reason).toBe("ERROR_REASON_KEY_INVALID");
    await world.keys.authenticate(second.secret);
    await world.keys.revoke(key.id, TEST_ACT);
    for (const { secret: ended } of [second, third])
      expect((await refusalOf(() => world.keys.authenticate(ended))).reason).toBe("ERROR_REASON_KEY_REVOKED");
  });

  test("never outlives the key's own end", async () => {
    const { key, secret } = await make({ expireTime: new Date(START_MS + 5_000) });
    await world.keys.rotate(key.id, 600, TEST_ACT);
    world.clock.nowMs += 5_000;
    expect((await refusalOf(() => world.keys.authenticate(secret))).reason).toBe("ERROR_REASON_KEY_EXPIRED");
  });
});

test("another root secret knows none of the keys", async () => {
  const { secret } = await make();
  const node = world.node({ rootSecret: Buffer.concat([ROOT_SECRET, Buffer.from("!")]) });
  expect((await refusalOf(() => node.authenticate(secret))).reason).toBe("ERROR_REASON_KEY_INVALID");
});

test("limits of an account reach its keys without the store, and a change of them at once", async () => {
  const { secret } = await make();
  const other = await world.keys.create({ accountId: "other", settings: undefined }, TEST_ACT);
  expect((await world.keys.authenticate(secret)).accountLimits).toBeUndefined();
  const elsewhere = await world.keys.authenticate(other.secret);
  const modelLimits = [{ model: "gpt-*", requestsPerMinute: 3n, tokensPerMinute: 0n, concurrency: 0n }];
  await world.store.accounts.setSettings("acme", { tokensPerMinute: 7n, modelLimits }, "", TEST_ACT);
  await world.keys.publishAccount("acme");
  const changed = await world.keys.authenticate(secret);
  expect(changed.accountLimits).toMatchObject({ tokensPerMinute: 7n, requestsPerMinute: 0n, models: modelLimits });
  expect(changed.accountLimits?.models.map((limit) => [limit.matches("gpt-5"), limit.matches("o4")])).toEqual([
    [true, false],
  ]);
  expect(atOnce(world.keys, secret)).toBe(changed);
  expect(atOnce(world.keys, other.secret)).toBe(elsewhere);
  world.clock.nowMs += 31_000;
  expect(await world.keys.authenticate(secret)).toBe(changed);
});
