/** The limits of upstreams on two nodes that share a Redis: both together stay within them. */
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { Cancellation } from "../../src/base/cancellation.js";
import type { TargetLimits } from "../../src/config/settings.js";
import type { Target } from "../../src/routing/model.js";
import { type Full, limitsOf, type TakenLimits, TargetLimiter } from "../../src/routing/target-limiter.js";
import { type Beating, newPrefix, openRedis } from "./drivers.js";
import { REDIS_MISSING, sharedRedis } from "../support/redis-server.js";
import { targetOf } from "../routing/served.js";
import { SlotServer } from "../routing/slot-server.js";

const NONE: TargetLimits = {
  requestsPerMinute: 0,
  tokensPerMinute: 0,
  concurrency: 0,
  queue: undefined,
  budget: undefined,
};
const TOKENS = 100;

let redis: Awaited<ReturnType<typeof sharedRedis>>;
let nodes: readonly Beating[];
let limiters: readonly TargetLimiter[];
let count = 0;
beforeAll(async () => {
  if (REDIS_MISSING !== undefined) return;
  redis = await sharedRedis();
  const nowMs = (): number => performance.now();
  const shared = { prefix: newPrefix(), monotonicMs: nowMs, serverMs: nowMs };
  nodes = await Promise.all([1, 2].map(() => openRedis(redis.url, shared)));
  const spending = { waitMs: () => 0, add: () => undefined };
  limiters = nodes.map((coordination) => new TargetLimiter({ coordination, spending, nowMs }));
});
beforeEach(() => void (count += 1));
afterAll(async () => {
  if (REDIS_MISSING !== undefined) return;
  await Promise.all(nodes.map((node) => node.close()));
  await redis.close();
});

/** The same target on both nodes. No other test has its upstream's name. */
function targetWith(limits: Partial<TargetLimits>): Target {
  const id = `shared-${process.pid}-${count}`;
  const target = targetOf(new SlotServer(() => 0), id);
  return { ...target, limits: limitsOf(id, { ...NONE, ...limits }, "m", undefined, () => 0) };
}

/** Enters at one node after the other, and returns what was taken and what was refused. */
async function enterAll(target: Target, requests: number) {
  const taken: TakenLimits[] = [];
  const full: Full[] = [];
  for (let request = 0; request < requests; request += 1) {
    const limiter = limiters[request % limiters.length];
    const result = await limiter?.enter(target, { tokens: TOKENS });
    if (result === undefined) continue;
    if ("refusedBy" in result) full.push(result);
    else taken.push(result);
  }
  return { taken, full };
}

test.skipIf(REDIS_MISSING !== undefined).each([
  { name: "requests a minute", limits: { requestsPerMinute: 5 }, limit: "requests_per_minute" },
  { name: "tokens a minute", limits: { tokensPerMinute: 5 * TOKENS }, limit: "tokens_per_minute" },
  { name: "requests at once", limits: { concurrency: 5 }, limit: "concurrency" },
])("$name are those of both nodes together", async ({ limits, limit }) => {
  const target = targetWith(limits);
  const { taken, full } = await enterAll(target, 12);
  expect(taken).toHaveLength(5);
  expect(full.map((one) => one.limit)).toEqual(Array.from({ length: 7 }, () => limit));
  for (const one of taken) one.giveBack();
});

test.skipIf(REDIS_MISSING !== undefined)(
  "a request that waits on one node takes the place that another node frees",
  async () => {
    const target = targetWith({ concurrency: 1, queue: { length: 1, waitMs: 10_000 } });
    const { taken, full } = await enterAll(target, 2);
    const [, waiting] = limiters;
    const entering = { accountId: "acme", tokens: TOKENS, leftMs: 10_000, signal: new Cancellation() };
    const entered = waiting?.wait(full, entering, () => undefined);
    taken[0]?.giveBack();
    expect((await entered)?.target).toBe(target);
    (await entered)?.taken?.giveBack();
  },
);
