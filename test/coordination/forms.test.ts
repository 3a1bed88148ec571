/** Redis in each of its forms: alone with a password, with TLS, behind sentinels, and as a cluster. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { afterEach, describe, expect, test } from "vitest";
import { parseRedisUrl } from "../../src/config/redis-url.js";
import { createClient, type RedisSettings } from "../../src/coordination/redis-client.js";
import { type RedisCoordination, startRedisCoordination } from "../../src/coordination/redis.js";
import { makeCertificate } from "../support/certificate.js";
import { OWN_REDIS_MISSING, type RedisServer, startRedis } from "../support/redis-server.js";
import { newPrefix } from "./drivers.js";

const PASSWORD = "a password of this test: @/%";
const WAIT = { timeout: 60_000, interval: 50 };
const closers: (() => unknown)[] = [];

describe.skipIf(OWN_REDIS_MISSING !== undefined)(`Redis ${OWN_REDIS_MISSING ?? ""}`, () => {
  afterEach(async () => {
    for (const close of closers.splice(0).toReversed()) await close();
  });

  test("alone, with a password and another database, shares limits and changes", async () => {
    const server = await started({ args: ["--requirepass", PASSWORD] });
    await works(`redis://:${encodeURIComponent(PASSWORD)}@127.0.0.1:${server.port}/3`);
  });

  test.each([
    { password: "", says: "NOAUTH" },
    { password: ":wrong-password@", says: "WRONGPASS" },
  ])("refuses a start with the password '$password' in one line without it", async ({ password, says }) => {
    const server = await started({ args: ["--requirepass", PASSWORD] });
    const opening = open(`redis://${password}127.0.0.1:${server.port}`);
    const error: unknown = await opening.catch((refusal: unknown) => refusal);
    expect(String(error)).toContain(says);
    expect(String(error)).not.toContain("wrong-password");
  });

  test("with TLS, trusted by a file of its authority, shares limits and changes", async () => {
    const directory = mkdtempSync(join(tmpdir(), "tollgate-redis-tls-"));
    closers.push(() => rmSync(directory, { recursive: true }));
    const files = { cert: join(directory, "cert.pem"), key: join(directory, "key.pem") };
    const { cert, key } = makeCertificate("localhost");
    writeFileSync(files.cert, cert);
    writeFileSync(files.key, key);
    const server = await started({ tls: files });
    await works(`rediss://localhost:${server.port}`, Buffer.from(cert));
  });

  test("behind a sentinel, goes on with the primary that takes over", async () => {
    const first = await started();
    const second = await started({ args: ["--replicaof", `127.0.0.1 ${first.port}`] });
    const monitor = [
      `sentinel monitor main 127.0.0.1 ${first.port} 1`,
      "sentinel down-after-milliseconds main 500",
      "sentinel failover-timeout main 5000",
    ];
    const sentinel = await started({ sentinel: `${monitor.join("\n")}\n` });
    const node = await works(`redis+sentinel://127.0.0.1:${sentinel.port}/main`);
    const admin = direct(second);
    await expect.poll(() => admin.info("replication"), WAIT).toContain("master_link_status:up");
    await expect.poll(() => direct(sentinel).call("SENTINEL", "REPLICAS", "main"), WAIT).not.toHaveLength(0);
    await first.kill();
    await expect.poll(() => admin.info("replication"), WAIT).toContain("role:master");
    // What does not reach the first goes by this node's share, and then by the second.
    const answers = async () => {
      const result = await admit(node, "acme", `r${Math.random()}`);
      return result.admitted && result.degraded === undefined;
    };
    await expect.poll(answers, WAIT).toBe(true);
  });

  test("as a cluster, keeps each account on one node and shares limits and changes", async () => {
    const servers = await Promise.all([0, 1, 2].map(() => started({ args: ["--cluster-enabled", "yes"] })));
    const clients = servers.map(direct);
    const ranges = ["0 5460", "5461 10922", "10923 16383"].map((range) => range.split(" "));
    for (const [index, client] of clients.entries())
      await client.call("CLUSTER", "ADDSLOTSRANGE", ...(ranges[index] ?? []));
    // A handshake that takes too long is given up, and another one is needed.
    const isWhole = async () => {
      for (const { port } of servers.slice(1)) await clients[0]?.call("CLUSTER", "MEET", "127.0.0.1", port);
      const told = await Promise.all(clients.map((client) => client.cluster("INFO")));
      return told.every((info) => /cluster_state:ok[\s\S]*cluster_size:3/.test(info));
    };
    await expect.poll(isWhole, { timeout: 90_000, interval: 2_000 }).toBe(true);
    const list = servers.map(({ port }) => `127.0.0.1:${port}`).join(",");
    const node = await works(`redis+cluster://${list}`);
    // Many accounts at once lie on all three nodes, and each has its own limit.
    const accounts = Array.from({ length: 60 }, (_none, index) => `account-${index}`);
    const results = await Promise.all(accounts.map((account) => admit(node, account, account)));
    expect(results.every(({ admitted, degraded }) => admitted && degraded === undefined)).toBe(true);
    const again = await Promise.all(accounts.map((account) => admit(node, account, `${account} again`)));
    expect(again.every(({ admitted }) => !admitted)).toBe(true);
    for (const client of clients) expect(await client.dbsize()).toBeGreaterThan(0);
  });
});

/** Two nodes on the URL share a limit, a slot and a change. Returns one of them. */
async function works(url: string, ca?: Buffer): Promise<RedisCoordination> {
  const prefix = newPrefix();
  const [a, b] = [await open(url, ca, prefix), await open(url, ca, prefix)];
  expect(a.state().degraded).toBeUndefined();
  expect(await admit(a, "shared", "a")).toMatchObject({ admitted: true });
  expect(await admit(b, "shared", "b")).toMatchObject({ admitted: false, limit: "requests_per_minute" });
  const revisions = await b.revisionsOf("shared", ["key_1", "account:shared"]);
  expect(revisions?.words).toHaveLength(2);
  const compared = { requestId: "c", accountId: "shared", demands: [], revisions };
  expect(await b.admit(compared)).toMatchObject({ admitted: true });
  const heard: unknown[] = [];
  b.onRevision((name) => heard.push(name));
  await a.publishRevision("shared", "key_1");
  await expect(b.admit(compared)).rejects.toThrow("changed too often");
  // The other may not have listened yet when it was told first.
  await expect.poll(() => a.publishRevision("shared", "key_1").then(() => heard), WAIT).toContain("key_1");
  return a;
}

