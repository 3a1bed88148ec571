/** When a target is ejected, for whom, and when it is taken back. */
import { fc } from "../support/seeds.js";
import { describe, expect, test } from "vitest";
import type { EjectionChange } from "../../src/routing/ejection.js";
import { type TargetHealth, UpstreamHealth } from "../../src/routing/upstream-health.js";

const A = "acme";
const B = "bolt";

/** One attempt that fails, from its beginning to its end. */
function fail(health: TargetHealth, nowMs: number, accountId: string, hasAnswered = true): void {
  const token = health.begin(nowMs, accountId);
  health.end();
  health.fail({ nowMs, token, accountId }, hasAnswered);
}

function succeed(health: TargetHealth, nowMs: number, accountId: string): void {
  const token = health.begin(nowMs, accountId);
  health.end();
  health.succeed({ nowMs, token, accountId });
}

/** Fails by turns, so that the failures are of more than one account. */
function failTimes(health: TargetHealth, times: number, nowMs: number): void {
  for (let index = 0; index < times; index += 1) fail(health, nowMs, index % 2 === 0 ? A : B);
}

function model(): TargetHealth {
  return new UpstreamHealth().of("model");
}

describe("failures", () => {
  test("eject a target for 30 s after five in a row, and longer each time", () => {
    const health = model();
    failTimes(health, 4, 0);
    expect(health.state(0)).toBe("healthy");
    failTimes(health, 1, 0);
    expect(health.ownCoolingMs(0)).toBe(30_000);
    expect(health.admits(29_999, A)).toBe(false);
    fail(health, 30_000, A);
    expect(health.ownCoolingMs(30_000)).toBe(60_000);
  });

  test("that began before a target was ejected are not new ones", () => {
    const health = model();
    const began = Array.from({ length: 100 }, (_, index) => health.begin(0, index % 2 === 0 ? A : B));
    failTimes(health, 5, 100);
    for (const [index, token] of began.entries())
      health.fail({ nowMs: 40_000 + index, token, accountId: index % 2 === 0 ? A : B }, true);
    expect(health.ownCoolingMs(100)).toBe(30_000);
    expect(health.ownCoolingMs(40_100)).toBe(0);
  });

  test("that began before are no part of a later share either, however late they come", () => {
    const health = model();
    const began = Array.from({ length: 100 }, (_, index) => health.begin(0, index % 2 === 0 ? A : B));
    failTimes(health, 5, 100);
    for (const [index, token] of began.entries())
      health.fail({ nowMs: 20_000, token, accountId: index % 2 === 0 ? A : B }, true);
    // A probe takes it back before its time, and all is well but for one.
    succeed(health, 20_001, A);
    for (let index = 0; index < 30; index += 1) succeed(health, 20_002, index % 2 === 0 ? A : B);
    fail(health, 20_003, A);
    expect([health.admits(20_004, A), health.admits(20_004, B)]).toEqual([true, true]);
  });

  test("a success between them starts the count anew, one that began before does not", () => {
    const health = model();
    const before = health.begin(0, A);
    failTimes(health, 4, 0);
    succeed(health, 0, A);
    failTimes(health, 4, 0);
    expect(health.state(0)).toBe("healthy");
    failTimes(health, 5, 1);
    health.succeed({ nowMs: 2, token: before, accountId: A });
    expect(health.state(2)).toBe("cooling");
  });

  test("of most of twenty requests ejected it, though never five in a row", () => {
    const health = model();
    for (let index = 0; index < 40; index += 1) {
      if (index % 5 < 2) succeed(health, 0, index % 2 === 0 ? A : B);
      else fail(health, 0, index % 2 === 0 ? A : B);
    }
    expect(health.state(0)).toBe("cooling");
    expect(health.admits(0, "another")).toBe(false);
  });

  test("without an answer are the upstream's, with one the model's", () => {
    const upstream = new UpstreamHealth();
    const [one, other] = [upstream.of("one"), upstream.of("other")];
    failTimes(one, 5, 0);
    expect([one.admits(1, A), other.admits(1, A)]).toEqual([false, true]);
    upstream.reset();
    for (const accountId of [A, B, A, B, A]) fail(one, 0, accountId, false);
    expect([one.admits(1, A), other.admits(1, A)]).toEqual([false, false]);
  });

  test("a client that gave up before anything was visible is one after ten seconds, and nothing before", () => {
    const health = model();
    const giveUp = (waitedMs: number, accountId: string): void =>
      health.abandoned({ nowMs: 0, token: health.begin(0, accountId), accountId }, waitedMs, false);
    for (let index = 0; index < 50; index += 1) giveUp(9_999, index % 2 === 0 ? A : B);
    expect(health.admits(0, A)).toBe(true);
    for (const accountId of [A, B, A, B, A]) giveUp(10_000, accountId);
    expect(health.admits(0, A)).toBe(false);
  });
});

