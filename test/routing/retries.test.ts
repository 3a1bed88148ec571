/** How often a request is tried, how long the pauses are, and how long a target is skipped, by its settings. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Cancellation } from "../../src/base/cancellation.js";
import { DEFAULT_RETRIES, type Retries } from "../../src/base/retries.js";
import { GatewayError } from "../../src/base/errors.js";
import { REQUEST_TIMEOUTS } from "../../src/routing/deadline.js";
import { Routing } from "../../src/routing/routing.js";
import type { Target } from "../../src/routing/model.js";
import { retriesOf, timeoutsOf } from "../../src/routing/target-settings.js";
import { wire as chat } from "../../src/wire/openai-chat/index.js";
import { affinity, limiter, promptCaches } from "../support/prompt-caches.js";
import { ScriptedUpstream, type Step } from "./scripted-upstream.js";
import { modelOf, targetOf } from "./served.js";

const nothing = (): void => undefined;
const RECEIVER = { begin: nothing, ended: nothing, watch: nothing, onDrain: nothing, take: () => true };
const BODY = Buffer.from(JSON.stringify({ model: "m", stream: true, messages: [{ role: "user", content: "Hi" }] }));
const FAILS: readonly Step[] = [
  { atMs: 0, head: "application/json", status: 503 },
  { atMs: 0, data: "{}" },
  { atMs: 0, end: true },
];

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

/** Asks a target that always fails; returns how often it was asked, and how long that took. */
async function ask(retries: Partial<Retries> | undefined): Promise<{ requests: number; tookMs: number }> {
  const upstream = new ScriptedUpstream([FAILS]);
  const target = { ...targetOf(upstream, "one"), retries: retries && { ...DEFAULT_RETRIES, ...retries } };
  return { tookMs: await run([target]), requests: upstream.requests };
}

/** Runs a request that fails; resolves with how long that took. */
async function run(targets: readonly Target[]): Promise<number> {
  const routing = new Routing({
    affinity,
    limiter,
    promptCaches,
    nowMs: () => performance.now(),
    random: () => 1,
    timeouts: REQUEST_TIMEOUTS,
    listed: () => undefined,
    onAttempt: nothing,
    onReadOn: nothing,
    onUnknownMember: nothing,
  });
  const request = chat.readRequest({ wire: chat.name, body: BODY, headers: {} });
  const asked = { kind: "chat" as const, acceptWire: chat.name, outputTokensMax: 10, stream: true, candidateCount: 1 };
  const startMs = performance.now();
  const deadline = routing.deadline({}, startMs, Infinity);
  const options = { ...asked, accountId: "acme", strict: false, signal: new Cancellation(), deadline };
  const life = { isOver: false };
  const running = routing
    .run(request, modelOf(targets), options, RECEIVER)
    .catch((error: unknown) => GatewayError.from(error))
    .finally(() => (life.isOver = true));
  while (!life.isOver) await vi.advanceTimersByTimeAsync(10);
  expect(await running).toMatchObject({ metadata: { model: "m" } });
  return performance.now() - startMs;
}

test.each([
  { name: "the defaults", retries: undefined, requests: 3, tookMs: 400 + 800 },
  { name: "one attempt", retries: { attempts: 1 }, requests: 1, tookMs: 0 },
  { name: "two attempts", retries: { attempts: 2 }, requests: 2, tookMs: 400 },
  { name: "a longer pause", retries: { backoffMs: 1_000 }, requests: 3, tookMs: 1_000 + 2_000 },
  { name: "a limit of the pause", retries: { backoffMaxMs: 500 }, requests: 3, tookMs: 400 + 500 },
  // More than three retries at once are not in the budget of an upstream.
  { name: "ten attempts", retries: { attempts: 10, backoffMs: 10 }, requests: 4, tookMs: 10 + 20 + 40 },
])("$name", async ({ retries, requests, tookMs }) => {
  const found = await ask(retries);
  expect(found.requests).toBe(requests);
  expect(found.tookMs).toBeGreaterThanOrEqual(tookMs);
  expect(found.tookMs).toBeLessThan(tookMs + 200);
});

test.each([
  { name: "settings that say nothing", timeouts: {}, atMs: 90_000, lastMs: 120_000 },
  { name: "a first output of its own", timeouts: { firstOutputMs: 110_000 }, atMs: 110_000, lastMs: 110_000 },
])("a silent target is left after $atMs ms while another one can take over: $name", async ({ timeouts, ...want }) => {
  const [first, last] = [new ScriptedUpstream([[]]), new ScriptedUpstream([[]])];
  const said = { timeouts: timeoutsOf(timeouts), retries: retriesOf({ attempts: 2 }) };
  await run([
    { ...targetOf(first, "first"), ...said },
    { ...targetOf(last, "last", { priority: 2 }), ...said },
  ]);
  const [firstMs = 0, lastMs = 0] = [first.abortsMs[0], last.abortsMs[0]];
  expect(Math.round(firstMs / 1_000)).toBe(want.atMs / 1_000);
  expect(Math.round((lastMs - firstMs) / 1_000)).toBe(want.lastMs / 1_000);
});

test("the narrowest settings hold, one by one", () => {
  const found = retriesOf({ attempts: 2, backoffMs: 100 }, undefined, { attempts: 4 });
  expect(found).toEqual({ ...DEFAULT_RETRIES, attempts: 4, backoffMs: 100 });
});

test.each([
  { askedMs: 20_000, coolDownMaxMs: undefined, cools: 20_000 },
  { askedMs: 3_600_000, coolDownMaxMs: undefined, cools: 300_000 },
  { askedMs: 3_600_000, coolDownMaxMs: 10_000, cools: 10_000 },
])("a rate limit of $askedMs ms with a limit of $coolDownMaxMs cools for $cools ms", ({ askedMs, cools, ...rest }) => {
  const { health } = targetOf(new ScriptedUpstream([]), "one");
  health.rateLimited({ nowMs: 0, token: health.begin(0, "acme"), accountId: "acme", ...rest }, askedMs);
  expect(health.admits(cools - 1, "acme")).toBe(false);
  expect(health.admits(cools, "acme")).toBe(true);
});

test("a later answer that asks for more time lengthens a cool-down, and none shortens it", () => {
  const { health } = targetOf(new ScriptedUpstream([]), "one");
  const tokens = [0, 1, 2].map(() => health.begin(0, "acme"));
  const asked = [5_000, 30_000, 1_000];
  for (const [place, token] of tokens.entries())
    health.rateLimited({ nowMs: 1_000 * place, token, accountId: "acme" }, asked[place]);
  expect(health.admits(30_999, "acme")).toBe(false);
  expect(health.admits(31_000, "acme")).toBe(true);
});

test("a shorter wait that another account met holds back all, and does not shorten the first account's", () => {
  const { health } = targetOf(new ScriptedUpstream([]), "one");
  const limit = (accountId: string, token: number, askedMs: number): void =>
    health.rateLimited({ nowMs: 0, token, accountId }, askedMs);
  const [first, second] = [health.begin(0, "acme"), health.begin(0, "bolt")];
  limit("acme", first, 60_000);
  limit("bolt", second, 5_000);
  const admitted = (nowMs: number) => ["acme", "bolt", "third"].map((account) => health.admits(nowMs, account));
  expect(admitted(4_999)).toEqual([false, false, false]);
  expect(admitted(5_000)).toEqual([false, true, true]);
  expect(health.waitMs(5_000, "acme")).toBe(55_000);
  expect(admitted(60_000)).toEqual([true, true, true]);
});
