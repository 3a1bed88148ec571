/**
 * Commands whose answers are lost, which land late, or never: whatever becomes of them, Redis admits no more than a
 * limit, each node alone no more than its share, and nothing has its effect twice.
 */
import { setImmediate as turn } from "node:timers/promises";
import { fc } from "../support/seeds.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Admitted } from "../../src/coordination/coordination.js";
import type { RedisCoordination } from "../../src/coordination/redis.js";
import { Window } from "../../src/coordination/window.js";
import { REDIS_MISSING, sharedRedis } from "../support/redis-server.js";
import { newPrefix, openRedis } from "./drivers.js";
import { mostInAnyMinute } from "./reference.js";
import { type Fate, SteeredClient } from "./steered-client.js";

const NODES = 3;
const LIMITS = { requestsPerMinute: 9, tokensPerMinute: 60, concurrency: 0 };
/** Each step is a round trip. */
const RUNS = 12;
const SUBJECT = "key_1";
const FATES: readonly Fate[] = ["answered", "answered", "answered", "unanswered", "late", "lost"];

type Step =
  | { readonly kind: "admit"; readonly at: number; readonly tokens: number; readonly fate: Fate }
  | { readonly kind: "correct"; readonly nth: number; readonly used: number; readonly fate: Fate }
  | { readonly kind: "pass"; readonly ms: number }
  | { readonly kind: "land" | "probe"; readonly at: number };

const at = fc.nat(NODES - 1);
const fate = fc.constantFrom(...FATES);
const steps = fc.array(
  fc.oneof(
    {
      weight: 10,
      arbitrary: fc.record({ kind: fc.constant("admit"), at, tokens: fc.integer({ min: 1, max: 15 }), fate }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant("correct"), nth: fc.nat(), used: fc.nat(30), fate }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant("pass"), ms: fc.integer({ min: 1, max: 14_000 }) }) },
    { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom("land", "probe"), at }) },
  ) as fc.Arbitrary<Step>,
  { minLength: 80, maxLength: 120 },
);

interface Node {
  readonly steered: SteeredClient;
  readonly coordination: RedisCoordination;
}

/** Nodes on one Redis, and what their commands must have come to there, by the window of a process. */
class World {
  readonly nodes: Node[] = [];
  readonly taken: { readonly at: number; readonly atMs: number; readonly tokens: number; readonly result: Admitted }[] =
    [];
  /** What was taken in Redis. */
  readonly landed: { readonly atMs: number; readonly tokens: number }[] = [];
  nowMs = 1_800_000_000_000;
  readonly #requests = new Window(this.nowMs);
  readonly #tokens = new Window(this.nowMs);
  readonly #prefix = newPrefix();

