/** The management routes are made of the protocol: JSON in, the method's message over the channel, JSON out. */
import { ScalarType } from "@bufbuild/protobuf";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { methods } from "../../src/api/descriptors.js";
import {
  CreateKeyRequest,
  CreateKeyResponse,
  CreditAccountRequest,
  CreditAccountResponse,
  GetBalanceResponse,
  GetModelRequest,
  GetModelResponse,
  ListKeysRequest,
  ListKeysResponse,
  RevokeKeyRequest,
  RevokeKeyResponse,
  VerifyLedgerResponse,
} from "../../src/api/index.js";
import { GatewayError } from "../../src/base/errors.js";
import { KEY, startServer, type TestServer } from "../support/http-server.js";

let it: TestServer;
let sent: Buffer = Buffer.alloc(0);

function script(path: string, answer: () => Uint8Array): void {
  it.channel.unaryScripts.set(`/tollgate.v1.${path}`, ({ bytes }) => {
    sent = bytes;
    return answer();
  });
}

const BALANCE = GetBalanceResponse.decode(new Uint8Array());

beforeAll(async () => {
  it = await startServer();
  script("KeyService/CreateKey", () => CreateKeyResponse.encode({ key: undefined, secret: "sk-new" }).finish());
  script("KeyService/ListKeys", () => ListKeysResponse.encode({ keys: [], nextPageToken: "" }).finish());
  script("KeyService/RevokeKey", () => RevokeKeyResponse.encode({ key: undefined }).finish());
  script("ModelService/GetModel", () => GetModelResponse.encode({ model: undefined }).finish());
  script("AccountService/CreditAccount", () =>
    CreditAccountResponse.encode({ availableNanos: 9_007_199_254_740_993n, repeatedCredit: false }).finish(),
  );
  script("AccountService/GetBalance", () =>
    GetBalanceResponse.encode({ ...BALANCE, availableNanos: 5n, spentNanos: 1n, grantedNanos: 6n }).finish(),
  );
  script("AccountService/VerifyLedger", () =>
    VerifyLedgerResponse.encode({
      holds: true,
      problems: [],
      accountCount: 1n,
      transferCount: 0n,
      auditEventCount: 0n,
      openHoldCount: 0n,
      archivedTransferCount: 0n,
    }).finish(),
  );
});
beforeEach(() => {
  sent = Buffer.alloc(0);
  it.channel.calls.length = 0;
  it.channel.lacks.clear();
});
afterAll(() => it.close());

async function call(method: string, path: string, body?: unknown, headers: Record<string, string> = KEY) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const json = body === undefined ? {} : { "content-type": "application/json" };
  const response = await fetch(it.url + path, { method, headers: { ...headers, ...json }, body: text ?? null });
  const isJson = response.headers.get("content-type")?.startsWith("application/json") === true;
  const answer = await response.text();
  return { status: response.status, headers: response.headers, json: isJson ? JSON.parse(answer) : undefined };
}

test("every method with an HTTP rule has its route", async () => {
  const ruled = methods().flatMap(({ path, http, desc }) => (http === undefined ? [] : [{ path, http, desc }]));
  expect(ruled.length).toBeGreaterThan(15);
  for (const { http, path, desc } of ruled) {
    const valueOf = (name: string): string => {
      const field = desc.input.fields.find((one) => one.name === name);
      if (field?.enum !== undefined) return field.enum.values[1]?.name ?? "";
      return field?.scalar === ScalarType.STRING ? "some-id" : "1";
    };
    it.channel.calls.length = 0;
    const at = http.pattern.replaceAll(/\{(\w+)(?:=\*\*)?\}/g, (_, name: string) => valueOf(name));
    // As a page of ours asks, which people sign in on.
    const headers = { ...KEY, origin: it.url, "x-tollgate-console": "1" };
    const { status } = await call(http.verb, at, http.body === "*" ? {} : undefined, headers);
    expect(status, `${http.verb} ${at}`).not.toBe(404);
    expect(it.channel.calls.map((call) => call.path)).toEqual([path]);
  }
});

