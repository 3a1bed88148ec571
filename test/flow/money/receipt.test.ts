/** The receipt of a request: what it used, what it cost and why, and every transfer that it caused. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chat, postChat, readAll } from "../../support/chat-call.js";
import { type FakeScript, script } from "../../support/fake-upstream.js";
import { Management } from "../../support/management.js";
import { PRICE, startWorld, type World } from "../../support/world.js";

type Json = Readonly<Record<string, unknown>>;
type Entry = Readonly<Record<string, string>>;

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

async function receiptOf(id: string): Promise<{ request: Json; entries: Entry[] }> {
  const { status, body } = await world.management.call("GET", `/requests/${id}`);
  expect(status, JSON.stringify(body)).toBe(200);
  expect(Object.keys(body).sort()).toEqual(["entries", "request"]);
  return body as unknown as { request: Json; entries: Entry[] };
}

async function endedReceipt(id: string): ReturnType<typeof receiptOf> {
  await expect.poll(async () => (await receiptOf(id)).request["state"]).not.toBe("held");
  return receiptOf(id);
}

async function ask(fake: FakeScript, more: Json = {}): Promise<string> {
  const response = await postChat(world.front, world.secret, chat(script(fake), more));
  await readAll(response);
  const id = response.headers.get("x-request-id");
  expect(id).toMatch(/^req_/);
  return id!;
}

const usageIs = { prompt_tokens: 30, completion_tokens: 7, prompt_tokens_details: { cached_tokens: 10 } };
const COST = 30n * PRICE.inputNanos + 7n * PRICE.outputNanos;

interface Case {
  readonly name: string;
  readonly fake: FakeScript;
  readonly more?: Json;
  readonly state: string;
  readonly source: string;
  readonly kinds: readonly string[];
  readonly cost?: bigint;
}

const CASES: readonly Case[] = [
  { name: "reported", fake: { usageIs }, state: "settled", source: "REPORTED", kinds: ["hold", "settle"], cost: COST },
  {
    name: "reported, streamed",
    fake: { usageIs },
    more: { stream: true },
    state: "settled",
    source: "REPORTED",
    kinds: ["hold", "settle"],
    cost: COST,
  },
  {
    name: "refused upstream",
    fake: { status: 400 },
    state: "voided",
    source: "NONE",
    kinds: ["hold", "void"],
    cost: 0n,
  },
  {
    name: "cut in the middle",
    fake: { text: "One two three four five six seven.", cutAfter: 3 },
    more: { stream: true },
    state: "settled",
    source: "COUNTED",
    kinds: ["hold", "settle"],
  },
];

describe.each(CASES)("the receipt of a request that is $name", ({ fake, more, state, source, kinds, cost }) => {
  test("says how it ended, and its transfers sum to what it cost", async () => {
    const id = await ask(fake, more);
    const { request, entries } = await endedReceipt(id);
    expect(request).toMatchObject({ id, account_id: "acme", model: "fake-1", state, attempts: 1 });
    expect(request["usage_source"]).toBe(source.toLowerCase());
    const costNanos = BigInt(String(request["cost_nanos"]));
    if (cost !== undefined) expect(costNanos).toBe(cost);
    else expect(costNanos).toBeGreaterThan(0n);
    expect(request).toMatchObject({ charged_nanos: String(costNanos), overage_nanos: "0" });
    expect(request["upstream"]).toBe("fake");

    expect(entries.map((entry) => entry["kind"])).toEqual(kinds);
    expect(entries.map((entry) => entry["id"])).toEqual(kinds.map((kind) => `${kind[0]}:${id}`));
    for (const entry of entries) {
      expect(entry).toMatchObject({ request_id: id, debit_account: "acme", credit_account: "operator:revenue" });
    }
    expect(entries[0]!["amount_nanos"]).toBe(request["hold_nanos"]);
    const sum = (field: string): bigint => entries.reduce((nanos, entry) => nanos + BigInt(entry[field]!), 0n);
    expect(sum("available_change_nanos")).toBe(-costNanos);
    expect(sum("held_change_nanos")).toBe(0n);
  });
});

test("tokens stand by component, at the price that the request was admitted at", async () => {
  const { request } = await endedReceipt(await ask({ usageIs }));
  expect(request["usage"]).toMatchObject({ input_tokens: "20", cache_read_tokens: "10", output_tokens: "7" });
  expect(request["price"]).toMatchObject({ input_picos: "10000", output_picos: "100000" });
  expect(request["price_version"]).toMatch(/^[0-9a-f]{12}$/);
  const again = await endedReceipt(await ask({}));
  expect(again.request["price_version"]).toBe(request["price_version"]);
  const answer = await postChat(world.front, world.secret, { ...chat("Hello"), model: "other-1" });
  const other = await endedReceipt(answer.headers.get("x-request-id")!);
  expect(other.request["price_version"]).not.toBe(request["price_version"]);
});

test("a request that runs shows its hold", async () => {
  const stop = new AbortController();
  const running = postChat(world.front, world.secret, chat(script({ hang: true })), { signal: stop.signal });
  running.catch(() => undefined);
  const held = async (): Promise<Json | undefined> => {
    const { body } = await world.management.call("GET", "/requests?account_id=acme");
    return (body["requests"] as Json[]).find((request) => request["state"] === "held");
  };
  await expect.poll(held).toBeDefined();
  const { request, entries } = await receiptOf(String((await held())?.["id"]));
  expect(request).toMatchObject({ state: "held", cost_nanos: "0", usage_source: "unspecified" });
  expect(entries).toHaveLength(1);
  expect(entries[0]).toMatchObject({ kind: "hold", amount_nanos: request["hold_nanos"] });
  expect(BigInt(entries[0]!["held_change_nanos"]!)).toBeGreaterThan(0n);
  stop.abort();
  await expect.poll(async () => (await world.management.balance("acme")).heldNanos).toBe(0n);
});

test("another account's request is unknown, as one that never was, and the owner's own is shown", async () => {
  await world.management.account("neighbour", 5n);
  const { secret } = await world.management.makeKey("neighbour", { scopes: ["usage"] });
  const own = await world.management.makeKey("acme", { scopes: ["usage"] });
  const id = await ask({});
  await endedReceipt(id);
  const neighbour = new Management(world.front, secret);
  const foreign = await neighbour.call("GET", `/requests/${id}`);
  const nobody = await neighbour.call("GET", `/requests/req_none`);
  expect([foreign.status, nobody.status]).toEqual([404, 404]);
  expect(JSON.stringify(foreign.body).replaceAll(id, "?")).toBe(
    JSON.stringify(nobody.body).replaceAll("req_none", "?"),
  );
  const shown = await new Management(world.front, own.secret).call("GET", `/requests/${id}`);
  expect(shown.body).toMatchObject({ request: { id }, entries: [{ id: `h:${id}` }, { id: `s:${id}` }] });
});
