/** What one node reads of another: each piece once and in order, few of them in Redis; no side waits for the dead. */
import { setImmediate as turn } from "node:timers/promises";
import { fc } from "../support/seeds.js";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { RelayInlet, RelayOutlet } from "../../src/api/relays.js";
import type { RedisCoordination } from "../../src/coordination/redis.js";
import { RELAY_PIECES_MAX } from "../../src/coordination/piece-relays.js";
import { REDIS_MISSING, sharedRedis } from "../support/redis-server.js";
import { newPrefix, openRedis } from "./drivers.js";
import { type Fate, SteeredClient } from "./steered-client.js";

const WAIT = { timeout: 60_000, interval: 10 };
const QUESTION = Buffer.from("which?");
const IDLE = { piece: () => undefined, lost: () => undefined };

describe.skipIf(REDIS_MISSING !== undefined)(`relays ${REDIS_MISSING ?? ""}`, () => {
  let server: Awaited<ReturnType<typeof sharedRedis>>;
  let prefix: string;
  let clock: { nowMs: number };
  /** The names of the changes that nodes heard of. */
  let heard: unknown[];
  let nodes: { readonly steered: SteeredClient; readonly coordination: RedisCoordination }[];
  beforeAll(async () => {
    server = await sharedRedis();
  });
  afterAll(() => server.close());
  beforeEach(async () => {
    prefix = newPrefix();
    clock = { nowMs: 1_800_000_000_000 };
    nodes = [await open(), await open()];
    const [reader, writer] = nodes;
    // Each listens once it hears the other.
    heard = [];
    reader?.coordination.onRevision((name) => heard.push(name));
    writer?.coordination.onRevision((name) => heard.push(name));
    const tell = async (): Promise<unknown> => {
      for (const [place, { coordination }] of nodes.entries())
        await coordination.publishRevision("acme", `key_${place}`);
      return new Set(heard.filter((name) => name !== undefined)).size === 2 && heard.length >= 4;
    };
    await expect.poll(tell, WAIT).toBe(true);
  });
  afterEach(async () => {
    for (const { coordination } of nodes) await coordination.close();
  });

  async function open(): Promise<(typeof nodes)[number]> {
    const nowMs = (): number => clock.nowMs;
    const steered = new SteeredClient(server.url, nowMs, () => undefined);
    const coordination = await openRedis(server.url, { client: steered.client, prefix, monotonicMs: nowMs });
    return { steered, coordination };
  }

  function at(place: number): (typeof nodes)[number] {
    const node = nodes[place];
    if (node === undefined) throw new Error("there is no such node");
    return node;
  }

  /** The second node answers with these pieces, and the first one reads them. */
  class Relay {
    readonly read: string[] = [];
    readonly left: string[];
    inlet: RelayInlet | undefined;
    outlet: RelayOutlet | undefined;
    isLost = false;
    isNobodys = false;
    isGone = false;

    constructor(pieces: readonly string[]) {
      this.left = [...pieces];
    }

    /** `onPlace` runs when the account's place is taken, before anybody is asked. */
    async begin(onPlace: () => void = () => undefined): Promise<this> {
      at(1).coordination.relays.onAsked((question, accept) => {
        if (!question.equals(QUESTION) || this.outlet !== undefined) return;
        this.outlet = accept({
          next: () => (this.left.length === 0 ? undefined : Buffer.from(this.left.shift() ?? "")),
          gone: () => {
            this.isGone = true;
          },
        });
        this.outlet.wake();
      });
      this.inlet = await at(0).coordination.relays.ask("acme", QUESTION, {
        piece: (bytes) => this.read.push(bytes.toString()),
        lost: (nobody) => {
          this.isLost = true;
          this.isNobodys = nobody;
        },
      });
      onPlace();
      return this;
    }
  }

  const lying = async (): Promise<number> => {
    const redis = new Redis(server.url);
    const [key] = await redis.keys(`${prefix}*:y:*`);
    const count = key === undefined ? 0 : await redis.hlen(key);
    redis.disconnect();
    return count;
  };
  const numbered = (count: number): string[] => Array.from({ length: count }, (_, index) => `piece ${index}`);
  /** Time passes, and each side looks after what it has. */
  const pass = async (ms: number, places = [0, 1]): Promise<void> => {
    clock.nowMs += ms;
    for (const place of places) {
      at(place).coordination.tick();
      await at(place).steered.quiet();
    }
  };

  /** Nodes ask whether Redis is well again; no time passes, as the machine may be slower than a clock of ours. */
  const isWell = async (): Promise<boolean> => {
    await pass(0);
    return nodes.every(({ coordination }) => coordination.state().degraded === undefined);
  };

  test("pieces come in order, and nothing is left of them", async () => {
    const relay = await new Relay(numbered(100)).begin();
    await expect.poll(() => relay.read, WAIT).toEqual(numbered(100));
    await expect.poll(lying, WAIT).toBe(0);
    relay.inlet?.close();
    await expect.poll(() => relay.isGone, WAIT).toBe(true);
    expect(relay.isLost).toBe(false);
  });

  test(`of a reader that waits, ${RELAY_PIECES_MAX} pieces lie there, and it reads on where it was`, async () => {
    const relay = new Relay(numbered(50));
    const begun = relay.begin().then(() => relay.inlet?.pause());
    await begun;
    await expect.poll(() => relay.left.length, WAIT).toBe(50 - RELAY_PIECES_MAX - 1);
    await pass(1_000);
    expect([await lying(), relay.read]).toEqual([RELAY_PIECES_MAX, []]);
    relay.inlet?.resume();
    await expect.poll(() => relay.read, WAIT).toEqual(numbered(50));
  });

  test("a question that nobody answers is over after two seconds", async () => {
    const relay = new Relay([]);
    relay.outlet = { wake: () => undefined };
    await relay.begin();
    await pass(1_900);
    expect(relay.isLost).toBe(false);
    await pass(200);
    expect([relay.isLost, relay.isNobodys]).toEqual([true, true]);
  });

  test("a question that was lost is asked again once Redis is well", async () => {
    const relay = new Relay(numbered(1));
    await relay.begin(() => at(0).steered.lose());
    await at(0).steered.quiet();
    at(0).steered.answer();
    expect(relay.read).toEqual([]);
    const isRead = (): Promise<number> => isWell().then(() => relay.read.length);
    await expect.poll(isRead, WAIT).toBe(1);
  });

  test("where nobody could be asked, nobody says that it is nowhere", async () => {
    const relay = await new Relay([]).begin(() => at(0).steered.lose());
    await at(0).steered.quiet();
    await pass(2_100, [0]);
    expect([relay.isLost, relay.isNobodys]).toEqual([true, false]);
    expect(await at(0).coordination.relays.ask("acme", QUESTION, IDLE)).toBeUndefined();
  });

  test("a side that is silent for 15 seconds is left by the other; one that only waits is not", async () => {
    const relay = await new Relay(numbered(1)).begin();
    await expect.poll(() => relay.read.length, WAIT).toBe(1);
    for (let turns = 0; turns < 10; turns += 1) {
      await pass(5_000);
      await expect.poll(() => turn().then(() => [relay.isLost, relay.isGone]), WAIT).toEqual([false, false]);
      // What was told must be heard before time goes on. Each hears in order, so that it hears this last.
      await at(0).coordination.publishRevision("acme", `mark_${turns}`);
      await expect.poll(() => heard.filter((name) => name === `mark_${turns}`), WAIT).toHaveLength(2);
    }
    await pass(15_100, [1]);
    expect([relay.isLost, relay.isGone]).toEqual([false, true]);
    await pass(0, [0]);
    expect([relay.isLost, relay.isNobodys]).toEqual([true, false]);
  });

  test("an account reads 16 answers at once in this way, and its place is free again when one is over", async () => {
    const ask = (): Promise<RelayInlet | undefined> => at(0).coordination.relays.ask("acme", QUESTION, IDLE);
    const inlets = await Promise.all(Array.from({ length: 17 }, ask));
    expect(inlets.filter((inlet) => inlet !== undefined)).toHaveLength(16);
    expect(await at(1).coordination.relays.ask("other", QUESTION, IDLE)).toBeDefined();
    inlets[0]?.close();
    await at(0).steered.quiet();
    expect(await ask()).toBeDefined();
  });

  test("whatever becomes of commands and answers, each piece comes once and in order", async () => {
    const fates: fc.Arbitrary<Fate> = fc.constantFrom("answered", "answered", "unanswered", "late", "lost");
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.nat(1), fates), { minLength: 5, maxLength: 15 }), async (steps) => {
        await expect.poll(isWell, WAIT).toBe(true);
        const relay = await new Relay(numbered(20)).begin();
        for (const [place, fate] of steps) {
          const { steered, coordination } = at(place);
          await steered.meet(fate, () => {
            coordination.tick();
            return turn();
          });
          await steered.land();
        }
        const isThere = async (): Promise<number> => {
          await isWell();
          return relay.read.length;
        };
        await expect.poll(isThere, WAIT).toBe(20);
        expect(relay.read).toEqual(numbered(20));
        relay.inlet?.close();
      }),
      { numRuns: 6 },
    );
  });
});
