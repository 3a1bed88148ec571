/** Processes on one machine share the ports: what is true of one is true of all, and one that dies is replaced. */
import { expect, test } from "vitest";
import { tollgate } from "../../support/command.js";
import { type GatewayProcess, OPERATOR_KEY, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";
import { makeDatabase, postgresMissing } from "../../support/postgres.js";
import { OWN_REDIS_MISSING, startRedis } from "../../support/redis-server.js";

const PATIENT = { timeout: 60_000, interval: 100 };
const SETTINGS = "accounts:\n  acme: {}\n";
const missing = postgresMissing ?? OWN_REDIS_MISSING;

test("workers on a PostgreSQL are refused in one line without a Redis that they share limits by", async () => {
  const refused = await tollgate(["serve"], {
    TOLLGATE_WORKERS: "2",
    TOLLGATE_DATABASE_URL: "postgresql://a@127.0.0.1:9/b",
    TOLLGATE_SECRET: "a root secret, long enough for all",
  });
  expect(refused).toMatchObject({ code: 3, stdout: "" });
  expect(refused.stderr.trim().split("\n")).toHaveLength(1);
  expect(refused.stderr).toContain('TOLLGATE_WORKERS="2" needs TOLLGATE_REDIS_URL as well');
});

/** What the process that keeps the workers says of them. */
function linesOf(gateway: GatewayProcess, message: string): { worker: number; pid?: number }[] {
  const lines = gateway.log.filter((line) => line.includes(`"msg":"${message}"`));
  return lines.map((line) => JSON.parse(line) as { worker: number; pid?: number });
}

/** Over a connection of its own, so that any worker may answer. */
async function ask(gateway: GatewayProcess, path: string, key: string): Promise<{ status: number; body: unknown }> {
  const headers = { authorization: `Bearer ${key}`, connection: "close" };
  const response = await fetch(`${gateway.url}${path}`, { headers });
  return { status: response.status, body: await response.json() };
}

async function answeringNode(gateway: GatewayProcess): Promise<string> {
  const { body } = await ask(gateway, "/api/v1/nodes", OPERATOR_KEY);
  const { nodes } = body as { nodes: { id: string; answering: boolean }[] };
  return nodes.find(({ answering }) => answering)?.id ?? "";
}

async function answeringNodes(gateway: GatewayProcess): Promise<Set<string>> {
  const ids = new Set<string>();
  for (let left = 12; left > 0; left -= 1) ids.add(await answeringNode(gateway));
  return ids;
}

test.skipIf(missing !== undefined)(
  `workers share ports, keys and settings, and one that is killed is followed by another ${missing ?? ""}`,
  async () => {
    const redis = await startRedis();
    const env = {
      TOLLGATE_DATABASE_URL: await makeDatabase(),
      TOLLGATE_REDIS_URL: `redis://127.0.0.1:${redis.port}`,
      TOLLGATE_SECRET: "a root secret of this test, long enough",
      TOLLGATE_WORKERS: "2",
    };
    const gateway = await startGateway({ settings: SETTINGS, env });
    const serving = () => linesOf(gateway, "a worker serves");
    await expect.poll(serving, PATIENT).toHaveLength(2);
    expect(await answeringNodes(gateway)).toHaveProperty("size", 2);
    const { secret } = await new Management(gateway).makeKey("acme");
    for (let left = 8; left > 0; left -= 1) expect((await ask(gateway, "/v1/models", secret)).status).toBe(200);

    process.kill(gateway.pid, "SIGHUP");
    const reloaded = () => gateway.log.filter((line) => line.includes('"msg":"settings reloaded"')).length;
    await expect.poll(reloaded, PATIENT).toBe(2);

    const [, second] = serving();
    process.kill(second?.pid ?? 0, "SIGKILL");
    await expect.poll(() => linesOf(gateway, "a worker ended; another takes its place"), PATIENT).toHaveLength(1);
    expect((await ask(gateway, "/v1/models", secret)).status).toBe(200);
    await expect.poll(serving, PATIENT).toHaveLength(3);
    expect(await answeringNodes(gateway)).toHaveProperty("size", 2);

    const running = [serving()[0]?.pid ?? 0, serving()[2]?.pid ?? 0];
    expect(await gateway.stop()).toBe(0);
    for (const pid of running) expect(() => process.kill(pid, 0)).toThrow("ESRCH");
    await redis.close();
  },
  180_000,
);
