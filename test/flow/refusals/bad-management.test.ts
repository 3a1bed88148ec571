/** What is wrong with a management request is told with a clear 4xx, and leaves no trace. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { chat } from "../../support/chat-call.js";
import { expectEnvelope, type Trace, traceOf } from "../../support/envelope.js";
import { startWorld, type World } from "../../support/world.js";

let world: World;
let before: Trace;
beforeAll(async () => {
  world = await startWorld();
});
beforeEach(async () => {
  before = await trace();
});
afterAll(async () => {
  await world.management.verify();
  await world.close();
});

const trace = (): Promise<Trace> => traceOf(world);

async function expectNoTrace(): Promise<void> {
  expect(await trace()).toEqual(before);
}

const nested = (levels: number): string => "[".repeat(levels) + "]".repeat(levels);
const credit = (more: object): object => ({ amount_nanos: "5", credit_id: "bad", ...more });
const MANAGEMENT: readonly {
  readonly name: string;
  readonly method?: string;
  readonly path: string;
  readonly body?: unknown;
  readonly status?: number;
}[] = [
  ...[
    -5,
    0,
    1.5,
    "-5",
    "1.5",
    "0",
    "5 ",
    "0x5",
    "",
    "five",
    true,
    [],
    {},
    9.1e15,
    "9223372036854775808",
    "1e3",
    null,
  ].map((amount) => ({
    name: `a credit of ${JSON.stringify(amount)}`,
    path: "/accounts/acme:credit",
    body: credit({ amount_nanos: amount }),
  })),
  {
    name: "a credit beyond what the ledger holds",
    path: "/accounts/acme:credit",
    body: credit({ amount_nanos: "9223372036854775807" }),
  },
  { name: "a credit without an amount", path: "/accounts/acme:credit", body: { credit_id: "bad" } },
  { name: "a credit without an id", path: "/accounts/acme:credit", body: { amount_nanos: "5" } },
  { name: "a credit with a long id", path: "/accounts/acme:credit", body: credit({ credit_id: "x".repeat(129) }) },
  { name: "a credit with an unknown field", path: "/accounts/acme:credit", body: credit({ amount: 5 }) },
  {
    name: "a credit with __proto__",
    path: "/accounts/acme:credit",
    body: '{"__proto__":{},"amount_nanos":"5","credit_id":"bad"}',
  },
  { name: "a credit of another account than the path's", path: "/accounts/acme:credit", body: credit({ id: "other" }) },
  { name: "a credit of nobody", path: "/accounts/nobody:credit", body: credit({}), status: 404 },
  {
    name: "a credit to the operator's own account",
    path: "/accounts/operator:revenue:credit",
    body: credit({}),
    status: 404,
  },
  {
    name: "a credit twice with other amounts",
    path: "/accounts/acme:credit",
    body: { amount_nanos: "6", credit_id: "first-acme" },
    status: 409,
  },
  { name: "a body that is no object", path: "/accounts/acme:credit", body: "[]" },
  { name: "a body that is no JSON", path: "/accounts/acme:credit", body: "{" },
  { name: "a deep body", path: "/accounts/acme:credit", body: `{"x":${nested(1_000)}}` },
  { name: "an account with a bad id", path: "/accounts", body: { id: "../x" } },
  { name: "an account with a long name", path: "/accounts", body: { id: "long", name: "x".repeat(100_000) } },
  { name: "an account twice", path: "/accounts", body: { id: "acme" }, status: 409 },
  { name: "the balance of nobody", method: "GET", path: "/accounts/nobody/balance", status: 404 },
  { name: "entries after a bad token", method: "GET", path: "/accounts/acme/entries?page_token=!!!" },
  { name: "entries in a page below zero", method: "GET", path: "/accounts/acme/entries?page_size=-1" },
  { name: "requests after a bad token", method: "GET", path: "/requests?page_token=e30" },
  { name: "requests with an unknown filter", method: "GET", path: "/requests?colour=red" },
  { name: "a request of nobody", method: "GET", path: "/requests/req_none", status: 404 },
  { name: "usage of a bad day", method: "GET", path: "/usage?from_day=2026-13-41" },
  { name: "a key for nobody", path: "/keys", body: { account_id: "nobody" }, status: 404 },
  {
    name: "a key with a negative limit",
    path: "/keys",
    body: { account_id: "acme", settings: { requests_per_minute: "-1" } },
  },
  { name: "a key with an unknown scope", path: "/keys", body: { account_id: "acme", settings: { scopes: ["root"] } } },
  {
    name: "a key with a bad address",
    path: "/keys",
    body: { account_id: "acme", settings: { addresses: ["999.1.1.1/99"] } },
  },
  { name: "the end of a key that is none", method: "DELETE", path: "/keys/none", status: 404 },
];

describe.each(MANAGEMENT)("$name", ({ method = "POST", path, body, status = 400 }) => {
  test(`is refused with ${status}, and leaves no trace`, async () => {
    const response = await fetch(`${world.front.url}/api/v1${path}`, {
      method,
      headers: { authorization: "Bearer sk-operator-of-this-test-0123456789", "content-type": "application/json" },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    expect(response.status, text).toBe(status);
    expectEnvelope(text);
    await expectNoTrace();
  });
});

test("a key of one account reaches nothing of another's", async () => {
  await world.management.account("neighbour", 5n);
  const { secret } = await world.management.makeKey("neighbour", { scopes: ["chat", "usage", "keys"] });
  const asked = await fetch(`${world.front.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${world.secret}`, "content-type": "application/json" },
    body: JSON.stringify(chat("Hello")),
  });
  const requestId = asked.headers.get("x-request-id") ?? "";
  const call = async (method: string, path: string, body?: object): Promise<number> => {
    const response = await fetch(`${world.front.url}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    expectEnvelope(await response.text());
    return response.status;
  };
  await expect.poll(async () => (await world.management.balance("acme")).heldNanos).toBe(0n);
  before = await trace();
  for (const path of ["/accounts/acme", "/accounts/acme/balance", "/accounts/acme/entries", `/requests/${requestId}`])
    expect(await call("GET", path), path).toSatisfy((status: number) => status === 403 || status === 404);
  expect(await call("GET", "/requests?account_id=acme")).toSatisfy((status: number) => [403, 404].includes(status));
  expect(await call("POST", "/accounts/neighbour:credit", credit({}))).toBe(403);
  expect(await call("POST", "/accounts/acme:credit", credit({}))).toBe(403);
  expect(await call("POST", "/keys", { account_id: "acme" })).toSatisfy((status: number) =>
    [403, 404].includes(status),
  );
  await expectNoTrace();
});