test("an upstream that an operator drains takes no new requests, until it is reset", () => {
  const upstream = new UpstreamHealth();
  const health = upstream.of("model");
  const token = health.begin(0, A);
  upstream.isDrained = true;
  expect([health.admits(0, B), upstream.state(0), health.state(0)]).toEqual([false, "drained", "drained"]);
  // Nobody may probe it, and what runs there teaches as ever.
  expect(health.nextTryMs(0, B)).toBeGreaterThan(0);
  health.succeed({ nowMs: 0, token, accountId: A });
  health.end();
  upstream.reset();
  expect([health.admits(0, B), upstream.state(0), upstream.running]).toEqual([true, "healthy", 0]);
});

describe("one account's requests", () => {
  const EVIDENCE = ["fail", "lost", "credential", "no_funds", "access", "model_unknown", "rate", "left"] as const;

  function meet(health: TargetHealth, what: (typeof EVIDENCE)[number], nowMs: number, accountId: string): void {
    const evidence = { nowMs, token: health.begin(nowMs, accountId), accountId };
    health.end();
    if (what === "fail" || what === "lost") health.fail(evidence, what === "fail");
    else if (what === "rate") health.rateLimited(evidence, 3_600_000);
    else if (what === "left") health.abandoned(evidence, 60_000, false);
    else health.refuse(evidence, what);
  }

  test("never withhold a target from another, whatever they meet, however often", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom(...EVIDENCE), fc.nat(60_000)), { minLength: 1, maxLength: 200 }),
        (steps) => {
          const health = model();
          let nowMs = 0;
          for (const [what, afterMs] of steps) {
            nowMs += afterMs;
            meet(health, what, nowMs, A);
            if (!health.admits(nowMs, B)) return false;
          }
          return true;
        },
      ),
    );
  });

  test.each(EVIDENCE)("what a second account meets too holds for all: %s", (what) => {
    const health = model();
    for (let index = 0; index < 5; index += 1) meet(health, what, 0, A);
    expect([health.admits(1, A), health.admits(1, B)]).toEqual([false, true]);
    meet(health, what, 1, B);
    expect([health.admits(2, A), health.admits(2, B), health.admits(2, "another")]).toEqual([false, false, false]);
  });

  test("cannot lengthen what a second account brings upon all", () => {
    const health = model();
    for (let nowMs = 0; nowMs < 3_600_000; nowMs += 1_000) fail(health, nowMs, A);
    expect(health.ownCoolingMs(3_599_000)).toBeGreaterThan(30_000);
    fail(health, 3_600_000, B);
    expect(health.ownCoolingMs(3_600_000)).toBeLessThanOrEqual(30_000);
  });
});

describe("with nobody else to ask", () => {
  test("a target that is ejected is probed once a second, and never twice in a row by one account alone", () => {
    const health = model();
    failTimes(health, 5, 0);
    expect(health.nextTryMs(1, A)).toBe(0);
    fail(health, 1, A);
    expect([health.nextTryMs(2, A), health.nextTryMs(2, B)]).toEqual([1_999, 999]);
    expect([health.nextTryMs(1_001, A), health.nextTryMs(1_001, B)]).toEqual([1_000, 0]);
  });

  test("a probe that does well takes it back at once, one that fails keeps it no longer", () => {
    const health = model();
    failTimes(health, 5, 0);
    fail(health, 1, A);
    expect(health.ownCoolingMs(1)).toBe(29_999);
    succeed(health, 1_500, B);
    expect(health.admits(1_501, A)).toBe(true);
    expect(health.state(1_501)).toBe("healthy");
  });

  test("the first of a streamed answer takes it back, though it lasts for minutes", () => {
    const health = model();
    failTimes(health, 5, 0);
    health.visible(health.begin(100, A), A);
    expect(health.admits(101, B)).toBe(true);
  });

  test.each(["credential", "no_funds", "access", "model_unknown"] as const)(
    "the first of a streamed answer takes it back where it was refused for %s",
    (cause) => {
      const health = model();
      for (const accountId of [A, B]) health.refuse({ nowMs: 0, token: health.begin(0, accountId), accountId }, cause);
      expect([health.admits(1, A), health.admits(1, B)]).toEqual([false, false]);
      health.visible(health.begin(100, A), A);
      expect([health.admits(101, A), health.admits(101, B)]).toEqual([true, true]);
    },
  );
});

