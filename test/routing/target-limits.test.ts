/** The limits of upstreams and targets: full ones are skipped or waited for, and none gets more than its limit. */
import { describe, expect, test } from "vitest";
import { Cancellation } from "../../src/base/cancellation.js";
import { GatewayError } from "../../src/base/errors.js";
import type { TargetLimits } from "../../src/config/settings.js";
import { createInProcessCoordination } from "../../src/coordination/in-process.js";
import { withinLimits } from "../../src/routing/counting.js";
import { REQUEST_TIMEOUTS } from "../../src/routing/deadline.js";
import type { Target } from "../../src/routing/model.js";
import { RoomSearch } from "../../src/routing/room-search.js";
import { Routing } from "../../src/routing/routing.js";
import { limitsOf, type TakenLimits, TargetLimiter } from "../../src/routing/target-limiter.js";
import { wire as chat } from "../../src/wire/openai-chat/index.js";
import { affinity, promptCaches } from "../support/prompt-caches.js";
import { pace } from "../support/pauses.js";
import { randomOf } from "../support/random.js";
import { SEED } from "../support/seeds.js";
import { modelOf, type TargetOptions, targetOf } from "./served.js";
import { SlotServer } from "./slot-server.js";

const NONE: TargetLimits = {
  requestsPerMinute: 0,
  tokensPerMinute: 0,
  concurrency: 0,
  queue: undefined,
  budget: undefined,
};
const nothing = (): void => undefined;
const nowMs = (): number => performance.now();

interface Asking {
  readonly accountId?: string;
  readonly tokens?: number;
  readonly signal?: Cancellation;
  /** A model with affinity is asked, in this session. */
  readonly sessionName?: string;
  /** What the request used in the end. */
  readonly usedTokens?: number;
}

/** Routing over targets with limits. */
class World {
  readonly served: string[] = [];
  readonly coordination = createInProcessCoordination({ nowMs, heartbeatMs: 0 });
  /** What the operator spent, by subject. */
  readonly spent = new Map<string, bigint>();
  readonly limiter = new TargetLimiter({
    coordination: this.coordination,
    spending: {
      waitMs: ({ subject, budget }) => ((this.spent.get(subject) ?? 0n) < (budget?.amountNanos ?? 0n) ? 0 : 60_000),
      add: ({ subject }, nanos) => void this.spent.set(subject, (this.spent.get(subject) ?? 0n) + nanos),
    },
    nowMs,
  });
  readonly routing = new Routing({
    affinity,
    promptCaches,
    limiter: this.limiter,
    nowMs,
    random: () => this.random,
    timeouts: REQUEST_TIMEOUTS,
    listed: () => undefined,
    onAttempt: nothing,
    onReadOn: nothing,
    onUnknownMember: nothing,
  });
  waited = 0;
  random = 0;
  #count = 0;

  /** Resolves with the refusal, or undefined where the request was answered. */
  async ask(targets: readonly Target[], asking: Asking = {}): Promise<GatewayError | undefined> {
    const { accountId = "acme", tokens = 10, signal = new Cancellation(), sessionName, usedTokens } = asking;
    const content = `request ${(this.#count += 1)}`;
    const body = Buffer.from(JSON.stringify({ model: "m", stream: true, messages: [{ role: "user", content }] }));
    const request = chat.readRequest({ wire: chat.name, body, headers: {} });
    const asked = { kind: "chat" as const, acceptWire: chat.name, outputTokensMax: 10, stream: true };
    const deadline = this.routing.deadline({}, performance.now(), Infinity);
    const options = { ...asked, candidateCount: 1, accountId, strict: false, signal, deadline, tokens };
    const attributes = () => ({ session: sessionName ?? "", sessionSource: "header" as const, promptCacheKey: "" });
    const session = { attributes, affinity: undefined };
    const model = { ...modelOf(targets), hasAffinity: sessionName !== undefined };
    let last: TakenLimits | undefined;
    const receiver = {
      begin: ({ served }: Target, taken?: TakenLimits) => {
        last?.settle(0, 0n);
        last = taken;
        this.served.push(served.id);
      },
      waiting: { start: () => void (this.waited += 1) },
      ended: nothing,
      watch: nothing,
      onDrain: nothing,
      take: () => true,
    };
    try {
      await this.routing.run(request, model, { ...options, session }, receiver);
      return undefined;
    } catch (error) {
      return GatewayError.from(error);
    } finally {
      last?.settle(usedTokens ?? tokens, 7n);
    }
  }
}