describe("what is sent", () => {
  test("a body's fields are read under either of their names, with 64-bit integers as text or number", async () => {
    const body = {
      account_id: "acme",
      settings: {
        requestsPerMinute: 60,
        tokens_per_minute: "9007199254740993",
        budget_day_nanos: null,
        scopes: ["chat"],
        metadata: { team: "red" },
        expire_time: "2026-12-01T00:00:00Z",
      },
    };
    expect((await call("POST", "/api/v1/keys", body)).status).toBe(200);
    expect(CreateKeyRequest.decode(sent)).toMatchObject({
      accountId: "acme",
      settings: {
        requestsPerMinute: 60n,
        tokensPerMinute: 9_007_199_254_740_993n,
        budgetDayNanos: 0n,
        scopes: ["chat"],
        metadata: { team: "red" },
        expireTime: new Date("2026-12-01T00:00:00Z"),
      },
    });
  });

  test.each([
    { body: { amount_nanos: "5", credit_id: "inv-7" } },
    { body: { amountNanos: 5, creditId: "inv-7", id: "acme" } },
  ])("a path's field joins those of the body: %o", async ({ body }) => {
    expect((await call("POST", "/api/v1/accounts/acme:credit", body)).status).toBe(200);
    expect(CreditAccountRequest.decode(sent)).toEqual({ id: "acme", amountNanos: 5n, creditId: "inv-7", reason: "" });
  });

  test("a query's fields are read, and none are needed", async () => {
    const ALL = { accountId: "", ids: [], pageSize: 0, pageToken: "", text: "", revoked: undefined };
    await call("GET", "/api/v1/keys?account_id=acme&pageSize=7&page_token=a%26b");
    expect(ListKeysRequest.decode(sent)).toEqual({ ...ALL, accountId: "acme", pageSize: 7, pageToken: "a&b" });
    await call("GET", "/api/v1/keys");
    expect(ListKeysRequest.decode(sent)).toEqual(ALL);
  });

  test("an identifier is decoded, and may hold slashes where the rule says so", async () => {
    await call("GET", "/api/v1/models/a/b%2Fc");
    expect(GetModelRequest.decode(sent)).toEqual({ id: "a/b/c" });
    await call("DELETE", "/api/v1/keys/key%201");
    expect(RevokeKeyRequest.decode(sent)).toEqual({ id: "key 1" });
  });

  test("an empty body stands for no fields", async () => {
    expect((await call("POST", "/api/v1/ledger:verify")).json).toMatchObject({ holds: true, account_count: "1" });
  });
});

describe("what comes back", () => {
  test("has the proto's names, every field, and 64-bit integers as text", async () => {
    const { json, headers } = await call("POST", "/api/v1/accounts/acme:credit", { amount_nanos: 1, credit_id: "c" });
    expect(json).toEqual({
      available_nanos: "9007199254740993",
      available: "9007199.254740993 USD",
      repeated_credit: false,
    });
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(headers.get("x-request-id")).toBe("req_core");
    expect((await call("GET", "/api/v1/keys")).json).toEqual({ keys: [], next_page_token: "" });
    expect((await call("GET", "/api/v1/accounts/acme/balance")).json).toMatchObject({
      available_nanos: "5",
      held_nanos: "0",
      spent_nanos: "1",
      granted_nanos: "6",
      refunded_nanos: "0",
      debited_nanos: "0",
      receivable_nanos: "0",
    });
  });

  test("is the service's refusal, in the envelope of four", async () => {
    it.channel.unaryScripts.set("/tollgate.v1.KeyService/GetKey", () => {
      throw new GatewayError("ERROR_REASON_RESOURCE_UNKNOWN", { kind: "key", id: "key_1", request_id: "req_7" });
    });
    const { status, headers, json } = await call("GET", "/api/v1/keys/key_1");
    it.channel.unaryScripts.delete("/tollgate.v1.KeyService/GetKey");
    expect(status).toBe(404);
    expect(json).toEqual({
      error: {
        message: "There is no key 'key_1', or it is not yours.",
        type: "invalid_request_error",
        param: null,
        code: "not_found",
      },
    });
    expect(headers.get("x-request-id")).toBe("req_7");
    expect(headers.get("cache-control")).toBe("no-store");
  });
});

