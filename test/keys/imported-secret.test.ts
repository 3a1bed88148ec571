/** A secret that another gateway stores as its SHA-256 is imported and works; its first use replaces the digest. */
import { createHash } from "node:crypto";
import { afterEach, beforeEach, expect, test } from "vitest";
import { importedSecretOf } from "../../src/keys/imported-secret.js";
import type { Keys } from "../../src/keys/keys.js";
import { FOREIGN, openWorld, refusalOf, ROOT_SECRET, settingsOf, type World } from "./key-world.js";
import { TEST_ACT } from "../support/acts.js";

const PATIENT = { timeout: 60_000, interval: 10 };
const NEW_SECRET = Buffer.from("another root secret of at least 32 characters");

let world: World;
beforeEach(async () => {
  world = await openWorld();
});
afterEach(() => world.close());

const sha256 = (secret: string): string => createHash("sha256").update(secret).digest("hex");
const importKey = async (keys: Keys, secret: string, hint = "") =>
  keys.create(
    {
      accountId: "acme",
      settings: settingsOf({ name: "from elsewhere" }),
      imported: importedSecretOf(sha256(secret), hint),
    },
    TEST_ACT,
  );
const reasonOf = async (run: () => Promise<unknown>): Promise<string> => (await refusalOf(run)).reason;

test("the client's secret opens its key, on every node, and is then stored as a secret of this gateway", async () => {
  const { key, secret } = await importKey(world.keys, FOREIGN, "sk-...6789");
  expect({ secret, hint: key.hint, isImported: key.secretImported }).toEqual({
    secret: "",
    hint: "sk-...6789",
    isImported: true,
  });
  const nodes = [world.node(), world.node()];
  const callers = await Promise.all(nodes.map((node) => node.authenticate(FOREIGN)));
  expect(callers.map(({ keyId }) => keyId)).toEqual([key.id, key.id]);
  await expect.poll(async () => (await world.keys.get(key.id)).secretImported, PATIENT).toBe(false);
  expect((await world.node().authenticate(FOREIGN)).keyId).toBe(key.id);
});

test("a second import makes no second key, before and after the first use", async () => {
  const { key } = await importKey(world.keys, FOREIGN);
  expect(await reasonOf(() => importKey(world.node(), FOREIGN))).toBe("ERROR_REASON_ALREADY_EXISTS");
  await world.keys.authenticate(FOREIGN);
  await expect.poll(async () => (await world.keys.get(key.id)).secretImported, PATIENT).toBe(false);
  expect(await reasonOf(() => importKey(world.node(), FOREIGN))).toBe("ERROR_REASON_ALREADY_EXISTS");
  const whole = { accountId: "acme", settings: undefined, secret: FOREIGN };
  expect(await reasonOf(() => world.keys.create(whole, TEST_ACT))).toBe("ERROR_REASON_ALREADY_EXISTS");
});

test("a key whose secret was rotated away is not brought back by a second import", async () => {
  const { key } = await importKey(world.keys, FOREIGN);
  await world.keys.rotate(key.id, 0, TEST_ACT);
  expect(await reasonOf(() => importKey(world.keys, FOREIGN))).toBe("ERROR_REASON_ALREADY_EXISTS");
  expect(await reasonOf(async () => world.node().authenticate(FOREIGN))).toBe("ERROR_REASON_KEY_EXPIRED");
});

test("a rotation of the root secret ends no imported key", async () => {
  const { key } = await importKey(world.keys, FOREIGN);
  const rotating = world.node({ rootSecret: NEW_SECRET, previousSecret: ROOT_SECRET });
  expect(await rotating.leftBehind()).toEqual([]);
  expect((await world.node({ rootSecret: NEW_SECRET }).authenticate(FOREIGN)).keyId).toBe(key.id);
});

test.each(["sk-1234", "sk-fifteen-chars", "no-prefix-0123456789abcdef"])(
  "the weak or foreign form %s opens nothing although its digest was imported",
  async (secret) => {
    await importKey(world.keys, secret);
    expect(await reasonOf(async () => world.node().authenticate(secret))).toBe("ERROR_REASON_KEY_INVALID");
  },
);

test("the digest itself is no secret", async () => {
  await importKey(world.keys, FOREIGN);
  for (const guess of [sha256(FOREIGN), `sk-${sha256(FOREIGN)}`])
    expect(await reasonOf(async () => world.node().authenticate(guess))).toBe("ERROR_REASON_KEY_INVALID");
});

test.each([
  ["", ""],
  ["abc", ""],
  [`${"g".repeat(64)}`, ""],
  ["ab".repeat(32), "x".repeat(21)],
  ["ab".repeat(32), "sk-\n"],
])("%j with the hint %j is refused", (digest, hint) => {
  expect(() => importedSecretOf(digest, hint)).toThrow(/must be/);
});
