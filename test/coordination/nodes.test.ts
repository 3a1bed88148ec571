/** Several nodes on one Redis: one limit is one limit, and what ends on one node has ended on all. */
import { setImmediate } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { KeySettings } from "../../src/api/index.js";
import { REDIS_MISSING, sharedRedis } from "../support/redis-server.js";
import { type Beating, flush, newPrefix, openRedis } from "./drivers.js";
import { type NodeCores, openNodeCores, type Outcome } from "./node-cores.js";
import { mostInAnyMinute } from "./reference.js";
import { openWorld, settingsOf } from "../keys/key-world.js";
import { hearingNothing } from "./steered-client.js";
import { TEST_ACT } from "../support/acts.js";
import { bySweep } from "../support/sweep.js";

/** 10,000 are tried by `npm run revocation`. */
const TRIALS = Number(process.env["TOLLGATE_REVOCATION_TRIALS"] ?? bySweep({ short: 60, long: 300, all: 300 }));

describe.skipIf(REDIS_MISSING !== undefined)(`nodes on one Redis ${REDIS_MISSING ?? ""}`, () => {
  let server: Awaited<ReturnType<typeof sharedRedis>>;
  beforeAll(async () => {
    server = await sharedRedis();
  });
  afterAll(() => server.close());

  test("four nodes at four times the limit admit no more than it in any 60 seconds", async () => {
    const clock = { nowMs: 1_800_000_000_000 };
    const nowMs = () => clock.nowMs;
    const prefix = newPrefix();
    const open = (): Promise<Beating> => openRedis(server.url, { prefix, serverMs: nowMs });
    const nodes = await Promise.all([open(), open(), open(), open()]);
    const limits = { requestsPerMinute: 60, tokensPerMinute: 3_000, concurrency: 0 };
    const taken: { atMs: number; tokens: number }[] = [];
    let refusals = 0;
    for (let second = 0; second < 200; second++) {
      // Each node offers as much as the limit: a request each second, and bursts.
      const asked = nodes.flatMap((node, index) =>
        Array.from({ length: second % 50 === 0 ? 30 : 1 }, (_none, count) => {
          const tokens = 20 + ((second + index + count) % 90);
          const demands = [{ subject: "key_1", tokens, limits }];
          const request = { requestId: `${second}.${index}.${count}`, accountId: "acme", demands };
          return Promise.resolve(node.admit(request)).then((result) => ({ result, tokens }));
        }),
      );
      for (const { result, tokens } of await Promise.all(asked))
        if (result.admitted) taken.push({ atMs: result.admittedAtMs, tokens });
        else refusals += 1;
      clock.nowMs += 700 + ((second * 137) % 600);
    }
    expect(mostInAnyMinute(taken, () => 1)).toBeLessThanOrEqual(60);
    expect(mostInAnyMinute(taken, ({ tokens }) => tokens)).toBeLessThanOrEqual(3_000);
    expect(taken.length).toBeGreaterThan(100);
    expect(refusals).toBeGreaterThan(600);
    await Promise.all(nodes.map((node) => node.close()));
  });

  test("a secret that moved to another key ends with that key, where nothing was heard of either", async () => {
    const prefix = newPrefix();
    const [hearing, deaf] = await Promise.all([
      openRedis(server.url, { prefix }),
      openRedis(server.url, { prefix, listener: hearingNothing(server.url) }),
    ]);
    const world = await openWorld({ coordination: hearing });
    const there = world.node({ coordination: deaf });
    try {
      const { key, secret } = await world.keys.create(
        { accountId: "acme", settings: settingsOf(), secret: undefined },
        TEST_ACT,
      );
      const was = await there.authenticate(secret);
      // A key keeps one secret beside its own, so that this one is free again.
      for (let count = 0; count < 2; count++) await world.keys.rotate(key.id, 0, TEST_ACT);
      const moved = await world.keys.create({ accountId: "acme", settings: settingsOf(), secret }, TEST_ACT);
      // What is remembered of the first key is too old to be believed, and still at hand.
      world.clock.nowMs += 30_000;
      const is = await there.authenticate(secret);
      expect([was.keyId, is.keyId]).toEqual([key.id, moved.key.id]);
      expect(await there.isCurrent(is)).toBe(true);
      await world.keys.revoke(moved.key.id, TEST_ACT);
      expect(await there.isCurrent(is)).toBe(false);
    } finally {
      await world.close();
      await Promise.all([hearing.close(), deaf.close()]);
    }
  });

  describe("a change of a key or an account", () => {
    let cores: NodeCores;
    beforeAll(async () => {
      cores = await openNodeCores([server.url, server.url, server.url], { tickMs: 500 });
    });
    afterAll(() => cores.close());

    const begun = (): { a: NodeCores["nodes"][number]; others: NodeCores["nodes"] } => {
      const [a, ...others] = cores.nodes;
      if (a === undefined) throw new Error("there is no node");
      return { a, others };
    };

    test(`a revoked key is refused by the next request on every node, ${TRIALS} trials`, async () => {
      const { a, others } = begun();
      const stale: string[] = [];
      for (let trial = 0; trial < TRIALS; trial++) {
        const { key, secret } = await cores.makeKey(trial % 2 === 0 ? {} : { requestsPerMinute: 100n });
        for (const node of others) expect(await node.generate(secret)).toHaveProperty("head");
        // Half of the trials meet what the word of the change has not reached yet.
        await a.keys.revoke(key.id, TEST_ACT);
        for (const [index, node] of others.entries()) {
          const outcome = await (trial % 3 === 0 ? node.whoAmI(secret) : node.generate(secret));
          if (reasonOf(outcome) !== "ERROR_REASON_KEY_REVOKED")
            stale.push(`${trial} on ${index}: ${reasonOf(outcome)}`);
        }
      }
      expect(stale).toEqual([]);
    });

    test("a frozen account is refused by the next request on every node, and unfrozen it is served", async () => {
      const { a, others } = begun();
      const { secret } = await cores.makeKey();
      for (let trial = 0; trial < 20; trial++) {
        for (const node of others) expect(await node.generate(secret)).toHaveProperty("head");
        await cores.ledger.freeze("acme", { reason: "fraud", endsStreams: false, actor: "test" }, TEST_ACT);
        await a.keys.publishAccount("acme");
        for (const node of others) expect(reasonOf(await node.generate(secret))).toBe("ERROR_REASON_ACCOUNT_FROZEN");
        await cores.ledger.unfreeze("acme", TEST_ACT);
        await a.keys.publishAccount("acme");
      }
    });

    test("what a node that hears of no change remembers refuses nobody, before the body or behind it", async () => {
      const deaf = await openNodeCores([server.url, server.url], { listener: hearingNothing(server.url) });
      const [a, b] = deaf.nodes;
      if (a === undefined || b === undefined) throw new Error("there are two nodes");
      try {
        const { key, secret } = await deaf.makeKey({ scopes: ["models"] });
        const settings = KeySettings.decode(new Uint8Array());
        const give = async (...scopes: string[]): Promise<unknown> =>
          await a.keys.update(key.id, { ...settings, scopes }, ["scopes"], { act: TEST_ACT });
        for (let trial = 0; trial < 3; trial++) {
          expect(reasonOf(await b.admit(secret)), "without the scope").toMatch(/PERMISSION|FORBIDDEN|SCOPE/);
          await give("chat");
          expect(await b.admit(secret), "with the scope").toHaveProperty("head");
          await deaf.ledger.freeze("acme", { reason: "fraud", endsStreams: false, actor: "test" }, TEST_ACT);
          await a.keys.publishAccount("acme");
          expect(reasonOf(await b.generate(secret))).toBe("ERROR_REASON_ACCOUNT_FROZEN");
          expect(reasonOf(await b.admit(secret))).toBe("ERROR_REASON_ACCOUNT_FROZEN");
          await deaf.ledger.unfreeze("acme", TEST_ACT);
          await a.keys.publishAccount("acme");
          expect(await b.admit(secret), "unfrozen").toHaveProperty("head");
          await give("models");
          // What was let in before the body is compared behind it.
          expect(reasonOf(await b.generate(secret))).toMatch(/PERMISSION|FORBIDDEN|SCOPE/);
        }
      } finally {
        await deaf.close();
      }
    });

    test("a maker's end ends what it made, and a lowered limit holds at once", async () => {
      const { a, others } = begun();
      const { key, secret } = await cores.makeKey({ requestsPerMinute: 50n });
      for (const node of others) expect(await node.generate(secret)).toMatchObject({ head: limitHead("50") });
      const lowered = { ...KeySettings.decode(new Uint8Array()), requestsPerMinute: 5n };
      await a.keys.update(key.id, lowered, ["requests_per_minute"], { act: TEST_ACT });
      for (const node of others) expect(await node.generate(secret)).toMatchObject({ head: limitHead("5") });
    });

    test("a lost Redis makes every caller be read again, and none be believed", async () => {
      const { a, others } = begun();
      const { key, secret } = await cores.makeKey();
      for (const node of others) expect(await node.generate(secret)).toHaveProperty("head");
      await flush(server.url);
      for (const node of others) expect(await node.generate(secret)).toHaveProperty("head");
      await a.keys.revoke(key.id, TEST_ACT);
      await flush(server.url);
      for (const node of others) expect(reasonOf(await node.generate(secret))).toBe("ERROR_REASON_KEY_REVOKED");
    });

    test("each node counts the others", async () => {
      for (const { coordination } of cores.nodes) coordination.tick();
      await setImmediate();
      await expect.poll(() => cores.nodes.map(({ coordination }) => coordination.state().nodeCount)).toEqual([3, 3, 3]);
    });
  });
});

function reasonOf(outcome: Outcome): string {
  return "error" in outcome ? (outcome.error.reason ?? String(outcome.error)) : "served";
}

function limitHead(limit: string) {
  return { "x-ratelimit-limit-requests": limit };
}
