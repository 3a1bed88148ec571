/** A gateway with Redis, from HTTP to HTTP: shared limits, a Redis that goes away, and secrets that stay inside. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { tollgate } from "../../support/command.js";
import { type GatewayProcess, OPERATOR_KEY, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";
import { readMetrics } from "../../support/metrics-reading.js";
import { OWN_REDIS_MISSING, type RedisServer, startRedis } from "../../support/redis-server.js";

const PASSWORD = "a-password-of-this-test";
const SETTINGS = `
upstreams:
  sim: { family: sim }
models:
  sim-1: { targets: [{ upstream: sim }], context_tokens: 100000, output_tokens_max: 1000, price: free }
`;
const WAIT = { timeout: 60_000, interval: 100 };

describe.skipIf(OWN_REDIS_MISSING !== undefined)(`a gateway with Redis ${OWN_REDIS_MISSING ?? ""}`, () => {
  let redis: RedisServer;
  let gateway: GatewayProcess;
  let management: Management;

  beforeAll(async () => {
    redis = await startRedis({ args: ["--requirepass", PASSWORD] });
    const env = { TOLLGATE_REDIS_URL: `redis://:${PASSWORD}@127.0.0.1:${redis.port}` };
    gateway = await startGateway({ settings: SETTINGS, env });
    management = new Management(gateway);
    await management.account("acme", 1_000_000_000n);
  });
  afterAll(async () => {
    await gateway.stop();
    await redis.close();
  });

  const ask = (secret: string): Promise<Response> =>
    fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "sim-1", messages: [{ role: "user", content: "hi" }] }),
    });
  const value = async (series: string): Promise<number | undefined> => (await readMetrics(gateway)).value(series);

  test("says limits as one without it does, and refuses in the same order", async () => {
    const { secret } = await management.makeKey("acme", { requests_per_minute: 2, tokens_per_minute: 1_000_000 });
    const first = await ask(secret);
    expect([first.status, first.headers.get("x-ratelimit-remaining-requests")]).toEqual([200, "1"]);
    expect(first.headers.get("x-tollgate-degraded")).toBeNull();
    // A body that cannot be read takes a request too, and 429 comes before 400.
    const broken = () =>
      fetch(`${gateway.url}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
        body: '{"model": 7}',
      });
    expect((await broken()).status).toBe(400);
    expect((await broken()).status).toBe(429);
    const refused = await ask(secret);
    expect([refused.status, refused.headers.get("x-ratelimit-remaining-requests")]).toEqual([429, "0"]);
  });

  test("serves by its own share while Redis is gone, is ready, and writes its password nowhere", async () => {
    const { secret } = await management.makeKey("acme", { requests_per_minute: 1_000 });
    const few = await management.makeKey("acme", { requests_per_minute: 2 });
    expect((await ask(secret)).status).toBe(200);
    await redis.kill();
    for (let count = 0; count < 20; count++) {
      const answer = await ask(secret);
      expect([answer.status, answer.headers.get("x-tollgate-degraded")]).toEqual([200, "limits"]);
    }
    const answers = [await ask(few.secret), await ask(few.secret), await ask(few.secret)];
    const said = answers.map(({ status, headers }) => [status, headers.get("x-tollgate-degraded")]);
    expect(said.at(-1)).toEqual([429, "limits"]);
    expect((await fetch(`${gateway.url}/readyz`)).status).toBe(200);
    expect(await value("tollgate_redis_away")).toBe(1);
    expect(await value("tollgate_decided_alone_total")).toBeGreaterThanOrEqual(20);
    const pending = await fetch(`${gateway.url}/api/v1/keys/${(await management.makeKey("acme")).id}`, {
      method: "DELETE",
      headers: { authorization: `Bearer ${OPERATOR_KEY}` },
    });
    expect([pending.status, pending.headers.get("x-tollgate-pending-seconds")]).toEqual([200, "30"]);
    await redis.restart();
    await expect.poll(() => value("tollgate_redis_away"), WAIT).toBe(0);
    expect((await ask(secret)).headers.get("x-tollgate-degraded")).toBeNull();
    await gateway.logged("Redis is unavailable");
    expect([...gateway.log, ...gateway.told].join("\n")).not.toContain(PASSWORD);
  });

  test("does not start with a wrong password, and says what to do in one line", async () => {
    const { code, stderr } = await tollgate(["serve"], {
      TOLLGATE_HTTP: "127.0.0.1:0",
      TOLLGATE_GRPC: "off",
      TOLLGATE_ADMIN: "off",
      TOLLGATE_DATA: mkdtempSync(join(tmpdir(), "tollgate-redis-")),
      TOLLGATE_REDIS_URL: `redis://:not-${PASSWORD}@127.0.0.1:${redis.port}`,
    });
    expect(code).not.toBe(0);
    expect(stderr).toContain("TOLLGATE_REDIS_URL: Redis refuses: WRONGPASS");
    expect(stderr).not.toContain(PASSWORD);
  });
});
