/** How requests are balanced among equals, in time that the test tells. */
import { expect, test } from "vitest";
import { Price } from "../../src/api/index.js";
import { GatewayError } from "../../src/base/errors.js";
import type { Balance } from "../../src/base/balances.js";
import { balancingOf } from "../../src/routing/balance.js";
import type { Target } from "../../src/routing/model.js";
import { pickTarget } from "../../src/routing/pick.js";
import { RecentMean } from "../../src/routing/target-speed.js";
import { type Random, randomOf } from "../support/random.js";
import { ScriptedUpstream } from "./scripted-upstream.js";
import { targetOf } from "./served.js";

const RATE_PER_SECOND = 20;
const REQUEST = { facts: { textBytes: 100, stream: true } } as Parameters<typeof balancingOf>[1];

const targetsOf = (...weights: readonly number[]): Target[] =>
  weights.map((weight, at) => targetOf(new ScriptedUpstream([]), String(at), { weight }));

interface World {
  readonly balance: Balance;
  readonly targets: readonly Target[];
  readonly latencyMs: (target: Target, nowMs: number) => number;
  readonly random: Random;
}

/** Sends requests from a moment to another one; each ends after its latency. Returns the picks by second and target. */
function send({ balance, targets, latencyMs, random }: World, fromMs: number, toMs: number): Map<string, number>[] {
  const seconds: Map<string, number>[] = [];
  const running: { endMs: number; end: () => void }[] = [];
  for (let nowMs = fromMs; nowMs < toMs; nowMs += 1_000 / RATE_PER_SECOND) {
    for (const one of running.filter(({ endMs }) => endMs <= nowMs)) {
      one.end();
      running.splice(running.indexOf(one), 1);
    }
    const balancing = balancingOf({ balance }, REQUEST, true, random);
    const target = pickTarget(targets, [], nowMs, "acme", random, balancing);
    if (target === undefined) throw new Error("no target is well");
    const second = (seconds[Math.floor((nowMs - fromMs) / 1_000)] ??= new Map());
    second.set(target.served.id, (second.get(target.served.id) ?? 0) + 1);
    // Real answers take longer or shorter by chance.
    const tookMs = latencyMs(target, nowMs) * (0.7 + 0.6 * random());
    target.health.begin(nowMs, "acme");
    const measured = { startMs: nowMs, firstOutputMs: nowMs + tookMs, endMs: nowMs + tookMs };
    const end = (): void => {
      target.health.end();
      target.health.speed?.note({
        ...measured,
        request: REQUEST,
        options: REQUEST.facts,
        usage: undefined,
        error: undefined,
      });
    };
    running.push({ endMs: nowMs + tookMs, end });
  }
  for (const { end } of running) end();
  return seconds;
}

function shareOf(id: string, seconds: readonly Map<string, number>[]): number {
  const sum = (of: (second: Map<string, number>) => number): number => seconds.reduce((all, one) => all + of(one), 0);
  return (
    sum((second) => second.get(id) ?? 0) / sum((second) => [...second.values()].reduce((all, one) => all + one, 0))
  );
}

test.each([1, 2, 3, 4, 5])(
  "a target that gets five times slower has under a twentieth within 60 s, and its share 120 s after: seed %i",
  (seed) => {
    const targets = targetsOf(1, 1, 1);
    const [slow] = targets;
    const latencyMs = (target: Target, nowMs: number): number =>
      target === slow && nowMs >= 300_000 && nowMs < 600_000 ? 1_000 : 200;
    const world = { balance: "latency", targets, latencyMs, random: randomOf(seed) } as const;
    expect(shareOf("0", send(world, 0, 300_000))).toBeGreaterThan(0.28);
    const whileSlow = send(world, 300_000, 600_000);
    expect(shareOf("0", whileSlow.slice(60))).toBeLessThan(0.05);
    const after = send(world, 600_000, 780_000);
    expect(shareOf("0", after.slice(120))).toBeGreaterThan(0.25);
  },
);

