/** Two nodes of one database: what an operator changed at one of them is there at the other at once. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Browser, firstOperator } from "../../support/browser.js";
import { type FakeVendor, startFakeVendor } from "../../support/fake-vendor.js";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.js";
import { createDatabase, postgresMissing } from "../../support/postgres.js";
import { REDIS_MISSING, startRedis } from "../../support/redis-server.js";

const KEY = "fake-credential-of-two-nodes";
const ROUNDS = 5;

describe.skipIf((postgresMissing ?? REDIS_MISSING) !== undefined)("over PostgreSQL and Redis", () => {
  let nodes: readonly GatewayProcess[] = [];
  let browsers: readonly [Browser, Browser];
  let vendor: FakeVendor;
  let drop: () => Promise<void>;
  beforeAll(async () => {
    vendor = await startFakeVendor(KEY);
    const [database, redis] = await Promise.all([createDatabase(), startRedis()]);
    drop = async () => void (await Promise.all([database.drop(), redis.close()]));
    const env = {
      TOLLGATE_DATABASE_URL: database.url,
      TOLLGATE_REDIS_URL: redis.url,
      TOLLGATE_SECRET: "a root secret of two nodes, long enough",
    };
    const one = await startGateway({ env });
    const other = await startGateway({ env });
    nodes = [one, other];
    const first = await firstOperator(one);
    // The session is in the database: both nodes know it.
    const second = new Browser(other);
    for (const [name, value] of first.cookies) second.cookies.set(name, value);
    browsers = [first, second];
  });
  afterAll(async () => {
    for (const node of nodes) await node.kill();
    await vendor.close();
    await drop();
  });

  test("what one commits the other lists, tests and counts without a wait", async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const [one, other] = round % 2 === 0 ? browsers : [browsers[1], browsers[0]];
      const name = `vendor-${round}`;
      const upstream = { family: "openai-compatible", api_key: KEY, base_url: vendor.url };
      const model = { targets: [{ upstream: name, model: "own" }], price: { free: true }, output_tokens_max: 9 };
      const changes = [{ set: { name, upstream } }, { set: { name: `model-${round}`, model } }];
      const applied = await one.call("POST", "/settings/objects:apply", { changes });
      expect(applied.status, JSON.stringify(applied.body)).toBe(200);
      const listed = async (path: string): Promise<string> => JSON.stringify((await other.call("GET", path)).body);
      expect(await listed("/upstreams")).toContain(`"${name}"`);
      expect(await listed("/settings/objects?page_size=100")).toContain(`"${name}"`);
      expect(await listed("/models")).toContain(`"model-${round}"`);
      expect(await listed("/settings/first-steps")).toContain('"models":true');
      const tested = await other.call("POST", `/upstreams/${name}:test`, {});
      expect(tested.body, JSON.stringify(tested.body)).toMatchObject({ result: "well" });
      const deleted = await one.call("DELETE", `/settings/objects/model/model-${round}`);
      expect(deleted.status).toBe(200);
      expect(await listed("/models")).not.toContain(`"model-${round}"`);
    }
  });
});
