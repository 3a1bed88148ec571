/** gRPC calls where there is too much to do: they wait before their key is looked at, and are refused or begun. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { InferenceServiceService, KeyServiceService } from "../../../src/api/index.js";
import type { Channel } from "../../../src/api/channel.js";
import { createRemoteChannel } from "../../../src/rpc/transport/remote-channel.js";
import type { ServerCall } from "../../../src/rpc/call/server-call.js";
import { FullQueue, OVERLOADED } from "../../support/full-queue.js";
import { type Running, serve } from "../dynamic-client.js";
import { withKey } from "../edges.js";
import { FRONT_TOKEN, openCore, type OpenCore } from "../open-core.js";
import { untilTunnelled, watched } from "../tunnel-peer.js";

const ASKED = {
  generation: { model: "echo", input: undefined, outputTokensMax: undefined, clamp: false },
  acceptWire: "",
};

let core: OpenCore;
let secret = "";
let queue: FullQueue;
let running: Running;
const calls: ServerCall[] = [];
const channels: Channel[] = [];
beforeEach(async () => {
  core = await openCore();
  ({ secret } = await core.makeKey("acme"));
  queue = new FullQueue();
  queue.isFree = true;
  calls.length = 0;
  running = await serve({ ...core, dispatcher: watched(core.dispatcher, calls) as OpenCore["dispatcher"] }, { queue });
});
afterEach(async () => {
  for (const channel of channels.splice(0)) await channel.close();
  await running.drain(0);
  await core.close();
});

/** Its key is remembered, and its connection or tunnel is open. */
async function opened(way: "by itself" | "over a tunnel"): Promise<Channel> {
  const frontToken = way === "over a tunnel" ? FRONT_TOKEN : undefined;
  const channel = createRemoteChannel({ address: running.address, frontToken });
  channels.push(channel);
  if (frontToken === undefined) await channel.unary(KeyServiceService.getCaller, {}, withKey(secret));
  else await untilTunnelled(channel, calls, secret);
  queue.isFree = false;
  return channel;
}

describe.each(["by itself", "over a tunnel"] as const)("a call that comes %s", (way) => {
  test("waits in the queue of its account, and is refused with a time to wait", async () => {
    const channel = await opened(way);
    const asked = channel.unary(InferenceServiceService.generate, ASKED, withKey(secret));
    const refused = expect(asked).rejects.toMatchObject({ reason: "ERROR_REASON_OVERLOADED", retryAfterMs: 3_000 });
    await expect.poll(() => queue.waiting.length).toBe(1);
    expect(queue.waiting[0]?.account).toBe("acme");
    const before = calls.length;
    queue.waiting[0]?.request.refuse(OVERLOADED);
    await refused;
    expect(calls).toHaveLength(before);
  });

  test("begins when it is its turn", async () => {
    const channel = await opened(way);
    const asked = channel.unary(InferenceServiceService.generate, ASKED, withKey(secret));
    await expect.poll(() => queue.waiting.length).toBe(1);
    queue.waiting[0]?.request.start();
    expect((await asked).message).toBeDefined();
  });
});

test("a key that nobody remembers waits with all others of the kind", async () => {
  const channel = await opened("by itself");
  const asked = channel.unary(KeyServiceService.getCaller, {}, withKey(`sk-${"0".repeat(40)}`));
  const refused = expect(asked).rejects.toMatchObject({ reason: "ERROR_REASON_OVERLOADED" });
  await expect.poll(() => queue.waiting.length).toBe(1);
  expect(queue.waiting[0]?.account).toBe("");
  queue.waiting[0]?.request.refuse(OVERLOADED);
  await refused;
});

test("what our own front ends tell of requests that run waits for nothing", async () => {
  const channel = await opened("over a tunnel");
  await channel.unary(KeyServiceService.getCaller, {}, withKey(secret));
  expect(queue.waiting).toEqual([]);
});
