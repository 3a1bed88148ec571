/** What an operator corrects, over real HTTP: refunds and debits are transfers of their own, and proven. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { formatMoney } from "../../../src/base/money.js";
import { chat, postChat, readAll } from "../../support/chat-call.js";
import { script } from "../../support/fake-upstream.js";
import { Management } from "../../support/management.js";
import { PRICE, startWorld, type World } from "../../support/world.js";

type Json = Readonly<Record<string, unknown>>;

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

const usageIs = { prompt_tokens: 30, completion_tokens: 7 };
const COST = 30n * PRICE.inputNanos + 7n * PRICE.outputNanos;

async function chargedRequest(account: string, credit: bigint): Promise<string> {
  await world.management.account(account, credit);
  const { secret } = await world.management.makeKey(account);
  return charge(secret);
}

async function charge(secret: string): Promise<string> {
  const response = await postChat(world.front, secret, chat(script({ usageIs })));
  await readAll(response);
  expect(response.status).toBe(200);
  return response.headers.get("x-request-id") ?? "";
}

const refund = (id: string, body: Json) => world.management.call("POST", `/requests/${id}:refund`, body);
const debit = (id: string, body: Json) => world.management.call("POST", `/accounts/${id}:debit`, body);
const figures = async (id: string): Promise<Json> =>
  (await world.management.call("GET", `/accounts/${id}/balance`)).body;

test("a request is refunded in parts, once for each refund id, and in all never more than it was charged", async () => {
  const id = await chargedRequest("parts", 1_000_000n);
  const part = { amount_nanos: "400", refund_id: "one", reason: "the answer was cut" };
  expect((await refund(id, part)).body).toEqual({
    amount_nanos: "400",
    amount: "0.0000004 USD",
    available_nanos: String(1_000_000n - COST + 400n),
    available: formatMoney(1_000_000n - COST + 400n),
    repeated_refund: false,
  });
  const inUsd = { refund_id: "one", reason: "the answer was cut", amount: "0.0000004" };
  expect((await refund(id, inUsd)).body).toMatchObject({ amount: "0.0000004 USD", repeated_refund: true });
  // Zero is a mistake: it is not all that is left.
  for (const none of [{ amount: "0.00" }, { amount_nanos: "0" }])
    expect((await refund(id, { ...inUsd, amount: undefined, ...none })).status).toBe(400);
  expect((await refund(id, part)).body).toMatchObject({ amount_nanos: "400", repeated_refund: true });
  expect((await refund(id, { ...part, amount_nanos: "401" })).status).toBe(409);
  const tooMuch = await refund(id, { amount_nanos: String(COST - 399n), refund_id: "two", reason: "more" });
  expect([tooMuch.status, JSON.stringify(tooMuch.body)]).toEqual([
    400,
    expect.stringContaining(`${COST - 400n} are left`),
  ]);
  const rest = await refund(id, { refund_id: "three", reason: "all of it" });
  expect(rest.body).toMatchObject({ amount_nanos: String(COST - 400n), available_nanos: "1000000" });
  expect((await refund(id, { refund_id: "four", reason: "again" })).status).toBe(400);
  expect(await figures("parts")).toMatchObject({
    available_nanos: "1000000",
    spent_nanos: String(COST),
    granted_nanos: String(1_000_000n + COST),
    refunded_nanos: String(COST),
  });
  await world.management.verify();
});

test("receipt, entries, statement and usage show a refund with its reason and who gave it", async () => {
  const id = await chargedRequest("shown", 1_000_000n);
  await refund(id, { refund_id: "shown", reason: "the answer was cut" });
  const { request, entries } = (await world.management.call("GET", `/requests/${id}`)).body as {
    request: Json;
    entries: Json[];
  };
  expect(request).toMatchObject({ charged_nanos: String(COST), refunded_nanos: String(COST) });
  const wanted = { kind: "refund", id: "r:shown", reason: "the answer was cut", request_id: id };
  const money = { amount_nanos: String(COST), available_change_nanos: String(COST), debit_account: "operator:refunds" };
  expect(entries.map(({ kind }) => kind)).toEqual(["hold", "settle", "refund"]);
  expect(entries[2]).toMatchObject({ ...wanted, ...money, actor: expect.stringMatching(/^key_/) });
  const list = (await world.management.call("GET", "/accounts/shown/entries")).body as { entries: Json[] };
  expect(list.entries[0]).toMatchObject(wanted);
  const statement = (await world.management.call("GET", "/accounts/shown/statement")).body as {
    entries: { entry: Json; balance: Json }[];
    closing: Json;
  };
  expect(statement.entries.at(-1)).toMatchObject({ entry: wanted, balance: { available_nanos: "1000000" } });
  expect(statement.closing).toMatchObject({ available_nanos: "1000000", held_nanos: "0" });
  const usage = (await world.management.call("GET", "/usage?account_id=shown")).body as { summaries: Json[] };
  expect(usage.summaries).toMatchObject([
    { request_count: "1", cost_nanos: String(COST), refunded_nanos: String(COST) },
  ]);
});

test("a refund gives no budget back", async () => {
  const id = await chargedRequest("budgeted", 1_000_000n);
  await refund(id, { refund_id: "budgeted", reason: "goodwill" });
  const limits = { settings: { budget_total_nanos: String(COST) } };
  expect((await world.management.call("PATCH", "/accounts/budgeted", limits)).status).toBe(200);
  const { secret } = await world.management.makeKey("budgeted");
  expect((await postChat(world.front, secret, chat("Hello"))).status).toBe(402);
});

test("a debit takes what is available and books the rest, and no account goes below zero", async () => {
  await world.management.account("debtor", 500n);
  const body = { amount_nanos: "800", debit_id: "chargeback", reason: "inv-7 was never paid" };
  const want = { debited_nanos: "500", receivable_nanos: "300", available_nanos: "0" };
  expect((await debit("debtor", body)).body).toMatchObject({ ...want, repeated_debit: false });
  expect((await debit("debtor", body)).body).toMatchObject({ ...want, repeated_debit: true });
  expect((await debit("debtor", { ...body, amount_nanos: "801" })).status).toBe(409);
  expect(await figures("debtor")).toMatchObject({
    available_nanos: "0",
    held_nanos: "0",
    spent_nanos: "0",
    granted_nanos: "0",
    refunded_nanos: "0",
    debited_nanos: "500",
    receivable_nanos: "300",
  });
  const { body: page } = await world.management.call("GET", "/accounts/debtor/entries");
  expect((page as { entries: Json[] }).entries).toMatchObject([
    { kind: "receivable", id: "y:chargeback", available_change_nanos: "0", amount_nanos: "300" },
    { kind: "debit", id: "d:chargeback", available_change_nanos: "-500", reason: "inv-7 was never paid" },
    { kind: "credit" },
  ]);
  const credit = { amount_nanos: "50", credit_id: "adjusted", reason: "goodwill" };
  expect((await world.management.call("POST", "/accounts/debtor:credit", credit)).status).toBe(200);
  const { body: after } = await world.management.call("GET", "/accounts/debtor/entries");
  expect((after as { entries: Json[] }).entries[0]).toMatchObject({ kind: "credit", reason: "goodwill" });
  await world.management.verify();
});

test("a correction needs a reason, an id and an operator", async () => {
  const id = await chargedRequest("asked", 1_000_000n);
  const whole = { refund_id: "x", debit_id: "x", amount_nanos: "1", reason: "why" };
  for (const wrong of [{ reason: "" }, { reason: "   " }, { reason: "r".repeat(501) }, { reason: "a\nb" }]) {
    expect((await refund(id, { ...whole, ...wrong, debit_id: undefined })).status).toBe(400);
    expect((await debit("asked", { ...whole, ...wrong, refund_id: undefined })).status).toBe(400);
    // A credit without one is money that was paid in.
    if (wrong.reason === "") continue;
    const credit = { credit_id: "x", amount_nanos: "1", ...wrong };
    expect((await world.management.call("POST", "/accounts/asked:credit", credit)).status).toBe(400);
  }
  expect((await refund(id, { amount_nanos: "1", reason: "why" })).status).toBe(400);
  expect((await debit("asked", { amount_nanos: "1", reason: "why" })).status).toBe(400);
  expect((await debit("asked", { debit_id: "x", amount_nanos: "0", reason: "why" })).status).toBe(400);
  expect((await refund("req_nobody", { refund_id: "x", reason: "why" })).status).toBe(404);
  expect((await debit("nobody", { debit_id: "x", amount_nanos: "1", reason: "why" })).status).toBe(404);
  const { secret } = await world.management.makeKey("asked", { scopes: ["chat", "usage", "keys"] });
  const member = new Management(world.front, secret);
  expect((await member.call("POST", `/requests/${id}:refund`, { refund_id: "x", reason: "mine" })).status).toBe(403);
});
