/** Two nodes of one database: what an operator changed at one of them is there at the other at once. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Browser, firstOperator } from "../../support/browser.js";
import { FakeStripe, SECRET_KEY, WEBHOOK_SECRET } from "../../support/fake-stripe.js";
import { type FakeVendor, startFakeVendor } from "../../support/fake-vendor.js";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.js";
import { readMetrics } from "../../support/metrics-reading.js";
import { createDatabase, postgresMissing } from "../../support/postgres.js";
import { REDIS_MISSING, startRedis } from "../../support/redis-server.js";

const KEY = "fake-credential-of-two-nodes";
const ROUNDS = 5;
const PATIENT = { timeout: 60_000, interval: 100 };

describe.skipIf((postgresMissing ?? REDIS_MISSING) !== undefined)("over PostgreSQL and Redis", () => {
  let nodes: readonly GatewayProcess[] = [];
  let browsers: readonly [Browser, Browser];
  let vendor: FakeVendor;
  let stripe: FakeStripe;
  let drop: () => Promise<void>;
  beforeAll(async () => {
    [vendor, stripe] = [await startFakeVendor(KEY), await FakeStripe.start()];
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
    await Promise.all([vendor.close(), stripe.close()]);
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

  test("an alias, an issuer, payments and metrics of one are in force at the other without a wait", async () => {
    const [one, other] = browsers;
    const apply = async (...changes: readonly object[]): Promise<void> => {
      const applied = await one.call("POST", "/settings/objects:apply", { changes });
      expect(applied.status, JSON.stringify(applied.body)).toBe(200);
    };
    const seen = async (path: string): Promise<string> => JSON.stringify((await other.call("GET", path)).body);
    expect((await one.call("POST", "/accounts", { id: "acme", name: "Acme" })).status).toBe(200);
    const upstream = { family: "openai-compatible", api_key: KEY, base_url: vendor.url };
    const model = { targets: [{ upstream: "own", model: "own" }], price: { free: true }, output_tokens_max: 9 };
    const client = { issuer: "https://login.example.com/", client_id: "tollgate", client_secret: "a-secret-of-a-test" };
    const payments = {
      secret_key: SECRET_KEY,
      webhook_secret: WEBHOOK_SECRET,
      console_url: "https://gateway.example.com/console",
      amounts: ["10"],
      api_base: stripe.url,
    };
    await apply(
      { set: { name: "own", upstream } },
      { set: { name: "served", model } },
      { set: { name: "quick", alias: { model: "served" } } },
      { set: { name: "corp", issuer: client } },
      { set: { name: "stripe", payments } },
      { set: { name: "metrics", metrics: { accounts: ["acme"] } } },
    );
    expect(await seen("/models")).toContain('"quick"');
    expect(await seen("/sign-in")).toContain('"corp"');
    const paid = await other.call("POST", "/accounts/acme/payments", { amount: "10.00" });
    expect(paid.status, JSON.stringify(paid.body)).toBe(200);
    const series = 'tollgate_account_available_usd{account="acme"}';
    const [, second] = nodes;
    if (second === undefined) throw new Error("there is one node");
    await expect.poll(async () => (await readMetrics(second)).value(series), PATIENT).toBe(0);
    await apply(
      ...["alias/quick", "issuer/corp", "payments/stripe"].map((id) => {
        const [kind, name] = id.split("/");
        return { delete: { kind, name } };
      }),
    );
    expect(await seen("/models")).not.toContain('"quick"');
    expect(await seen("/sign-in")).not.toContain('"corp"');
    const refused = await other.call("POST", "/accounts/acme/payments", { amount: "10.00" });
    expect(JSON.stringify(refused.body)).toContain("card_payments_off");
  });
});
