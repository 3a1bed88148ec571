/** A key that is changed again and again does not fill the store's queue with looks at who is watched under it. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { Cancellation } from "../../src/api/cancellation.js";
import { Watches } from "../../src/keys/watches.js";
import { TEST_ACT } from "../support/acts.js";
import { openWorld, refusalOf, type World } from "./key-world.js";

let world: World;
beforeEach(async () => {
  world = await openWorld();
});
afterEach(() => world.close());

test("each is looked at once at a time, and once more after the last change", async () => {
  const { key, secret } = await world.keys.create({ accountId: "acme", settings: undefined }, TEST_ACT);
  const caller = await world.keys.authenticate(secret);
  let reads = 0;
  const { accounts, keys } = world.store;
  const counted = {
    get: (id: string) => {
      reads += 1;
      return keys.get(id);
    },
  };
  const watches = new Watches({ accounts, keys: { ...keys, ...counted } }, () => world.clock.nowMs);
  const watched = watches.watch(caller, new Cancellation());
  const refusal = refusalOf(() => watched);
  for (let count = 0; count < 1_000; count++) watches.changed({ keyId: key.id });
  await world.keys.revoke(key.id, TEST_ACT);
  watches.changed({ keyId: key.id });
  expect((await refusal).reason).toBe("ERROR_REASON_KEY_REVOKED");
  expect(reads).toBeLessThanOrEqual(3);
});
