/** Calls that move or show money, asked wrongly over HTTP and over gRPC: a clear refusal, and no transfer. */
import { credentials, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { CreditAccountRequest, GetStatementRequest } from "../../../src/api/index.js";
import { chat, postChat } from "../../support/chat-call.js";
import { expectEnvelope, type Trace, traceOf } from "../../support/envelope.js";
import { OPERATOR_KEY } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";
import { startWorld, type World } from "../../support/world.js";
import { AccountServiceClient, UsageServiceClient } from "../../support/grpc-clients.js";

const WAIT = { timeout: 60_000, interval: 50 };
let world: World;
let accounts: AccountServiceClient;
let usage: UsageServiceClient;
/** A request of `acme`, and the key of somebody else. */
let requestId: string;
let stranger: string;
/** All that there is before the first case; no case may change it. */
let before: Trace & { readonly balances: unknown };

async function trace(): Promise<typeof before> {
  const balances = await Promise.all(["acme", "other"].map((id) => world.management.balance(id)));
  return { ...(await traceOf(world)), balances };
}

beforeAll(async () => {
  world = await startWorld();
  await world.management.account("other", 7n);
  stranger = (await world.management.makeKey("other", { scopes: ["chat", "usage", "keys"] })).secret;
  accounts = new AccountServiceClient(world.core.grpc, credentials.createInsecure());
  usage = new UsageServiceClient(world.core.grpc, credentials.createInsecure());
  const answer = await postChat(world.front, world.secret, chat("Hello"));
  requestId = answer.headers.get("x-request-id") ?? "";
  await vi.waitFor(async () => expect((await world.management.balance("acme")).heldNanos).toBe(0n), WAIT);
  before = await trace();
});
afterAll(async () => {
  accounts.close();
  usage.close();
  await world.management.verify();
  await world.close();
});

const credit = (more: object): string => JSON.stringify({ amount_nanos: "5", credit_id: "bad", ...more });
const budgets = (more: object): string => JSON.stringify({ account_id: "acme", settings: more });

interface HttpCase {
  readonly name: string;
  readonly path: string;
  readonly method?: string;
  /** As it goes out; absent: a GET. */
  readonly body?: string;
  readonly key?: "stranger";
  readonly status: number;
  /** The parameter that is named. */
  readonly param?: string;
}

const AMOUNTS = [
  "-1",
  '"-1"',
  "0",
  "1.5",
  '"1.5"',
  "1e-1",
  "null",
  "9007199254740993",
  '"9223372036854775808"',
  '"+5"',
];
const HTTP: readonly HttpCase[] = [
  ...[...AMOUNTS, '"1000000000000000001"', '"-9223372036854775808"', "1e999", '"５"', '"NaN"'].map((amount) => ({
    name: `a credit of ${amount}`,
    path: "/accounts/acme:credit",
    body: `{"credit_id":"bad","amount_nanos":${amount}}`,
    status: 400,
  })),
  {
    name: "a credit with no amount",
    path: "/accounts/acme:credit",
    body: '{"credit_id":"bad"}',
    status: 400,
    param: "amount_nanos",
  },
  {
    name: "a credit with two amounts",
    path: "/accounts/acme:credit",
    body: '{"credit_id":"bad","amount_nanos":"5","amountNanos":"6"}',
    status: 400,
    param: "amountNanos",
  },
  {
    name: "a credit with half a letter for an id",
    path: "/accounts/acme:credit",
    body: credit({ credit_id: "\ud800" }),
    status: 400,
  },
  {
    name: "a credit with an id used for another amount",
    path: "/accounts/acme:credit",
    body: credit({ credit_id: "first-acme" }),
    status: 409,
  },
  {
    name: "a credit with an id used for another account",
    path: "/accounts/other:credit",
    body: credit({ credit_id: "first-acme", amount_nanos: "100000000000" }),
    status: 409,
  },
  {
    name: "a credit in the query",
    path: "/accounts/acme:credit?amount_nanos=5&credit_id=bad",
    body: "{}",
    status: 400,
  },
  { name: "a credit by a stranger", path: "/accounts/other:credit", body: credit({}), key: "stranger", status: 403 },
  ...["-1", "1.5", '"9223372036854775808"', '"five"'].flatMap((amount) =>
    ["budget_day_nanos", "budget_month_nanos", "budget_total_nanos", "request_cost_max_nanos"].map((field) => ({
      name: `a key with a ${field} of ${amount}`,
      path: "/keys",
      body: budgets({ [field]: JSON.parse(amount) }),
      status: 400,
      param: `settings.${field}`,
    })),
  ),
  ...["-1", "1.5", '"9223372036854775808"', '"five"'].map((amount) => ({
    name: `an account with a budget of ${amount}`,
    method: "PATCH",
    path: "/accounts/acme",
    body: `{"settings":{"budget_day_nanos":${amount}},"update_mask":"budget_day_nanos"}`,
    status: 400,
    param: "settings.budget_day_nanos",
  })),
  { name: "a stranger's look at a receipt", path: "/requests/REQUEST", key: "stranger", status: 404 },
  { name: "a receipt by its transfer's id", path: "/requests/s:REQUEST", status: 404 },
  { name: "the receipt of a credit", path: "/requests/first-acme", status: 404 },
  { name: "a receipt with a quote in its id", path: "/requests/%27%20OR%20%271", status: 404 },
  { name: "a receipt with a zero byte in its id", path: "/requests/a%00b", status: 404 },
  { name: "a stranger's look at a balance", path: "/accounts/acme/balance", key: "stranger", status: 404 },
  { name: "a stranger's look at a statement", path: "/accounts/acme/statement", key: "stranger", status: 404 },
  { name: "the statement of the operator's own", path: "/accounts/operator:revenue/statement", status: 404 },
  {
    name: "a statement that ends before it begins",
    path: "/accounts/acme/statement?from=2026-02-02&to=2026-02-01",
    status: 400,
    param: "from",
  },
];

describe.each(HTTP)("over HTTP, $name", ({ method, path, body, key, status: want, param }) => {
  test(`is refused with ${want}, and moves nothing`, async () => {
    const response = await fetch(`${world.front.url}/api/v1${path.replace("REQUEST", requestId)}`, {
      method: method ?? (body === undefined ? "GET" : "POST"),
      headers: {
        authorization: `Bearer ${key === "stranger" ? stranger : OPERATOR_KEY}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body }),
    });
    const text = await response.text();
    expect(response.status, text).toBe(want);
    const error = expectEnvelope(text);
    if (param !== undefined) expect(error["param"]).toBe(param);
    expect(await trace()).toEqual(before);
  });
});

interface GrpcCase {
  readonly name: string;
  readonly ask: (metadata: Metadata, done: (error: ServiceError | null) => void) => void;
  readonly key?: "stranger";
  readonly code: status;
}

const creditWith = (more: Partial<CreditAccountRequest>): GrpcCase["ask"] => {
  const request = { id: "acme", amountNanos: 5n, creditId: "bad", reason: "", ...more };
  return (metadata, done) => accounts.creditAccount(request, metadata, done);
};
const statementWith = (more: Partial<GetStatementRequest>): GrpcCase["ask"] => {
  const request = { id: "acme", from: "", to: "", pageSize: 0, pageToken: "", ...more };
  return (metadata, done) => accounts.getStatement(request, metadata, done);
};
const receiptOf = (id: () => string): GrpcCase["ask"] => {
  return (metadata, done) => usage.getRequest({ id: id() }, metadata, done);
};

const GRPC: readonly GrpcCase[] = [
  ...[0n, -1n, 10n ** 18n + 1n, 2n ** 63n - 1n, -(2n ** 63n)].map((amountNanos) => ({
    name: `a credit of ${amountNanos}`,
    ask: creditWith({ amountNanos }),
    code: status.INVALID_ARGUMENT,
  })),
  { name: "a credit without an id", ask: creditWith({ creditId: "" }), code: status.INVALID_ARGUMENT },
  {
    name: "a credit with an endless id",
    ask: creditWith({ creditId: "x".repeat(129) }),
    code: status.INVALID_ARGUMENT,
  },
  { name: "a credit of no account", ask: creditWith({ id: "" }), code: status.INVALID_ARGUMENT },
  { name: "a credit of nobody", ask: creditWith({ id: "nobody" }), code: status.NOT_FOUND },
  { name: "a credit of the operator's own", ask: creditWith({ id: "operator:grants" }), code: status.NOT_FOUND },
  {
    name: "a credit with an id used for another amount",
    ask: creditWith({ creditId: "first-acme" }),
    code: status.ALREADY_EXISTS,
  },
  {
    name: "a credit with an id used for another account",
    ask: creditWith({ id: "other", creditId: "first-acme", amountNanos: 100_000_000_000n }),
    code: status.ALREADY_EXISTS,
  },
  { name: "a credit by a stranger", ask: creditWith({ id: "other" }), key: "stranger", code: status.PERMISSION_DENIED },
  { name: "a stranger's look at a receipt", ask: receiptOf(() => requestId), key: "stranger", code: status.NOT_FOUND },
  { name: "the receipt of nothing", ask: receiptOf(() => ""), code: status.INVALID_ARGUMENT },
  { name: "the receipt of a transfer", ask: receiptOf(() => `h:${requestId}`), code: status.NOT_FOUND },
  { name: "a stranger's look at a statement", ask: statementWith({}), key: "stranger", code: status.NOT_FOUND },
  { name: "a statement of no day", ask: statementWith({ from: "2026-02-30" }), code: status.INVALID_ARGUMENT },
  { name: "a statement in pages below zero", ask: statementWith({ pageSize: -1 }), code: status.INVALID_ARGUMENT },
  {
    name: "a statement after a foreign token",
    ask: statementWith({ pageToken: "e30" }),
    code: status.INVALID_ARGUMENT,
  },
];

describe.each(GRPC)("over gRPC, $name", ({ ask, key, code }) => {
  test(`is refused with ${status[code]}, and moves nothing`, async () => {
    const metadata = new Metadata();
    metadata.set("authorization", `Bearer ${key === "stranger" ? stranger : OPERATOR_KEY}`);
    const error = await new Promise<ServiceError | null>((resolve) => ask(metadata, resolve));
    expect(error?.code, error?.message).toBe(code);
    expect(error?.details).toMatch(/^[^]{10,500}$/);
    expect(await trace()).toEqual(before);
  });
});

test("a credit that is repeated, also at once, is given once", async () => {
  const balance = await world.management.balance("other");
  const body = { amount_nanos: "11", credit_id: "again" };
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => world.management.call("POST", "/accounts/other:credit", body)),
  );
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
  expect(answers.filter((answer) => answer.body["repeated_credit"] === false)).toHaveLength(1);
  const after = await world.management.balance("other");
  expect(after.availableNanos - balance.availableNanos).toBe(11n);
  const shown = await new Management(world.front, stranger).call("GET", "/accounts/other/statement");
  expect(JSON.stringify(shown.body).match(/c:again/g)).toHaveLength(1);
});