const CREDIT = "/api/v1/accounts/acme:credit";
const REFUSED = [
  { name: "an unknown field", path: "/api/v1/keys", body: { settings: { budget: 1 } }, param: "settings.budget" },
  { name: "a field that only objects have", path: "/api/v1/keys", body: '{"__proto__":{}}', param: "__proto__" },
  { name: "a fraction", path: CREDIT, body: { amount_nanos: 1.5 }, param: "amount_nanos" },
  { name: "a fraction as text", path: CREDIT, body: { amount_nanos: "1.5" }, param: "amount_nanos" },
  { name: "a rounded integer", path: CREDIT, body: '{"amount_nanos":9007199254740993}', param: "amount_nanos" },
  {
    name: "an integer out of range",
    path: CREDIT,
    body: { amount_nanos: "9223372036854775808" },
    param: "amount_nanos",
  },
  { name: "a flag as a number", path: "/api/v1/keys", body: { settings: { strict: 1 } }, param: "settings.strict" },
  { name: "a number as a name", path: "/api/v1/keys", body: { account_id: 7 }, param: "account_id" },
  { name: "a text as a list", path: "/api/v1/keys", body: { settings: { scopes: "chat" } }, param: "settings.scopes" },
  { name: "a bad item", path: "/api/v1/keys", body: { settings: { scopes: ["a", 1] } }, param: "settings.scopes[1]" },
  { name: "a null item", path: "/api/v1/keys", body: { settings: { scopes: [null] } }, param: "settings.scopes[0]" },
  {
    name: "a bad label",
    path: "/api/v1/keys",
    body: { settings: { metadata: { a: 1 } } },
    param: "settings.metadata.a",
  },
  {
    name: "no time at all",
    path: "/api/v1/keys",
    body: { settings: { expire_time: "2026-13-01T00:00:00Z" } },
    param: "settings.expire_time",
  },
  { name: "one field under two names", path: CREDIT, body: { credit_id: "a", creditId: "b" }, param: "creditId" },
  { name: "another identifier than the path's", path: CREDIT, body: { id: "other" }, param: "id" },
  { name: "a query beside a body", path: `${CREDIT}?credit_id=a`, body: {}, param: "credit_id" },
  { name: "an object that is none", path: "/api/v1/keys", body: { settings: [] }, param: "settings" },
];

describe("a request that does not fit its message", () => {
  test.each(REFUSED)("$name: the field is named", async ({ path, body, param }) => {
    const { status, json } = await call("POST", path, body);
    expect(status).toBe(400);
    expect(json.error).toMatchObject({ param, code: "invalid_value" });
    expect(json.error.message).toContain(`'${param}'`);
    expect(json.error.message).not.toMatch(/tollgate\.v1|decode|undefined/);
    expect(it.channel.called).toEqual([]);
  });

  test.each([
    { path: "/api/v1/keys?acount_id=a", param: "acount_id" },
    { path: "/api/v1/keys?page_size=many", param: "page_size" },
    { path: "/api/v1/keys?page_size=1&page_size=2", param: "page_size" },
    { path: "/api/v1/keys?__proto__=1", param: "__proto__" },
  ])("$path: the parameter is named", async ({ path, param }) => {
    const { status, json } = await call("GET", path);
    expect(status).toBe(400);
    expect(json.error.param).toBe(param);
  });

  test.each([
    { name: "no JSON", body: "{" },
    { name: "a list", body: "[]" },
    { name: "null", body: "null" },
  ])("$name is no body", async ({ body }) => {
    const { status, json } = await call("POST", "/api/v1/keys", body);
    expect(status).toBe(400);
    expect(json.error.code).toBe("invalid_body");
  });

  test("a stranger learns nothing of it", async () => {
    expect((await call("POST", CREDIT, { amount_nanos: 1.5 }, {})).status).toBe(401);
    it.channel.lacks.add("operator");
    expect((await call("POST", CREDIT, { amount_nanos: 1.5 })).status).toBe(403);
  });
});
