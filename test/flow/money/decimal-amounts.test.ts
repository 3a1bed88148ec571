/** Amounts as people write them, over HTTP and gRPC: what is clear is taken exactly, all else is refused in words. */
import { credentials, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { CreditAccountRequest, CreditAccountResponse } from "../../../src/api/index.js";
import { type GatewayProcess, OPERATOR_KEY, startGateway } from "../../support/gateway-process.js";
import { AccountServiceClient } from "../../support/grpc-clients.js";
import { Management } from "../../support/management.js";

type Json = Readonly<Record<string, unknown>>;

let gateway: GatewayProcess;
let management: Management;
let accounts: AccountServiceClient;
beforeAll(async () => {
  gateway = await startGateway();
  management = new Management(gateway);
  accounts = new AccountServiceClient(gateway.grpc, credentials.createInsecure());
  await management.account("acme", 1_000_000_000n);
});
afterAll(async () => {
  accounts.close();
  await management.verify();
  await gateway.stop();
});

const post = (path: string, body: object): Promise<{ status: number; body: Json }> =>
  management.call("POST", path, body);

function settingsOf({ body }: { body: Json }, kind: string): Json {
  return (body[kind] as Json)["settings"] as Json;
}

async function creditOverGrpc(given: Partial<CreditAccountRequest>): Promise<CreditAccountResponse> {
  const metadata = new Metadata();
  metadata.set("authorization", `Bearer ${OPERATOR_KEY}`);
  const asked = { id: "acme", amountNanos: 0n, creditId: "grpc", reason: "", ...given };
  return new Promise((resolve, reject) => {
    accounts.creditAccount(asked, metadata, (error, answer) => (error === null ? resolve(answer) : reject(error)));
  });
}

test("a credit and a debit in USD move what they say, and the balance shows it", async () => {
  await post("/accounts", { id: "paying" });
  const credited = await post("/accounts/paying:credit", { amount: "25.000000001", credit_id: "one" });
  expect(credited.body).toMatchObject({ available_nanos: "25000000001", available: "25.000000001 USD" });
  // One credit is the same in both forms.
  const again = await post("/accounts/paying:credit", { amount_nanos: "25000000001", credit_id: "one" });
  expect(again.body).toMatchObject({ repeated_credit: true, available: "25.000000001 USD" });
  const debit = { amount: "5 USD", debit_id: "two", reason: "paid twice" };
  expect((await post("/accounts/paying:debit", debit)).body).toMatchObject({
    debited_nanos: "5000000000",
    debited: "5.00 USD",
    receivable: "0.00 USD",
  });
  const { body } = await management.call("GET", "/accounts/paying/balance");
  expect(body).toMatchObject({ available: "20.000000001 USD", granted: "20.000000001 USD", held: "0.00 USD" });
  expect(Object.keys(body).slice(0, 4)).toEqual(["available_nanos", "available", "held_nanos", "held"]);
  const { body: entries } = await management.call("GET", "/accounts/paying/entries");
  const changes = (entries["entries"] as Json[]).map((entry) => entry["available_change"]);
  expect(changes).toEqual(["-5.00 USD", "25.000000001 USD"]);
});

test("budgets in USD are set, shown, and taken away by null, of accounts and of keys", async () => {
  const things = [
    { kind: "account", path: "/accounts/acme" },
    { kind: "key", path: `/keys/${(await management.makeKey("acme", { budget_day: "7.25" })).id}` },
  ];
  for (const { kind, path } of things) {
    const change = { budget_day: "5.00", request_cost_max: "0.5 USD", concurrency: "3" };
    const set = await management.call("PATCH", path, { settings: change });
    expect(settingsOf(set, kind)).toMatchObject({
      budget_day_nanos: "5000000000",
      budget_day: "5.00 USD",
      request_cost_max_nanos: "500000000",
    });
    const named = { settings: { budget_month: "9", budget_day: "1" }, update_mask: "budget_month" };
    expect(settingsOf(await management.call("PATCH", path, named), kind)).toMatchObject({
      budget_day: "5.00 USD",
      budget_month: "9.00 USD",
    });
    const off = await management.call("PATCH", path, { settings: { budget_day: null } });
    expect(settingsOf(off, kind)).toMatchObject({ budget_day: "0.00 USD", budget_month: "9.00 USD" });
  }
});

test("what is shown of settings can be sent back as it is", async () => {
  const { body } = await management.call("GET", "/accounts/acme");
  const shown = settingsOf({ body }, "account");
  const back = await management.call("PATCH", "/accounts/acme", { settings: shown });
  expect(settingsOf(back, "account")).toEqual(shown);
});

describe("over HTTP", () => {
  test.each([
    { amount: 25, says: "is a number, which readers of JSON may round" },
    { amount: 0.1, says: "is a number, which readers of JSON may round" },
    { amount: "-1.00", says: "must have no sign" },
    { amount: "+1.00", says: "must have no sign" },
    { amount: "1e3", says: "must have no exponent" },
    { amount: "1.0000000001", says: "must have at most nine decimals" },
    { amount: "1.0000000000", says: "must have at most nine decimals" },
    { amount: "1000000000.000000001", says: "must be at most 1000000000.00 USD" },
    { amount: "99999999999999999999", says: "must be at most 1000000000.00 USD" },
    { amount: "25.00 EUR", says: "must be a decimal amount" },
    { amount: "$25.00", says: "must be a decimal amount" },
    { amount: "25,00", says: "must be a decimal amount" },
    { amount: ".5", says: "must be a decimal amount" },
    { amount: "5.", says: "must be a decimal amount" },
    { amount: "", says: "must be a decimal amount" },
    { amount: " 5", says: "must be a decimal amount" },
    { amount: "５", says: "must be a decimal amount" },
    { amount: true, says: "must be an amount" },
    { amount: { currency_code: "USD", units: "5" }, says: "must be an amount" },
    { amount: ["5"], says: "must be an amount" },
  ])("an amount of $amount is refused: $says", async ({ amount, says }) => {
    const before = await management.balance("acme");
    const credit = await post("/accounts/acme:credit", { amount, credit_id: "bad" });
    expect(credit).toMatchObject({ status: 400, body: { error: { param: "amount" } } });
    expect(JSON.stringify(credit.body)).toContain(says);
    const settings = { settings: { budget_day: amount } };
    const update = await management.call("PATCH", "/accounts/acme", settings);
    expect(update).toMatchObject({ status: 400, body: { error: { param: "settings.budget_day" } } });
    expect(await management.balance("acme")).toEqual(before);
  });

  test.each([
    { name: "another amount", body: { amount: "5.00", amount_nanos: "1" }, status: 400 },
    { name: "zero", body: { amount: "5.00", amount_nanos: "0" }, status: 400 },
    { name: "the same", body: { amount: "5.00", amount_nanos: "5000000000" }, status: 200 },
    { name: "null", body: { amount: "5.00", amount_nanos: null }, status: 200 },
    { name: "its own other name", body: { amount: null, amountNanos: "5000000000" }, status: 200 },
  ])("an amount beside $name is answered with $status", async ({ name, body, status: want }) => {
    const answer = await post("/accounts/acme:credit", { ...body, credit_id: `beside-${name}` });
    expect(answer.status).toBe(want);
    if (want !== 200) expect(JSON.stringify(answer.body)).toContain("differs from amount_nanos: send one of the two");
  });
});

describe("over gRPC", () => {
  test("an amount of google.type.Money is credited, and the answer says both", async () => {
    const before = await management.balance("acme");
    const answer = await creditOverGrpc({ amount: { currencyCode: "USD", units: 2n, nanos: 50 } });
    expect(answer.availableNanos).toBe(before.availableNanos + 2_000_000_050n);
    const { units = 0n, nanos = 0 } = answer.available ?? {};
    expect(units * 1_000_000_000n + BigInt(nanos)).toBe(answer.availableNanos);
  });

  test.each([
    { name: "other nanos", amountNanos: 1n, units: 2n, nanos: 0 },
    { name: "another currency", currencyCode: "EUR", units: 2n, nanos: 0 },
    { name: "no currency", currencyCode: "", units: 2n, nanos: 0 },
    { name: "units below zero", units: -1n, nanos: 0 },
    { name: "nanos of another sign", units: 1n, nanos: -1 },
    { name: "too many nanos", units: 0n, nanos: 1_000_000_000 },
    { name: "more than all", units: 2n ** 63n - 1n, nanos: 0 },
  ])(
    "an amount with $name is refused, and the field is named",
    async ({ currencyCode = "USD", units, nanos, amountNanos = 0n }) => {
      const asked = { creditId: "bad", amountNanos, amount: { currencyCode, units, nanos } };
      const error = await creditOverGrpc(asked).catch((caught: ServiceError) => caught);
      expect(error).toMatchObject({ code: status.INVALID_ARGUMENT, details: expect.stringContaining("amount") });
    },
  );
});