test.each(["load", "latency"] as const)(
  "a new target gets at most twice its share from its first second: %s",
  (balance) => {
    const random = randomOf(7);
    const targets = targetsOf(1, 1, 1);
    const latencyMs = (): number => 2_000;
    send({ balance, targets, latencyMs, random }, 0, 60_000);
    const [fresh] = targetsOf(1);
    if (fresh === undefined) throw new Error("it is there");
    const added = { ...fresh, served: { ...fresh.served, id: "new" } };
    const seconds = send({ balance, targets: [...targets, added], latencyMs, random }, 60_000, 120_000);
    for (let start = 0; start < 60; start += 10)
      expect(shareOf("new", seconds.slice(start, start + 10)), `second ${start}`).toBeLessThan(0.5);
    expect(shareOf("new", seconds)).toBeGreaterThan(0.15);
  },
);

test.each(["weight", "latency"] as const)("shares of equal targets are those of their weights: %s", (balance) => {
  const targets = targetsOf(1, 2, 5);
  const seconds = send({ balance, targets, latencyMs: () => 100, random: randomOf(11) }, 0, 1_000_000);
  for (const [at, weight] of [1, 2, 5].entries()) {
    const share = weight / 8;
    expect(Math.abs(shareOf(String(at), seconds) - share)).toBeLessThan(balance === "weight" ? 0.05 * share : 0.05);
  }
});

test("load: the target that answers faster gets more, and a weight counts", () => {
  const latencyMs = ({ served }: Target): number => (served.id === "0" ? 4_000 : 400);
  const seconds = send({ balance: "load", targets: targetsOf(1, 1), latencyMs, random: randomOf(3) }, 0, 60_000);
  expect(shareOf("0", seconds)).toBeLessThan(0.4);
  const heavy = send(
    { balance: "load", targets: targetsOf(1, 4), latencyMs: () => 2_000, random: randomOf(3) },
    0,
    60_000,
  );
  expect(shareOf("1", heavy)).toBeGreaterThan(0.7);
});

test("cost: the cheapest first, by weight among those that cost the same, and the unknown last", () => {
  const priced = (input: bigint): Price => ({
    ...Price.decode(new Uint8Array()),
    inputPicos: input,
    outputPicos: input,
  });
  const costs = [priced(3n), undefined, priced(1n), priced(1n)];
  const targets = targetsOf(1, 1, 1, 1).map((target, at) => Object.assign(target, { cost: costs[at] }));
  const random = randomOf(5);
  const world = { balance: "cost", latencyMs: () => 1, random } as const;
  const seconds = send({ ...world, targets }, 0, 60_000);
  expect(shareOf("2", seconds) + shareOf("3", seconds)).toBe(1);
  expect(shareOf("2", seconds)).toBeGreaterThan(0.4);
  expect(shareOf("0", send({ ...world, targets: targets.slice(0, 2) }, 0, 10_000))).toBe(1);
});

test("a target without a weight gets no new requests, however fast, idle or cheap it is", () => {
  for (const balance of ["load", "latency", "cost"] as const) {
    const world = { balance, targets: targetsOf(0, 1), latencyMs: () => 100, random: randomOf(9) };
    expect(shareOf("0", send(world, 0, 30_000)), balance).toBe(0);
  }
});

test("a mean forgets by time, and knows nothing of few or old measurements", () => {
  const mean = new RecentMean();
  for (let at = 0; at < 4; at += 1) mean.note(100, at * 1_000);
  expect(mean.value(4_000)).toBeUndefined();
  for (let at = 4; at < 100; at += 1) mean.note(100, at * 1_000);
  expect(mean.value(100_000)).toBe(100);
  for (let at = 100; at < 190; at += 1) for (let n = 0; n < 50; n += 1) mean.note(300, at * 1_000);
  expect(mean.value(191_000)).toBeCloseTo(200, -1);
  expect(mean.value(900_000)).toBeUndefined();
});

test("a timeout counts as long as it took, and another failure says nothing", () => {
  const [target] = targetsOf(1);
  const speed = target?.health.measured;
  const failed = (reason: "UPSTREAM_TIMEOUT" | "UPSTREAM_FAILED", at: number): void =>
    speed?.note({
      request: REQUEST,
      options: { stream: true },
      startMs: at,
      firstOutputMs: undefined,
      endMs: at + 5_000,
      usage: undefined,
      error: new GatewayError(`ERROR_REASON_${reason}`),
    });
  for (let at = 0; at < 5; at += 1) failed("UPSTREAM_FAILED", at);
  expect(speed?.of(true, 100).value(6_000)).toBeUndefined();
  for (let at = 0; at < 5; at += 1) failed("UPSTREAM_TIMEOUT", at);
  expect(speed?.of(true, 100).value(6_000)).toBe(5_000);
});