function limited(server: SlotServer, id: string, limits: Partial<TargetLimits>, options?: TargetOptions): Target {
  return { ...targetOf(server, id, options), limits: limitsOf(id, { ...NONE, ...limits }, "m", undefined, () => 0) };
}

const queue = (length: number, waitMs = 5_000) => ({ queue: { length, waitMs } });

describe("a server of one place", () => {
  test("30 streams at once are all answered, one at a time, and none is sent twice", async () => {
    const world = new World();
    const server = new SlotServer(() => 2);
    const targets = [limited(server, "one", { concurrency: 1, ...queue(29) })];
    const ended = await Promise.all(Array.from({ length: 30 }, () => world.ask(targets)));
    expect(ended).toEqual(Array.from({ length: 30 }, () => undefined));
    expect(server.mostRunning).toBe(1);
    expect([...server.bodies.values()]).toEqual(Array.from({ length: 30 }, () => 1));
    expect(world.waited).toBe(29);
    expect(world.limiter.waitingAt("one")).toBe(0);
  });

  test("a request beyond the queue is refused at once, and one that waits too long later", async () => {
    const world = new World();
    const server = new SlotServer(undefined);
    const targets = [limited(server, "one", { concurrency: 1, ...queue(1, 50) })];
    const first = world.ask(targets);
    const second = world.ask(targets);
    const refused = await world.ask(targets);
    expect(refused).toMatchObject({
      reason: "ERROR_REASON_UPSTREAM_FULL",
      metadata: { limit: "concurrency", retry_after_ms: "1000", model: "m" },
    });
    expect(await second).toMatchObject({ reason: "ERROR_REASON_UPSTREAM_FULL" });
    server.finish();
    expect(await first).toBeUndefined();
    expect(server.requests).toBe(1);
    expect(targets[0]?.health.state(nowMs())).toBe("healthy");
  });

  test("accounts take turns", async () => {
    const world = new World();
    const order: string[] = [];
    const targets = [limited(new SlotServer(() => 1), "one", { concurrency: 1, ...queue(20) })];
    const ask = (accountId: string): Promise<void> =>
      world.ask(targets, { accountId }).then(() => void order.push(accountId));
    const many = Array.from({ length: 10 }, () => ask("many"));
    await Promise.all([...many, ask("few"), ask("few")]);
    expect(order.lastIndexOf("few")).toBeLessThan(5);
  });

  test("a client that leaves the queue is not sent, and leaves its place to others", async () => {
    const world = new World();
    const server = new SlotServer(undefined);
    const targets = [limited(server, "one", { concurrency: 1, ...queue(1) })];
    const first = world.ask(targets);
    const signal = new Cancellation();
    const left = world.ask(targets, { signal });
    signal.abort(undefined);
    expect(await left).toMatchObject({ reason: "ERROR_REASON_CANCELLED" });
    const third = world.ask(targets);
    await expect.poll(() => world.limiter.waitingAt("one")).toBe(1);
    server.finish();
    await expect.poll(() => server.running).toBe(1);
    server.finish();
    expect([await first, await third]).toEqual([undefined, undefined]);
    expect(server.requests).toBe(2);
  });
});

test("of two equal servers of which one is busy, the other gets the next requests", async () => {
  const world = new World();
  const [one, two] = [new SlotServer(undefined), new SlotServer(undefined)];
  const targets = [
    limited(one, "one", { concurrency: 1, ...queue(5) }),
    limited(two, "two", { concurrency: 2, ...queue(5) }),
  ];
  const asked = Array.from({ length: 4 }, () => world.ask(targets));
  await expect.poll(() => world.waited).toBe(1);
  expect([one.running, two.running]).toEqual([1, 2]);
  // The one that waits goes to the server that is free first.
  two.finish();
  await expect.poll(() => two.running).toBe(1);
  one.finish();
  two.finish();
  expect(await Promise.all(asked)).toEqual([undefined, undefined, undefined, undefined]);
  expect([one.requests, two.requests]).toEqual([1, 3]);
});