describe("what an upstream refuses", () => {
  test.each(["credential", "no_funds"] as const)("%s holds for all its models, grows, and proves itself", (cause) => {
    const upstream = new UpstreamHealth();
    const [one, other] = [upstream.of("one"), upstream.of("other")];
    const refuse = (nowMs: number, accountId: string): void =>
      one.refuse({ nowMs, token: one.begin(nowMs, accountId), accountId }, cause);
    refuse(0, A);
    refuse(0, B);
    expect(other.admits(1, A)).toBe(false);
    expect(upstream.state(1)).toBe("refused");
    refuse(30_000, A);
    refuse(30_000, B);
    expect(upstream.coolingMs(30_000)).toBe(30_000);
    let nowMs = 30_000;
    for (let times = 0; times < 20; times += 1) {
      nowMs += upstream.coolingMs(nowMs);
      refuse(nowMs, A);
    }
    expect(upstream.coolingMs(nowMs)).toBe(300_000);
    succeed(other, nowMs + 1, A);
    expect(upstream.state(nowMs + 1)).toBe("healthy");
  });

  test.each(["access", "model_unknown"] as const)("%s is about its model alone", (cause) => {
    const upstream = new UpstreamHealth();
    const [one, other] = [upstream.of("one"), upstream.of("other")];
    for (const accountId of [A, B]) one.refuse({ nowMs: 0, token: one.begin(0, accountId), accountId }, cause);
    expect([one.admits(1, A), other.admits(1, A)]).toEqual([false, true]);
  });

  test("its own limit holds as long as it asks, at most five minutes, and for its model alone", () => {
    const upstream = new UpstreamHealth();
    const [one, other] = [upstream.of("one"), upstream.of("other")];
    const limit = (nowMs: number, accountId: string, askedMs: number): void =>
      one.rateLimited({ nowMs, token: one.begin(nowMs, accountId), accountId }, askedMs);
    limit(0, A, 2_000);
    expect([one.admits(1_999, A), one.admits(2_000, A), other.admits(1, A)]).toEqual([false, true, true]);
    limit(3_000, A, 3_600_000);
    expect(one.ownCoolingMs(3_000)).toBe(300_000);
    limit(3_001, B, 1_000);
    expect(one.ownCoolingMs(3_001)).toBe(1_000);
  });

  test("is told once a change", () => {
    const told: (EjectionChange & { readonly model: string | undefined })[] = [];
    const upstream = new UpstreamHealth((name, change) => told.push({ model: name, ...change }));
    const health = upstream.of("model");
    for (const accountId of [A, A, B, A])
      health.refuse({ nowMs: 0, token: health.begin(0, accountId), accountId }, "credential");
    succeed(health, 1, A);
    expect(told.map(({ model: name, isEjected, accountId }) => [name, isEjected, accountId])).toEqual([
      [undefined, true, A],
      [undefined, true, undefined],
      [undefined, false, undefined],
    ]);
  });
});

test("an operator takes an upstream and all its models back at once", () => {
  const upstream = new UpstreamHealth();
  const health = upstream.of("model");
  failTimes(health, 5, 0);
  health.refuse({ nowMs: 0, token: health.begin(0, A), accountId: A }, "credential");
  upstream.reset();
  expect(health.admits(1, A)).toBe(true);
  expect(upstream.ejections(1)).toEqual([]);
});

test("retries are at most three and a tenth of the requests", () => {
  const health = model();
  let retries = 0;
  for (let index = 0; index < 200; index += 1) {
    health.begin(0, A);
    if (health.spendRetry()) retries += 1;
    health.end();
  }
  expect(retries).toBeGreaterThanOrEqual(20);
  expect(retries).toBeLessThanOrEqual(23);
});
