/** Whoever is let in for longer than one request is watched, and hears at once when the key may ask no more. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { Cancellation } from "../../../src/base/cancellation.js";
import { FrontServiceService } from "../../../src/api/index.js";
import { GatewayError } from "../../../src/base/errors.js";
import { openWorld, settingsOf, type World } from "../../keys/key-world.js";
import { openCore, type OpenCore } from "../open-core.js";
import { TEST_ACT } from "../../support/acts.js";

let world: World;
let core: OpenCore;
beforeEach(async () => {
  world = await openWorld();
  core = await openCore({ keys: world.keys, nowMs: () => world.clock.nowMs });
});
afterEach(async () => {
  await core.close();
  await world.close();
});

interface Watched {
  readonly id: string;
  readonly gone: Cancellation;
  /** The reason of its end. */
  readonly ended: Promise<string>;
}

async function watch(expireTime?: Date): Promise<Watched> {
  const { key, secret } = await world.keys.create(
    {
      accountId: "acme",
      settings: settingsOf(expireTime === undefined ? {} : { expireTime }),
      secret: undefined,
    },
    TEST_ACT,
  );
  const gone = new Cancellation();
  const call = { metadata: { authorization: `Bearer ${secret}` }, signal: gone, peer: "", local: true };
  const sink = { head: () => undefined, data: () => true, onDrain: () => undefined };
  const ended = core.dispatcher
    .stream(FrontServiceService.watchCaller, {}, call, sink)
    .then((outcome) => (outcome.kind === "refused" ? outcome.error.reason : "ended"));
  return { id: key.id, gone, ended };
}

test.each([
  {
    name: "the key is revoked",
    act: (id: string) => world.keys.revoke(id, TEST_ACT),
    want: "ERROR_REASON_KEY_REVOKED",
  },
  {
    name: "another node revokes it",
    act: (id: string) => world.node().revoke(id, TEST_ACT),
    want: "ERROR_REASON_KEY_REVOKED",
  },
])("it ends when $name, and another key's watch goes on", async ({ act, want }) => {
  const [one, other] = [await watch(), await watch()];
  let otherEnded = false;
  void other.ended.then(() => (otherEnded = true));
  await act(one.id);
  expect(await one.ended).toBe(want);
  expect(otherEnded).toBe(false);
  other.gone.abort(new GatewayError("ERROR_REASON_CANCELLED"));
  expect(await other.ended).toBe("ERROR_REASON_CANCELLED");
});

test("it ends when the key expires", async () => {
  const { ended } = await watch(new Date(world.clock.nowMs + 20));
  world.clock.nowMs += 20;
  expect(await ended).toBe("ERROR_REASON_KEY_EXPIRED");
});

test("it ends at once when the process stops, which waits for none of them", async () => {
  const { ended } = await watch();
  await core.dispatcher.drain(60_000);
  expect(await ended).toBe("ERROR_REASON_OVERLOADED");
});