test("a full target is skipped without a mark or a retry, and one with a queue is waited for first", async () => {
  const world = new World();
  const later = new SlotServer(() => 1);
  const [full, queued] = [new SlotServer(undefined), new SlotServer(undefined)];
  const fallback = limited(later, "later", {}, { priority: 2 });
  const skipping = [limited(full, "full", { concurrency: 1 }), fallback];
  const first = world.ask(skipping);
  for (let count = 0; count < 5; count += 1) expect(await world.ask(skipping)).toBeUndefined();
  expect(later.requests).toBe(5);
  expect(skipping[0]?.health.causeFor(nowMs(), "acme")).toBeUndefined();
  // All of its retries are left.
  expect([1, 2, 3].map(() => skipping[0]?.health.spendRetry())).toEqual([true, true, true]);
  const waiting = [limited(queued, "queued", { concurrency: 1, ...queue(1, 40) }), fallback];
  const second = world.ask(waiting);
  const startMs = performance.now();
  expect(await world.ask(waiting)).toBeUndefined();
  expect(performance.now() - startMs).toBeGreaterThan(35);
  expect(later.requests).toBe(6);
  full.finish();
  queued.finish();
  expect([await first, await second]).toEqual([undefined, undefined]);
});

test("a session keeps its target when that was full once, and moves when it was full twice", async () => {
  const world = new World();
  const servers = { one: new SlotServer(undefined), two: new SlotServer(undefined) };
  const targets = [limited(servers.one, "one", { concurrency: 1 }), limited(servers.two, "two", { concurrency: 9 })];
  const ask = async (sessionName: string): Promise<string | undefined> => {
    const asked = world.ask(targets, { sessionName });
    await expect.poll(() => servers.one.running + servers.two.running).toBeGreaterThan(0);
    servers.one.finish();
    servers.two.finish();
    await asked;
    return world.served.at(-1);
  };
  const names = Array.from({ length: 50 }, (_, place) => `full ${place}`);
  let ofOne = "";
  for (const name of names) if (ofOne === "" && (await ask(name)) === "one") ofOne = name;
  /** Asks in the session while another request takes the only place of its target. */
  const askWhileFull = async (): Promise<string | undefined> => {
    const other = world.ask([targets[0] as Target]);
    await expect.poll(() => servers.one.running).toBe(1);
    const asked = world.ask(targets, { sessionName: ofOne });
    await expect.poll(() => servers.two.running).toBe(1);
    const served = world.served.at(-1);
    servers.two.finish();
    await asked;
    servers.one.finish();
    await other;
    return served;
  };
  expect([await askWhileFull(), await ask(ofOne)]).toEqual(["two", "one"]);
  expect([await askWhileFull(), await askWhileFull(), await ask(ofOne)]).toEqual(["two", "two", "two"]);
});

test.each([
  { name: "requests", limits: { requestsPerMinute: 2 }, passes: 2, limit: "requests_per_minute" },
  { name: "tokens", limits: { tokensPerMinute: 25 }, passes: 2, limit: "tokens_per_minute" },
  {
    name: "what the operator spends",
    limits: { budget: { amountNanos: 14n, period: "day" as const } },
    passes: 2,
    limit: "capacity",
  },
])("a limit of $name refuses, with the soonest time", async ({ limits, passes, limit }) => {
  const world = new World();
  const targets = ["one", "two"].map((id) => limited(new SlotServer(() => 0), id, limits));
  for (let count = 0; count < 2 * passes; count += 1) expect(await world.ask(targets)).toBeUndefined();
  const refused = await world.ask(targets);
  expect(refused).toMatchObject({ reason: "ERROR_REASON_UPSTREAM_FULL", metadata: { limit } });
  expect(refused?.retryAfterMs).toBeGreaterThan(50_000);
  expect(refused?.retryAfterMs).toBeLessThan(62_000);
  expect(world.served.filter((id) => id === "one")).toHaveLength(passes);
});

test("tokens that were not used are given back", async () => {
  const world = new World();
  const targets = [limited(new SlotServer(() => 0), "one", { tokensPerMinute: 25 })];
  for (let count = 0; count < 5; count += 1)
    expect(await world.ask(targets, { tokens: 10, usedTokens: 3 })).toBeUndefined();
  expect(await world.ask(targets, { tokens: 20 })).toMatchObject({ reason: "ERROR_REASON_UPSTREAM_FULL" });
});

