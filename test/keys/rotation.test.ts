/** The root secret is rotated: two are in force at once, and no key is refused on any node at any step. */
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Keys } from "../../src/keys/keys.js";
import { openWorld, refusalOf, ROOT_SECRET, settingsOf, type World } from "./key-world.js";
import { TEST_ACT } from "../support/acts.js";

const NEW_SECRET = Buffer.from("another root secret of at least 32 characters");
const OLD = { rootSecret: ROOT_SECRET };
const TOLD = { rootSecret: ROOT_SECRET, nextSecret: NEW_SECRET };
const TAKING_OVER = { rootSecret: NEW_SECRET, previousSecret: ROOT_SECRET };
const NEW = { rootSecret: NEW_SECRET };
const PATIENT = { timeout: 60_000, interval: 10 };

let world: World;
beforeEach(async () => {
  world = await openWorld();
});
afterEach(() => world.close());

const make = async (keys: Keys, secret?: string) =>
  keys.create({ accountId: "acme", settings: settingsOf({ name: "some" }), secret }, TEST_ACT);

async function reasonOf(keys: Keys, secret: string): Promise<string> {
  return (await refusalOf(() => keys.authenticate(secret))).reason;
}

test("three nodes rotate one after the other under load, and no request is refused", async () => {
  const nodes = [OLD, OLD, OLD].map((secrets) => world.node(secrets));
  const made = await Promise.all(Array.from({ length: 40 }, () => make(nodes[0]!)));
  let asked = 0;
  const load = { running: true };
  const callers = nodes.map(async (_, place) => {
    for (let turn = place; load.running; turn += 7) {
      const { key, secret } = made[turn % made.length]!;
      expect((await nodes[place]!.authenticate(secret)).keyId).toBe(key.id);
      asked += 1;
      if (turn % 3 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
  });
  for (const secrets of [TOLD, TAKING_OVER]) {
    for (const place of nodes.keys()) {
      nodes[place] = world.node(secrets);
      const until = asked + 300;
      await expect.poll(() => asked >= until, PATIENT).toBe(true);
      // A key that is made meanwhile is known on all of them, too.
      made.push(await make(nodes[place]!));
    }
  }
  await expect.poll(() => nodes[0]!.leftBehind(), PATIENT).toEqual([]);
  for (const place of nodes.keys()) {
    nodes[place] = world.node(NEW);
    const until = asked + 300;
    await expect.poll(() => asked >= until, PATIENT).toBe(true);
  }
  load.running = false;
  await Promise.all(callers);
  for (const { secret } of made) expect(await reasonOf(world.node(OLD), secret)).toBe("ERROR_REASON_KEY_INVALID");
});

test("a key that is not used keeps its old digest, is counted, and ends with the old secret", async () => {
  const used = await make(world.keys);
  const idle = await make(world.keys);
  const revoked = await make(world.keys);
  await world.keys.revoke(revoked.key.id, TEST_ACT);
  const node = world.node(TAKING_OVER);
  expect((await node.leftBehind()).toSorted()).toEqual([used.key.id, idle.key.id].toSorted());
  await node.authenticate(used.secret);
  await expect.poll(() => node.leftBehind(), PATIENT).toEqual([idle.key.id]);
  const last = world.node(NEW);
  expect((await last.authenticate(used.secret)).keyId).toBe(used.key.id);
  expect(await reasonOf(last, idle.secret)).toBe("ERROR_REASON_KEY_INVALID");
  expect(await last.leftBehind()).toEqual([idle.key.id]);
});

test("the secret before a key's own rotation is rewritten as well, and keeps its grace", async () => {
  const first = await make(world.keys);
  const second = await world.keys.rotate(first.key.id, 600, TEST_ACT);
  const node = world.node(TAKING_OVER);
  for (const secret of [first.secret, second.secret]) {
    expect((await node.authenticate(secret)).keyId).toBe(first.key.id);
    world.clock.nowMs += 31_000;
  }
  await expect.poll(() => node.leftBehind(), PATIENT).toEqual([]);
  const last = world.node(NEW);
  for (const secret of [first.secret, second.secret])
    expect((await last.authenticate(secret)).keyId).toBe(first.key.id);
  world.clock.nowMs += 600_000;
  expect(await reasonOf(last, first.secret)).toBe("ERROR_REASON_KEY_EXPIRED");
});

test.each([
  { name: "while nodes are told of the next", secrets: TOLD },
  { name: "while the one before is taken over", secrets: TAKING_OVER },
])("no second key is made of a secret that another node's digest has, $name", async ({ secrets }) => {
  const secret = "sk-seeded-elsewhere-0123456789";
  const other = world.node(secrets === TOLD ? TAKING_OVER : OLD);
  const { key } = await make(other, secret);
  const node = world.node(secrets);
  const refusal = await refusalOf(() => make(node, secret));
  expect(refusal.reason).toBe("ERROR_REASON_ALREADY_EXISTS");
  expect((await node.ensureSeed({ accountId: "acme", secret, settings: undefined }, TEST_ACT)).id).toBe(key.id);
  const { row } = await node.seedRow({ accountId: "acme", settings: undefined }, secret);
  expect(Buffer.from(row.digest)).toEqual(Buffer.from((await world.store.keys.get(key.id))!.digest));
});

test.each(["seedRow", "ensureSeed"] as const)("a key of the settings file stays the same key, by %s", async (by) => {
  const secret = "sk-of-the-settings-file-0123456789";
  const { key } = await make(world.keys, secret);
  const load = (node: Keys): Promise<unknown> =>
    by === "seedRow"
      ? node.seedRow({ accountId: "acme", settings: undefined }, secret)
      : node.ensureSeed({ accountId: "acme", secret, settings: undefined }, TEST_ACT);
  const node = world.node(TAKING_OVER);
  await load(node);
  expect(await node.leftBehind()).toEqual([]);
  expect((await world.node(NEW).authenticate(secret)).keyId).toBe(key.id);
});

test("a digest that is rewritten while another request looks for it is found all the same", async () => {
  const { key, secret } = await make(world.keys);
  const node = world.node(TAKING_OVER);
  const digests: number[] = [];
  const { findByDigest } = world.store.keys;
  world.store.keys.findByDigest = async (digest) => {
    digests.push(digest.length);
    // Another node comes between this one's first look and its second.
    if (digests.length === 2) {
      await world.node(TAKING_OVER).authenticate(secret);
      await expect.poll(() => node.leftBehind(), PATIENT).toEqual([]);
    }
    return findByDigest(digest);
  };
  expect((await node.authenticate(secret)).keyId).toBe(key.id);
});

test("a rewrite that fails leaves the key in use, and the next look at it tries again", async () => {
  const failed: string[] = [];
  const { key, secret } = await make(world.keys);
  const node = world.node({ ...TAKING_OVER, onRewriteError: (_, id) => failed.push(id) });
  world.watched.beforeReplace = () => Promise.reject(new Error("the disk is away"));
  expect((await node.authenticate(secret)).keyId).toBe(key.id);
  await expect.poll(() => failed, PATIENT).toEqual([key.id]);
  expect(await node.leftBehind()).toHaveLength(1);
  world.clock.nowMs += 31_000;
  expect((await node.authenticate(secret)).keyId).toBe(key.id);
  await expect.poll(() => node.leftBehind(), PATIENT).toEqual([]);
});
