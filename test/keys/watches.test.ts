/** A key that is changed again and again does not fill the store's queue with looks at who is watched under it. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Cancellation } from "../../src/base/cancellation.js";
import { Watches } from "../../src/keys/watches.js";
import { TEST_ACT } from "../support/acts.js";
import { openWorld, refusalOf, settingsOf, START_MS, type World } from "./key-world.js";

let world: World;
beforeEach(async () => {
  world = await openWorld();
});
afterEach(() => world.close());

test("each is looked at once at a time, and once more after the last change", async () => {
  const { key, secret } = await world.keys.create({ accountId: "acme", settings: undefined }, TEST_ACT);
  const caller = await world.keys.authenticate(secret);
  let reads = 0;
  const { accounts, keys, people } = world.store;
  const counted = {
    get: (id: string) => {
      reads += 1;
      return keys.get(id);
    },
  };
  const watches = new Watches({ accounts, people, keys: { ...keys, ...counted } }, () => world.clock.nowMs);
  const watched = watches.watch(caller, new Cancellation());
  const refusal = refusalOf(() => watched);
  for (let count = 0; count < 1_000; count++) watches.changed({ keyId: key.id });
  await world.keys.revoke(key.id, TEST_ACT);
  watches.changed({ keyId: key.id });
  expect((await refusal).reason).toBe("ERROR_REASON_KEY_REVOKED");
  expect(reads).toBeLessThanOrEqual(3);
});

test.each([
  { name: "within a day", lifeMs: 5_000, waitsMs: [5_000] },
  { name: "later than a timer can wait", lifeMs: 2_147_483_647 + 9_000, waitsMs: [2_147_483_647, 9_000] },
])("a watch ends with a key that expires $name, and waits until then", async ({ lifeMs, waitsMs }) => {
  const settings = settingsOf({ expireTime: new Date(START_MS + lifeMs) });
  const { secret } = await world.keys.create({ accountId: "acme", settings }, TEST_ACT);
  const caller = await world.keys.authenticate(secret);
  const delays: number[] = [];
  const watches = new Watches(world.store, () => world.clock.nowMs);
  const setTimer = vi.spyOn(globalThis, "setTimeout");
  const waited = (): number[] => setTimer.mock.calls.flatMap(([, ms]) => (waitsMs.includes(ms ?? 0) ? [ms ?? 0] : []));
  let isOver = false;
  const refusal = refusalOf(() => watches.watch(caller, new Cancellation())).finally(() => (isOver = true));
  for (const waitMs of waitsMs) {
    delays.push(waitMs);
    await vi.waitFor(() => expect(waited()).toEqual(delays), { timeout: 60_000 });
    expect(isOver).toBe(false);
    world.clock.nowMs += waitMs;
    // The timer, which the test does not wait for.
    const look = setTimer.mock.calls.findLast(([, ms]) => ms === waitMs)?.[0];
    look?.();
  }
  expect((await refusal).reason).toBe("ERROR_REASON_KEY_EXPIRED");
  setTimer.mockRestore();
});