test("a failed attempt gives its place back, and its target's failure is what the client gets", async () => {
  const world = new World();
  const broken = limited(new SlotServer(() => 0, 500), "broken", { concurrency: 1 });
  const refused = await world.ask([broken]);
  expect(refused).toMatchObject({ reason: "ERROR_REASON_UPSTREAM_FAILED" });
  const peeked = world.coordination.peek({
    requestId: "r",
    accountId: "",
    demands: [{ subject: "upstream broken", limits: { ...NONE, concurrency: 1 }, tokens: 0 }],
  });
  expect(peeked).toMatchObject({ admitted: true });
});

test("a request that pauses before a second try holds no place", async () => {
  const world = new World();
  world.random = 0.9;
  const retries = { attempts: 2, backoffMs: 500, backoffMaxMs: 500, coolDownMaxMs: 1_000 };
  const server = new SlotServer(() => 0, 503);
  const target = { ...limited(server, "one", { concurrency: 1 }), retries };
  const asked = world.ask([target]);
  while (server.requests < 1 || server.running > 0) await pace(1);
  await pace(20);
  const entered = await world.limiter.enter(target, { tokens: 0 });
  if ("refusedBy" in entered) throw new Error("the place is held");
  entered.giveBack();
  expect(server.requests).toBe(1);
  expect(await asked).toBeDefined();
  expect(world.served).toEqual(["one", "one"]);
});

test("a count takes a place, and a full target is not asked for one", async () => {
  const { limiter } = new World();
  const target = limited(new SlotServer(() => 0), "one", { concurrency: 1 });
  const count = (): Promise<number | undefined> => withinLimits(limiter, target, () => Promise.resolve(7));
  expect(await withinLimits(limiter, target, async () => [await count()])).toEqual([undefined]);
  expect(await count()).toBe(7);
});

test("a queue without a number of places is for those that the server reports now", async () => {
  const world = new World();
  const server = new SlotServer(undefined);
  let slots = 0;
  const limits = limitsOf("one", { ...NONE, ...queue(8) }, "m", undefined, () => slots);
  const targets = [{ ...targetOf(server, "one"), limits }];
  const free = [world.ask(targets), world.ask(targets)];
  while (server.running < 2) await pace(1);
  server.finish();
  expect(await Promise.all(free)).toEqual([undefined, undefined]);
  slots = 1;
  const asked = [world.ask(targets), world.ask(targets)];
  while (world.waited < 1) await pace(1);
  expect(server.running).toBe(1);
  server.finish();
  while (server.requests < 4) await pace(1);
  server.finish();
  expect(await Promise.all(asked)).toEqual([undefined, undefined]);
});

test("10,000 requests that come and leave at random never exceed the limit, and leave nothing behind", async () => {
  const world = new World();
  const random = randomOf(SEED);
  const subject = "upstream one";
  const target = limited(new SlotServer(undefined), "one", { concurrency: 7, ...queue(40, 20) });
  const counts = { running: 0, mostRunning: 0, served: 0 };
  const pick = (skipped: readonly Target[]): Target | undefined => (skipped.length === 0 ? target : undefined);
  const ask = async (signal: Cancellation, accountId: string): Promise<void> => {
    const entering = { accountId, tokens: 1, leftMs: 1_000, signal };
    const entered = await new RoomSearch(world.limiter, pick, () => entering, nothing).next();
    if (entered === undefined) return;
    counts.running += 1;
    counts.served += 1;
    counts.mostRunning = Math.max(counts.mostRunning, counts.running);
    await pace(random() * 3);
    counts.running -= 1;
    entered.taken?.release();
  };
  const asked: Promise<void>[] = [];
  for (let count = 0; count < 10_000; count += 1) {
    const signal = new Cancellation();
    if (random() < 0.2) setTimeout(() => signal.abort(undefined), random() * 10);
    asked.push(ask(signal, `account ${Math.floor(random() * 5)}`));
    if (random() < 0.05) await pace(random() * 4);
  }
  await Promise.all(asked);
  expect([counts.mostRunning, counts.running, world.limiter.waitingAt("one")]).toEqual([7, 0, 0]);
  expect(counts.served).toBeGreaterThan(500);
  const whole = { subject, limits: { ...NONE, concurrency: 1 }, tokens: 0 };
  expect(world.coordination.peek({ requestId: "r", accountId: "", demands: [whole] })).toMatchObject({
    admitted: true,
  });
});
