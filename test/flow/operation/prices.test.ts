/** Published prices that a signed snapshot refreshes, as an operator sees them and decides on them over HTTP. */
import { rmSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { PRICE_LIST } from "../../../src/pricing/price-list.js";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";
import { type Changed, SNAPSHOT_KEY, snapshotOf, startPublisher } from "../../support/price-snapshots.js";

type Json = Readonly<Record<string, unknown>>;

const PATIENT = { timeout: 60_000, interval: 100 };

let publisher: Awaited<ReturnType<typeof startPublisher>>;
let gateway: GatewayProcess;
let management: Management;

function settings(refresh: string): string {
  const refreshed = `prices: { refresh: ${refresh}, url: "${publisher.url}", keys: ["${SNAPSHOT_KEY}"] }`;
  return `${refreshed}
upstreams: { vendor: { family: openai, api_key: sk-of-a-test } }
models:
  listed: { targets: [{ upstream: vendor, model: gpt-4o-mini }] }
  own: { targets: [{ upstream: vendor, model: gpt-4o-mini }], price: { input: "7", output: "8" } }
`;
}

beforeAll(async () => {
  publisher = await startPublisher();
  gateway = await startGateway({ settings: settings("apply") });
  management = new Management(gateway);
});
afterAll(async () => {
  await gateway.stop();
  await publisher.close();
  rmSync(gateway.dataDirectory, { recursive: true });
});

async function listOf(answering: Promise<{ status: number; body: Json }>): Promise<Json> {
  const { status, body } = await answering;
  expect(status, JSON.stringify(body)).toBe(200);
  return body["price_list"] as Json;
}

const show = () => listOf(management.call("GET", "/prices"));
const decide = (word: string, ids: readonly unknown[]) =>
  listOf(management.call("POST", `/prices/changes:${word}`, { ids }));

/** Publishes a snapshot, and has the gateway read it. */
async function publish(serial: number, ...changed: readonly Changed[]): Promise<Json> {
  publisher.published.text = await snapshotOf(serial, changed);
  return listOf(management.call("POST", "/prices:refresh", {}));
}

async function changes(): Promise<readonly Json[]> {
  return (await management.call("GET", "/prices/changes")).body["price_changes"] as readonly Json[];
}

async function modelOf(id: string): Promise<{ price: Json; list_price: Json }> {
  return (await management.call("GET", `/models/${id}`)).body["model"] as { price: Json; list_price: Json };
}

const audited = async (method: string): Promise<number> => {
  const { body } = await management.call("GET", `/audit_events?method=${method}&result=done`);
  return (body["audit_events"] as unknown[]).length;
};

test("a confirmed change applies, an operator's own price stays, and the rest waits", async () => {
  expect(await show()).toMatchObject({ refresh: "apply", list: PRICE_LIST.list, past: [] });
  const list = await publish(
    1,
    { id: "gpt-4o-mini", prices: { input_mtok: 0.2 }, others: { input_mtok: 0.2 } },
    { id: "gpt-4o", prices: { input_mtok: 2500 }, others: { input_mtok: 2500 } },
  );
  expect(list).toMatchObject({ list: "price snapshot 1", serial: "1", model_count: 1, pending_count: 1, problem: "" });
  const { price, list_price } = await modelOf("listed");
  expect(price).toMatchObject({ input_picos: "200000" });
  expect(list_price).toMatchObject({ list: "price snapshot 1", date: new Date().toISOString().slice(0, 10) });
  expect((await modelOf("own")).price).toMatchObject({ input_picos: "7000000" });
  const [change] = await changes();
  expect(change).toMatchObject({ provider: "openai", model: "gpt-4o", kind: "changed" });
  expect(change?.["reasons"]).toContain("input_mtok more than doubles or falls below half");
  expect(change?.["components"]).toContainEqual({
    component: "input_mtok",
    from: 2.5,
    to: 2500,
    others: [{ list: "other", price: 2500 }],
  });
});

test("an operator rejects, accepts and rolls back, and the audit log has it", async () => {
  const rejected = await decide(
    "reject",
    (await changes()).map(({ id }) => id),
  );
  expect(rejected).toMatchObject({ pending_count: 0 });
  await publish(2, { id: "gpt-4o-mini", prices: { input_mtok: 3 } });
  const ids = (await changes()).map(({ id }) => id);
  expect(await decide("accept", ids)).toMatchObject({ list: "price snapshot 2", pending_count: 0 });
  expect((await modelOf("listed")).price).toMatchObject({ input_picos: "3000000" });
  expect((await management.call("POST", "/prices/changes:accept", { ids })).status).toBe(404);
  expect((await management.call("POST", "/prices/changes:accept", { ids: [] })).status).toBe(400);
  const back = await listOf(management.call("POST", "/prices:rollBack", { serial: "1" }));
  expect(back).toMatchObject({ list: "price snapshot 1", serial: "1", pending_count: 1 });
  expect((await modelOf("listed")).price).toMatchObject({ input_picos: "200000" });
  expect((back["past"] as Json[]).map(({ serial, cause }) => [serial, cause])).toEqual([
    ["1", "roll_back"],
    ["2", "accept"],
    ["1", "reject"],
    ["1", "apply"],
  ]);
  for (const method of ["AcceptPriceChanges", "RejectPriceChanges", "RollBackPriceList"])
    expect([method, await audited(`PriceService.${method}`)]).toEqual([method, 1]);
  expect(await audited("prices.apply")).toBe(1);
});

test("what cannot be read is told, and the prices in force remain", async () => {
  publisher.published.status = 500;
  const list = await publish(3);
  publisher.published.status = 200;
  expect(list).toMatchObject({ list: "price snapshot 1", problem: "the server answered with status 500" });
  await gateway.logged("the snapshot of prices could not be read");
});

test("pinned prices are the program's, and nothing can be decided on them", async () => {
  gateway.writeSettings(settings("pinned"));
  await expect.poll(async () => (await modelOf("listed")).price, PATIENT).toMatchObject({ input_picos: "150000" });
  expect(await show()).toMatchObject({ refresh: "pinned", list: PRICE_LIST.list, pending_count: 0 });
  const refused = await management.call("POST", "/prices:refresh", {});
  expect([refused.status, JSON.stringify(refused.body)]).toEqual([400, expect.stringContaining("is pinned")]);
});