  async open(url: string): Promise<void> {
    const nowMs = (): number => this.nowMs;
    for (let count = 0; count < NODES; count += 1) {
      const steered = new SteeredClient(url, nowMs, (parts) => this.#land(parts));
      const more = { client: steered.client, prefix: this.#prefix, monotonicMs: nowMs, serverMs: nowMs };
      this.nodes.push({ steered, coordination: await openRedis(url, more) });
    }
    await this.#pass(1);
  }

  async run(step: Step): Promise<void> {
    if (step.kind === "pass") return this.#pass(step.ms);
    if (step.kind === "correct") return this.#correct(step.nth, step.used, step.fate);
    const node = this.#node(step.at);
    if (step.kind === "admit") return this.#admit(node, step);
    if (step.kind === "land") return node.steered.land();
    node.coordination.tick();
    return node.steered.quiet();
  }

  /** How the windows stand in Redis, and how they should. */
  async states(): Promise<readonly [unknown, unknown]> {
    for (const { steered } of this.nodes) await steered.land();
    for (let probe = 0; probe < 4; probe += 1) await this.#pass(0);
    const { coordination } = this.#node(0);
    const demands = [{ subject: SUBJECT, tokens: 0, limits: LIMITS }];
    const { requests, tokens } = await coordination.peek({ requestId: "", accountId: "acme", demands });
    const { requestsPerMinute, tokensPerMinute } = LIMITS;
    const should = [
      this.#requests.state(this.nowMs, requestsPerMinute),
      this.#tokens.state(this.nowMs, tokensPerMinute),
    ];
    return [[requests, tokens], should];
  }

  /** The most that a node admitted alone in any minute. */
  mostAlone(node: number): number {
    const alone = this.taken.filter(({ at: place, result }) => place === node && result.degraded === true);
    return mostInAnyMinute(alone, () => 1);
  }

  async #pass(ms: number): Promise<void> {
    this.nowMs += ms;
    for (const { steered, coordination } of this.nodes) {
      // A node says that it is there, or asks whether Redis is well again.
      for (let tick = coordination.state().degraded === undefined ? 10 : 1; tick > 0; tick -= 1) coordination.tick();
      await steered.quiet();
    }
  }

  async #admit(
    { steered, coordination }: Node,
    { at: place, tokens, fate: meets }: Step & { kind: "admit" },
  ): Promise<void> {
    const requestId = `r${this.taken.length}`;
    const demands = [{ subject: SUBJECT, tokens, limits: LIMITS }];
    const before = this.landed.length;
    const result = await steered.meet(meets, () =>
      Promise.resolve(coordination.admit({ requestId, accountId: "acme", demands })),
    );
    if (result.admitted) this.taken.push({ at: place, atMs: this.nowMs, tokens, result });
    // What Redis answered is what the model came to.
    if (result.degraded === undefined) expect(result.admitted).toBe(this.landed.length > before);
  }

  async #correct(nth: number, used: number, meets: Fate): Promise<void> {
    const one = this.taken[nth % Math.max(1, this.taken.length)];
    if (one === undefined) return;
    const { steered, coordination } = this.#node(one.at);
    await steered.meet(meets, () => {
      coordination.correct("acme", SUBJECT, one.result, one.tokens, used);
      return turn();
    });
  }

  #land([act, ...rest]: readonly unknown[]): void {
    if (act === "C") {
      this.#tokens.correct(this.nowMs, Number(rest[0]), Number(rest[1]));
    } else if (act === "A") {
      const tokens = Number(rest.at(-1));
      const hasRoom =
        this.#requests.waitMs(this.nowMs, LIMITS.requestsPerMinute, 1) === 0 &&
        this.#tokens.waitMs(this.nowMs, LIMITS.tokensPerMinute, tokens) === 0;
      if (!hasRoom) return;
      this.#requests.take(this.nowMs, 1);
      this.#tokens.take(this.nowMs, tokens);
      this.landed.push({ atMs: this.nowMs, tokens });
    }
  }

  #node(place: number): Node {
    const found = this.nodes[place];
    if (found === undefined) throw new Error("there is no such node");
    return found;
  }
}

describe.skipIf(REDIS_MISSING !== undefined)(`nodes on a network that loses ${REDIS_MISSING ?? ""}`, () => {
  let server: Awaited<ReturnType<typeof sharedRedis>>;
  beforeAll(async () => {
    server = await sharedRedis();
  });
  afterAll(() => server.close());

  test("whatever becomes of commands and answers, limits hold and no effect comes twice", async () => {
    let alone = 0;
    let shared = 0;
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const world = new World();
        await world.open(server.url);
        for (const step of all) await world.run(step);
        const [stands, should] = await world.states();
        expect(stands).toEqual(should);
        expect(mostInAnyMinute(world.landed, () => 1)).toBeLessThanOrEqual(LIMITS.requestsPerMinute);
        for (const [place, { coordination }] of world.nodes.entries()) {
          expect(coordination.state()).toMatchObject({ nodeCount: NODES, degraded: undefined });
          expect(world.mostAlone(place)).toBeLessThanOrEqual(LIMITS.requestsPerMinute / NODES);
          await coordination.close();
        }
        for (const { result } of world.taken) if (result.degraded === true) alone += 1;
        shared += world.landed.length;
      }),
      { numRuns: RUNS },
    );
    expect(alone).toBeGreaterThan(RUNS);
    expect(shared).toBeGreaterThan(RUNS);
  });
});