async function open(url: string, ca?: Buffer, prefix = newPrefix()): Promise<RedisCoordination> {
  const parsed = parseRedisUrl(url);
  if (parsed === undefined) throw new Error(`${url} is no URL of Redis`);
  const tls = parsed.isSecure ? { ca } : undefined;
  const settings: RedisSettings = { ...parsed, tls, commandMs: 20_000 };
  const coordination = await startRedisCoordination({
    client: createClient(settings, "test"),
    listener: createClient(settings, "test listens"),
    isCluster: parsed.kind === "cluster",
    monotonicMs: () => performance.now(),
    prefix,
    tickMs: 50,
    slowMs: 5_000,
  });
  closers.push(() => coordination.close());
  return coordination;
}

/** One request of a limit of one in a minute. */
async function admit(node: RedisCoordination, accountId: string, requestId: string) {
  const limits = { requestsPerMinute: 1, tokensPerMinute: 0, concurrency: 1 };
  return node.admit({ requestId, accountId, demands: [{ subject: `account ${accountId}`, tokens: 0, limits }] });
}

async function started(options?: Parameters<typeof startRedis>[0]): Promise<RedisServer> {
  const server = await startRedis(options);
  closers.push(() => server.close());
  return server;
}

function direct({ port }: RedisServer): Redis {
  const client = new Redis(port, "127.0.0.1");
  client.on("error", () => undefined);
  closers.push(() => client.disconnect());
  return client;
}
