/** An upstream that asks one node to wait is left alone by the others. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseCoolDown, parseOrder } from "../../src/coordination/cool-down.js";
import type { UpstreamOrder } from "../../src/coordination/coordination.js";
import type { UpstreamBoard } from "../../src/routing/catalog.js";
import type { EjectionChange } from "../../src/routing/ejection.js";
import { UpstreamHealth } from "../../src/routing/upstream-health.js";
import type { Routing } from "../../src/routing/routing.js";
import { shareHealth } from "../../src/serve/cool-downs.js";
import { sharedUpstreams } from "../../src/serve/upstream-orders.js";
import { limiter } from "../support/prompt-caches.js";
import { REDIS_MISSING, sharedRedis } from "../support/redis-server.js";
import { newPrefix, openRedis } from "./drivers.js";

const WAIT = { timeout: 60_000, interval: 20 };

test.each([
  "",
  "{}",
  "[]",
  '{"upstream":"a","model":"m","durationMs":1e9}',
  '{"upstream":"a","model":1,"durationMs":1}',
  '{"upstream":"a","model":"m","durationMs":-1}',
])("'%s' is no wait of an upstream", (text) => {
  expect(parseCoolDown(text)).toBeUndefined();
});

test.each(["", "{}", '{"upstream":"a"}', '{"upstream":1,"order":"drain"}', '{"upstream":"a","order":"delete"}'])(
  "'%s' is no order of an operator",
  (text) => {
    expect(parseOrder(text)).toBeUndefined();
  },
);

test("an order that was given at one node is heeded at the others, and goes no further", () => {
  const hearers: ((order: UpstreamOrder) => void)[] = [];
  const told: unknown[] = [];
  const node = (): { board: UpstreamBoard; health: UpstreamHealth } => {
    const health = new UpstreamHealth();
    const served = { id: "fake", family: { name: "sim" }, baseUrl: "", health };
    const table = { upstreams: new Map([["fake", served]]), models: new Map() };
    // As much of routing as the board reads.
    const routing = { table, limiter, nowMs: () => 0 } as unknown as Routing;
    const place = hearers.length;
    const coordination = {
      onOrder: (hearer: (order: UpstreamOrder) => void) => void hearers.push(hearer),
      publishOrder(order: UpstreamOrder) {
        told.push(order);
        for (const [other, hearer] of hearers.entries()) if (other !== place) hearer(order);
      },
    };
    return {
      board: sharedUpstreams(routing, coordination, { nodeId: () => `node_${place}`, dateMs: () => 0 }),
      health,
    };
  };
  const [one, other] = [node(), node()];
  one.board.drain("fake", true);
  expect([one.health.isDrained, other.health.isDrained]).toEqual([true, true]);
  other.board.drain("fake", false);
  expect([one.health.isDrained, other.health.isDrained]).toEqual([false, false]);
  one.board.drain("fake", true);
  other.board.reset("fake");
  expect([one.health.isDrained, other.health.isDrained]).toEqual([false, false]);
  hearers[0]?.({ upstream: "unknown", order: "drain" });
  expect(told.map((order) => (order as UpstreamOrder).order)).toEqual(["drain", "undrain", "drain", "reset"]);
});

test("what fails at one node takes one failure at the others, and five again once it served there", () => {
  const health = new UpstreamHealth();
  const target = health.of("m");
  const attempt = (nowMs: number, end: "fails" | "succeeds"): boolean => {
    const evidence = { nowMs, token: target.begin(nowMs, "acme"), accountId: "acme" };
    if (end === "fails") target.fail(evidence, true);
    else target.succeed(evidence);
    return target.admits(nowMs, "acme");
  };
  health.suspect("m", 0);
  expect(target.admits(1, "acme"), "nothing is ejected by another node's word").toBe(true);
  expect(attempt(1, "succeeds")).toBe(true);
  expect(attempt(2, "fails"), "it served here since").toBe(true);
  expect(attempt(3, "succeeds")).toBe(true);
  health.suspect("m", 4);
  health.suspect("other", 4);
  expect(attempt(5, "fails")).toBe(false);
  const later = new UpstreamHealth();
  later.suspect("", 0);
  const unreached = later.of("m");
  const evidence = { nowMs: 31_000, token: unreached.begin(31_000, "acme"), accountId: "acme" };
  unreached.fail(evidence, false);
  expect(unreached.admits(31_000, "acme"), "a suspicion ends by itself").toBe(true);
});

test("what fails for one account alone makes the upstream suspect to no other node", () => {
  const told: unknown[] = [];
  const coordination = { publishOrder: (order: unknown) => void told.push(order), publishCoolDown: () => undefined };
  const change = { cause: "failing", isEjected: true, durationMs: 30_000 } as const;
  shareHealth(coordination, "fake", "m", { ...change, accountId: "acme" });
  expect(told).toEqual([]);
  shareHealth(coordination, "fake", "m", { ...change, accountId: undefined });
  expect(told).toEqual([{ upstream: "fake", order: "suspect", model: "m" }]);
});

describe("a wait that another node met", () => {
  test("concerns its account alone, until another account meets one too", () => {
    const told: EjectionChange[] = [];
    const health = new UpstreamHealth((_model, change) => told.push(change)).of("m");
    health.imposeRateLimit(1_000, 5_000, "acme");
    expect([health.admits(2_000, "acme"), health.admits(2_000, "other")]).toEqual([false, true]);
    const token = health.begin(2_000, "other");
    health.rateLimited({ nowMs: 2_000, token, accountId: "other" }, 3_000);
    expect([health.admits(2_001, "acme"), health.admits(2_001, "third")]).toEqual([false, false]);
    expect(health.admits(6_001, "third")).toBe(true);
    // What was imposed is said to nobody; what this node met itself is.
    expect(told.map(({ accountId }) => accountId)).toEqual([undefined]);
  });

  test("lasts as long as was asked there, and a second one no shorter", () => {
    const health = new UpstreamHealth().of("m");
    health.imposeRateLimit(0, 5_000, undefined);
    health.imposeRateLimit(0, 1_000, "acme");
    expect([health.admits(4_999, "third"), health.admits(5_000, "third")]).toEqual([false, true]);
  });
});

describe.skipIf(REDIS_MISSING !== undefined)(`over Redis ${REDIS_MISSING ?? ""}`, () => {
  let server: Awaited<ReturnType<typeof sharedRedis>>;
  beforeAll(async () => {
    server = await sharedRedis();
  });
  afterAll(() => server.close());

  test("a limit that is reached is told to the others, what fails as a suspicion, and nothing else", async () => {
    const prefix = newPrefix();
    const [a, b] = [await openRedis(server.url, { prefix }), await openRedis(server.url, { prefix })];
    const heard: unknown[] = [];
    const suspected: unknown[] = [];
    a.onCoolDown(() => heard.push("its own"));
    b.onCoolDown((coolDown) => heard.push(coolDown));
    b.onOrder((order) => suspected.push(order));
    const change = { isEjected: true, durationMs: 2_000, accountId: undefined };
    // The other may not listen yet.
    const tell = (): number => {
      for (const cause of ["failing", "credential", "no_funds", "rate_limited"] as const)
        shareHealth(a, "fake", "m", { ...change, cause });
      return heard.length;
    };
    await expect.poll(tell, WAIT).toBeGreaterThan(0);
    const told = { upstream: "fake", model: "m", durationMs: 2_000, accountId: undefined };
    for (const one of heard) expect(one).toEqual(told);
    await expect.poll(() => suspected.length, WAIT).toBeGreaterThan(0);
    for (const one of suspected) expect(one).toEqual({ upstream: "fake", order: "suspect", model: "m" });
    await Promise.all([a.close(), b.close()]);
  });

  test("what an operator wants of an upstream is told to the others, each order once", async () => {
    const prefix = newPrefix();
    const [a, b] = [await openRedis(server.url, { prefix }), await openRedis(server.url, { prefix })];
    const heard: unknown[] = [];
    a.onOrder(() => heard.push("its own"));
    b.onOrder((order) => heard.push(order));
    const first = { upstream: "fake", order: "drain" } as const;
    await expect
      .poll(() => {
        if (heard.length === 0) a.publishOrder(first);
        return heard.length;
      }, WAIT)
      .toBeGreaterThan(0);
    const last = { upstream: "fake", order: "reset" } as const;
    a.publishOrder(last);
    await expect.poll(() => heard.at(-1), WAIT).toEqual(last);
    for (const one of heard.slice(0, -1)) expect(one).toEqual(first);
    await Promise.all([a.close(), b.close()]);
  });
});
