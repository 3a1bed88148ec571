/** Which callers a change concerns, and which of their running requests end with it. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Caller } from "../../src/keys/caller.js";
import { type Change, changeOf, concerns, endingOf } from "../../src/keys/endings.js";
import { TEST_ACT } from "../support/acts.js";
import { openWorld, settingsOf, START_MS, type World } from "./key-world.js";

let world: World;
beforeEach(async () => {
  world = await openWorld();
});
afterEach(() => world.close());

async function callerWith(some: Parameters<typeof settingsOf>[0] = {}, makerId?: string): Promise<Caller> {
  const wish = { accountId: "acme", settings: settingsOf(some), makerId };
  return world.keys.authenticate((await world.keys.create(wish, TEST_ACT)).secret);
}

test("a change concerns the keys under it, and those of its account", async () => {
  const maker = await callerWith();
  const caller = await callerWith({}, maker.keyId);
  const isConcerned = (change: Change): boolean => concerns(change, caller);
  expect(
    [undefined, caller.keyId, maker.keyId, "key_9", "account:acme", "account:other", "user:acme"].map((name) => {
      const change = changeOf(name);
      return [Object.keys(change)[0], isConcerned(change)];
    }),
  ).toEqual([
    ["any", true],
    ["keyId", true],
    ["keyId", true],
    ["keyId", false],
    ["accountId", true],
    ["accountId", false],
    ["userId", false],
  ]);
});

describe("running requests", () => {
  const endsMs = START_MS + 5_000;
  const expireTime = new Date(endsMs);
  const reasonAt = async (caller: Caller, nowMs = START_MS): Promise<[string | undefined, number]> => {
    const { error, atMs } = await endingOf(caller, world.store, nowMs);
    return [error?.reason, atMs];
  };

  test.each([
    { name: "never end where nothing ends them", some: {}, nowMs: START_MS, want: [undefined, Infinity] },
    { name: "outlive their key's expiry", some: { expireTime }, nowMs: endsMs, want: [undefined, Infinity] },
    {
      name: "end at their key's expiry where it says so",
      some: { expireTime, endStreamsOnExpiry: true },
      nowMs: endsMs - 1,
      want: [undefined, endsMs],
    },
    {
      name: "are over from their key's expiry on",
      some: { expireTime, endStreamsOnExpiry: true },
      nowMs: endsMs,
      want: ["ERROR_REASON_KEY_EXPIRED", 0],
    },
  ])("$name", async ({ some, nowMs, want }) => {
    expect(await reasonAt(await callerWith(some), nowMs)).toEqual(want);
  });

  test.each([
    { name: "end with a revocation", endStreamsOnRevoke: undefined, want: ["ERROR_REASON_KEY_REVOKED", 0] },
    { name: "outlive one where their key says so", endStreamsOnRevoke: false, want: [undefined, Infinity] },
  ])("$name", async ({ endStreamsOnRevoke, want }) => {
    const caller = await callerWith(endStreamsOnRevoke === undefined ? {} : { endStreamsOnRevoke });
    await world.keys.revoke(caller.keyId, TEST_ACT);
    expect(await reasonAt(caller)).toEqual(want);
  });

  test.each([
    { endsStreams: true, want: ["ERROR_REASON_ACCOUNT_FROZEN", 0] },
    { endsStreams: false, want: [undefined, Infinity] },
  ])("end with their account's freeze: $endsStreams, as it says", async ({ endsStreams, want }) => {
    const caller = await callerWith();
    const freeze = { timeMs: START_MS, reason: "unpaid", actor: "key_op", endsStreams };
    await world.store.accounts.setFreeze("acme", freeze, TEST_ACT);
    expect(await reasonAt(caller)).toEqual(want);
  });
});
