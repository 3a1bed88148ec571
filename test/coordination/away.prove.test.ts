/** A Redis that is slow, away, killed or emptied: nodes go by their own shares, and no command has its effect twice. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { AdmissionResult } from "../../src/coordination/coordination.js";
import type { RedisCoordination, RedisOptions } from "../../src/coordination/redis.js";
import { allowTimeToFail, pace } from "../support/pauses.js";
import { type RedisProxy, startRedisProxy } from "../support/redis-proxy.js";
import { OWN_REDIS_MISSING, type RedisServer, startRedis } from "../support/redis-server.js";
import { flush, newPrefix, openRedis } from "./drivers.js";
import { openNodeCores } from "./node-cores.js";
import { TEST_ACT } from "../support/acts.js";

const WAIT = { timeout: 60_000, interval: 20 };
let requestCount = 0;

describe.skipIf(OWN_REDIS_MISSING !== undefined)(`Redis ${OWN_REDIS_MISSING ?? ""}`, () => {
  let server: RedisServer;
  let proxy: RedisProxy;
  let prefix: string;
  const opened: RedisCoordination[] = [];

  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.close());
  beforeEach(async () => {
    prefix = newPrefix();
    proxy = await startRedisProxy(server.url);
  });
  afterEach(async () => {
    for (const coordination of opened.splice(0)) await coordination.close();
    await proxy.close();
  });

  /** As in production, but for how long an answer may take: the machine has other work. */
  const open = async (url = proxy.url, more: Partial<RedisOptions> = {}): Promise<RedisCoordination> => {
    const coordination = await openRedis(url, { prefix, tickMs: 50, slowMs: 1_000, ...more });
    opened.push(coordination);
    return coordination;
  };
  const admit = async (
    node: RedisCoordination,
    limits: { requestsPerMinute?: number; concurrency?: number },
    requestId = `r${requestCount++}`,
  ): Promise<AdmissionResult> => {
    const all = { requestsPerMinute: 0, tokensPerMinute: 0, concurrency: 0, ...limits };
    return node.admit({ requestId, accountId: "acme", demands: [{ subject: "key_1", tokens: 0, limits: all }] });
  };
  const degradedAt = (node: RedisCoordination) => () => node.state().degraded;

  test("killed: each node admits its own share at once, and all of it again once Redis is back", async () => {
    const nodes = await Promise.all([open(), open()]);
    for (const node of nodes) await expect.poll(() => (node.tick(), node.state().nodeCount), WAIT).toBe(2);
    await server.kill();
    const [a] = nodes;
    if (a === undefined) throw new Error("there is no node");
    const results: AdmissionResult[] = [];
    for (let count = 0; count < 30; count++) results.push(await admit(a, { requestsPerMinute: 20 }));
    expect(results.filter(({ admitted }) => admitted)).toHaveLength(10);
    expect(results.every(({ degraded }) => degraded)).toBe(true);
    expect(degradedAt(a)()).toBe("unreachable");
    await server.restart();
    await expect.poll(degradedAt(a), WAIT).toBeUndefined();
    const shared = await admit(a, { requestsPerMinute: 20 });
    expect(shared).toMatchObject({ admitted: true, requests: { limit: 20, remaining: 19 } });
    expect(shared.degraded).toBeUndefined();
  });

  test("slow: a late answer is waited for, and after three nobody waits, until it is quick again", async () => {
    // What a tick sends is late as well, and would be one of the three.
    const node = await open(proxy.url, { slowMs: 200, tickMs: 0 });
    proxy.delayMs = 400;
    // What Redis decides is exact, however late it comes.
    for (let left = 3; left > 0; left--) {
      const late = await admit(node, { requestsPerMinute: 4 });
      expect(late).toMatchObject({ admitted: true, requests: { limit: 4, remaining: left } });
      expect(late.degraded).toBeUndefined();
    }
    expect(degradedAt(node)()).toBe("slow");
    const answered = node.admit({ requestId: "at once", accountId: "acme", demands: [] });
    expect(answered).not.toBeInstanceOf(Promise);
    proxy.delayMs = 0;
    await expect.poll(() => (node.tick(), degradedAt(node)()), WAIT).toBeUndefined();
  });

  test("that swallows all: requests are served, and a new connection is made once it answers", async () => {
    const node = await open(proxy.url, { slowMs: 200, giveUpMs: 400 });
    proxy.isBlackHole = true;
    for (let count = 0; count < 10; count++)
      expect((await admit(node, { requestsPerMinute: 100 })).admitted).toBe(true);
    expect(degradedAt(node)()).toBeDefined();
    await expect(node.publishRevision("acme", "key_1")).rejects.toThrow("could not be told");
    proxy.isBlackHole = false;
    await expect.poll(degradedAt(node), WAIT).toBeUndefined();
  });

  test("away at the start: the node serves by its share, and joins once Redis is there", async () => {
    await server.kill();
    const node = await open();
    expect(degradedAt(node)()).toBe("unreachable");
    expect(await admit(node, { requestsPerMinute: 2 })).toMatchObject({ admitted: true, degraded: true });
    await server.restart();
    await expect.poll(degradedAt(node), WAIT).toBeUndefined();
  });

  test("gone again at any step of a new connection: the node goes on, and joins once it stays", async () => {
    const left: unknown[] = [];
    const onRejection = (reason: unknown): void => void left.push(reason);
    process.on("unhandledRejection", onRejection);
    const node = await open(`${proxy.url}/1`, { slowMs: 200 });
    for (let commands = 0; commands <= 12; commands++) {
      proxy.commandsMax = commands;
      proxy.cut();
      await expect.poll(degradedAt(node), WAIT).toBeDefined();
      // Long enough for some attempts of each connection.
      await pace(300);
      expect(await admit(node, { requestsPerMinute: 1_000 })).toMatchObject({ admitted: true });
      proxy.commandsMax = Infinity;
      await expect.poll(degradedAt(node), WAIT).toBeUndefined();
    }
    process.off("unhandledRejection", onRejection);
    expect(left).toEqual([]);
  });

  test("an answer that is lost has its effect once: nothing is sent again", async () => {
    const node = await open(proxy.url, { tickMs: 0 });
    const direct = await open(server.url, { tickMs: 0 });
    const before = proxy.commands();
    proxy.cut(true);
    expect(await admit(node, { requestsPerMinute: 10 })).toMatchObject({ admitted: true, degraded: true });
    await allowTimeToFail(500);
    expect(proxy.commands() - before).toBe(1);
    // The one effect counts, though its answer never came.
    expect((await admit(direct, { requestsPerMinute: 10 })).requests?.remaining).toBe(8);
  });

  test("that forgot the script learns it again, and the request counts once", async () => {
    const node = await open(proxy.url, { tickMs: 0 });
    await admit(node, { requestsPerMinute: 10 });
    await forgetScripts(server.url);
    expect((await admit(node, { requestsPerMinute: 10 })).requests?.remaining).toBe(8);
  });

  test("emptied at any time: windows begin anew, and running requests have their slots again", async () => {
    const node = await open();
    await admit(node, { concurrency: 1 }, "running");
    await flush(server.url);
    node.heartbeat();
    expect(await admit(node, { concurrency: 1 })).toMatchObject({ admitted: false, limit: "concurrency" });
    node.release("acme", "key_1", "running");
    expect((await admit(node, { concurrency: 1 })).admitted).toBe(true);
  });

  test("a change that could not be told is told once Redis is back", async () => {
    const [a, b] = [await open(proxy.url, { giveUpMs: 1_500 }), await open(server.url)];
    const heard: unknown[] = [];
    b.onRevision((name) => heard.push(name));
    const known = await b.revisionsOf("acme", ["key_1"]);
    proxy.isBlackHole = true;
    await expect(a.publishRevision("acme", "key_1")).rejects.toThrow("could not be told");
    proxy.isBlackHole = false;
    await expect.poll(() => heard, WAIT).toContain("key_1");
    const request = { requestId: "r", accountId: "acme", demands: [], revisions: known };
    await expect(b.admit(request)).rejects.toThrow("changes faster");
  });

  test("a change that other nodes do not know yet is pending, and holds there within 30 seconds", async () => {
    const cores = await openNodeCores([proxy.url, server.url], { tickMs: 50, slowMs: 200, giveUpMs: 400 });
    const [a, b] = cores.nodes;
    const { key, secret } = await cores.makeKey();
    expect(await b?.generate(secret)).toHaveProperty("head");
    proxy.isBlackHole = true;
    await a?.keys.revoke(key.id, TEST_ACT);
    expect(a?.keys.isPending(key.id)).toBe(true);
    expect(await a?.generate(secret)).toMatchObject({ error: { reason: "ERROR_REASON_KEY_REVOKED" } });
    proxy.isBlackHole = false;
    const reason = async () => {
      const outcome = await b?.generate(secret);
      return outcome !== undefined && "error" in outcome ? outcome.error.reason : "served";
    };
    await expect.poll(reason, WAIT).toBe("ERROR_REASON_KEY_REVOKED");
    await cores.close();
  });

  test("killed again and again under load: every request is served, and none counts at two nodes", async () => {
    const cores = await openNodeCores([proxy.url, proxy.url], { tickMs: 50, slowMs: 200 });
    const { secret } = await cores.makeKey({ requestsPerMinute: 1_000_000n, concurrency: 1_000n });
    const refusals: string[] = [];
    let served = 0;
    const over = new AbortController();
    const load = cores.nodes.flatMap((node) =>
      [0, 1].map(async () => {
        while (!over.signal.aborted) {
          const outcome = await node.generate(secret);
          if ("error" in outcome) refusals.push(`${outcome.error.reason} ${outcome.error.message}`);
          else served += 1;
        }
      }),
    );
    const serves = async (): Promise<void> => {
      const before = served;
      await expect.poll(() => served - before, WAIT).toBeGreaterThan(20);
    };
    for (let round = 0; round < 3; round++) {
      await serves();
      await server.kill();
      await serves();
      await server.restart();
      proxy.cut();
    }
    for (const { coordination } of cores.nodes) await expect.poll(degradedAt(coordination), WAIT).toBeUndefined();
    over.abort();
    await Promise.all(load);
    expect(refusals).toEqual([]);
    await cores.close();
  });
});

async function forgetScripts(url: string): Promise<void> {
  const { createClient } = await import("../../src/coordination/redis-client.js");
  const { hostname, port } = new URL(url);
  const client = createClient({ kind: "single", hosts: [{ host: hostname, port: Number(port) }], database: 0 }, "test");
  await client.connect();
  await client.script("FLUSH");
  client.disconnect();
}
