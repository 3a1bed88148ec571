/** The order of checks: of several things that are wrong with a request, the earlier one is told. */
import { once } from "node:events";
import { connect } from "node:http2";
import { status } from "@grpc/grpc-js";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { chat, postChat } from "../../support/chat-call.js";
import { script } from "../../support/fake-upstream.js";
import { startWorld, TOPOLOGIES, type World } from "../../support/world.js";

const UNKNOWN_KEY = "sk-nobody-has-this-key-1";
const LARGE = "x".repeat(33 * 1024 * 1024);

let world: World;
const keys: Record<string, string> = {};
/** Ends the one request that its key may have at once. */
const leaving = new AbortController();
let running: Promise<unknown>;

/** Keys of which one call uses up the one request, or the tokens, of a minute. */
const LIMITED: Readonly<Record<string, readonly [account: string, settings: object]>> = {
  narrow: ["poorhouse", { models: ["other-*"], tokens_per_minute: "1" }],
  hasty: ["poorhouse", { models: ["other-*"], requests_per_minute: "1" }],
  wordy: ["poorhouse", { tokens_per_minute: "1" }],
  frozen: ["icehouse", { models: ["other-*"], requests_per_minute: "1" }],
};
/** They are made anew long before their minute is over. */
const FRESH_MS = 10_000;
let usedUpMs = -Infinity;
/** How many calls did so. */
let usedUp = 0;

async function key(name: string, account: string, settings: object): Promise<void> {
  keys[name] = (await world.management.makeKey(account, { name, ...settings })).secret;
}

/** Makes them, uses them up, which costs nothing, and freezes their account. */
async function useUp(): Promise<void> {
  usedUpMs = performance.now();
  await world.management.call("POST", "/accounts/icehouse:unfreeze", {});
  for (const [name, [account, settings]] of Object.entries(LIMITED)) {
    await key(name, account, settings);
    usedUp += 1;
    expect((await ask(name, "other-1", "x")).status).toBe(200);
  }
  const frozen = await world.management.call("POST", "/accounts/icehouse:freeze", { reason: "unpaid" });
  expect(frozen.status).toBe(200);
}

beforeAll(async () => {
  world = await startWorld(TOPOLOGIES[1]);
  const { management } = world;
  await management.account("poorhouse", 1n);
  await key("scopeless", "poorhouse", { scopes: ["models"], addresses: ["203.0.113.0/24"] });
  await key("modest", "poorhouse", { scopes: ["models"] });
  await key("elsewhere", "poorhouse", { addresses: ["203.0.113.0/24"] });
  await key("poor", "poorhouse", {});
  await management.account("icehouse", 1n);
  await key("frozen elsewhere", "icehouse", { addresses: ["203.0.113.0/24"] });
  // The one request at once of its key runs until the tests are over; it costs nothing.
  await key("busy", "poorhouse", { concurrency: "1" });
  const hanging = chat(script({ hang: true }), { model: "other-1", user: "hangs" });
  running = postChat(world.front, keys["busy"] ?? "", hanging, { signal: leaving.signal }).catch(() => undefined);
  await world.upstream.waitFor(({ raw }) => raw.includes("hangs"));
});
beforeEach(async () => {
  if (performance.now() - usedUpMs > FRESH_MS) await useUp();
});
afterAll(async () => {
  leaving.abort();
  await running;
  await world.close();
});

test.each([
  {
    first: "401 key",
    than: "a body too large",
    key: UNKNOWN_KEY,
    model: "fake-1",
    text: LARGE,
    status: 401,
    code: "invalid_api_key",
  },
  { first: "401 key", than: "a broken body", key: UNKNOWN_KEY, raw: "{", status: 401, code: "invalid_api_key" },
  {
    first: "403 scope",
    than: "the address",
    key: "scopeless",
    model: "fake-1",
    text: "x",
    status: 403,
    code: "scope_missing",
  },
  {
    first: "403 scope",
    than: "a body too large",
    key: "modest",
    model: "fake-1",
    text: LARGE,
    status: 403,
    code: "scope_missing",
  },
  { first: "403 address", than: "a broken body", key: "elsewhere", raw: "{", status: 403, code: "address_not_allowed" },
  {
    first: "403 address",
    than: "the frozen account",
    key: "frozen elsewhere",
    model: "other-1",
    text: "x",
    status: 403,
    code: "address_not_allowed",
  },
  {
    first: "403 frozen",
    than: "a body too large and the requests",
    key: "frozen",
    model: "other-1",
    text: LARGE,
    status: 403,
    code: "account_frozen",
    limit: "unpaid",
  },
  { first: "403 frozen", than: "a broken body", key: "frozen", raw: "{", status: 403, code: "account_frozen" },
  {
    first: "403 frozen",
    than: "an unknown model",
    key: "frozen",
    model: "gpt-9",
    text: "x",
    status: 403,
    code: "account_frozen",
  },
  {
    first: "429 requests",
    than: "a body too large",
    key: "hasty",
    model: "other-1",
    text: LARGE,
    status: 429,
    code: "rate_limit_exceeded",
    limit: "requests_per_minute",
  },
  {
    first: "429 requests",
    than: "a broken body",
    key: "hasty",
    raw: "{",
    status: 429,
    code: "rate_limit_exceeded",
    limit: "requests_per_minute",
  },
  {
    first: "429 requests",
    than: "an unknown model",
    key: "hasty",
    model: "gpt-9",
    text: "x",
    status: 429,
    code: "rate_limit_exceeded",
    limit: "requests_per_minute",
  },
  {
    first: "429 requests at once",
    than: "a body too large",
    key: "busy",
    model: "other-1",
    text: LARGE,
    status: 429,
    code: "rate_limit_exceeded",
    limit: "concurrency",
  },
  {
    first: "429 requests at once",
    than: "a broken body",
    key: "busy",
    raw: "{",
    status: 429,
    code: "rate_limit_exceeded",
    limit: "concurrency",
  },
  {
    first: "413 size",
    than: "an unknown model",
    key: "poor",
    model: "gpt-9",
    text: LARGE,
    status: 413,
    code: "request_too_large",
  },
  {
    first: "400 body",
    than: "an unknown model",
    key: "poor",
    raw: '{"model":"gpt-9"}',
    status: 400,
    code: "missing_required_parameter",
  },
  {
    first: "404 model",
    than: "a model not allowed",
    key: "narrow",
    model: "gpt-9",
    text: "x",
    status: 404,
    code: "model_not_found",
  },
  {
    first: "403 model",
    than: "the tokens",
    key: "narrow",
    model: "fake-1",
    text: "x",
    status: 403,
    code: "model_not_allowed",
  },
  {
    first: "429 tokens",
    than: "the balance",
    key: "wordy",
    model: "fake-1",
    text: "x",
    status: 429,
    code: "rate_limit_exceeded",
    limit: "tokens_per_minute",
  },
  {
    first: "402 balance",
    than: "the upstream",
    key: "poor",
    model: "fake-1",
    text: "x",
    status: 402,
    code: "insufficient_balance",
  },
])("$first comes before $than", async ({ key, model, text, raw, status, code, limit }) => {
  const response = await ask(key, model ?? "", text ?? "", raw);
  expect(response.status).toBe(status);
  expect(await response.json()).toMatchObject({
    error: { code, message: expect.stringContaining(limit ?? "") as string },
  });
});

test.each([
  { first: "429 requests", key: "hasty", says: "requests_per_minute" },
  { first: "429 requests at once", key: "busy", says: "concurrency" },
])("$first comes before a body too large where the core has the port itself", async ({ key, says }) => {
  const response = await ask(key, "other-1", LARGE, undefined, world.core.url);
  expect([response.status, await response.text()]).toEqual([429, expect.stringContaining(says)]);
});

test("429 requests comes before an answer that may come again only once the body tells that it does not", async () => {
  const headers = { "idempotency-key": "a-key-of-this-test" };
  expect((await ask("hasty", "other-1", LARGE, undefined, world.front.url, headers)).status).toBe(413);
  expect((await ask("hasty", "other-1", "x", undefined, world.front.url, headers)).status).toBe(429);
});

test.each(["/api/v1/estimate", "/api/v1/estimate/v1/chat/completions"])("%s is not refused by limits", async (path) => {
  const body = JSON.stringify({ model: "other-1", messages: [{ role: "user", content: "x" }] });
  const headers = { authorization: `Bearer ${keys["hasty"]}`, "content-type": "application/json" };
  expect((await fetch(world.front.url + path, { method: "POST", headers, body })).status).toBe(200);
});

test.each([
  { key: "hasty", status: 429 },
  { key: "frozen", status: 403 },
])("a count of tokens is refused to a key as a request is: $key with $status", async ({ key, status: expected }) => {
  const body = JSON.stringify({ model: "other-1", max_tokens: 1, messages: [{ role: "user", content: "x" }] });
  const headers = { "x-api-key": keys[key] ?? "", "content-type": "application/json" };
  const url = `${world.front.url}/v1/messages/count_tokens`;
  expect((await fetch(url, { method: "POST", headers, body })).status).toBe(expected);
});

test("an answer that may come again is refused to a frozen account once its body tells that it does not", async () => {
  const headers = { "idempotency-key": "a-key-of-the-frozen" };
  const response = await ask("frozen", "gpt-9", "x", undefined, world.front.url, headers);
  expect([response.status, await response.text()]).toEqual([403, expect.stringContaining("account_frozen")]);
});

test("an account that is unfrozen is asked for its limits, its model and its money again", async () => {
  expect((await world.management.call("POST", "/accounts/icehouse:unfreeze", {})).status).toBe(200);
  expect((await ask("frozen", "other-1", LARGE)).status).toBe(429);
  expect((await world.management.call("POST", "/accounts/icehouse:freeze", { reason: "unpaid" })).status).toBe(200);
});

test.each([
  { first: "403 frozen", key: "frozen", code: status.PERMISSION_DENIED, says: "is frozen: unpaid" },
  { first: "429 requests", key: "hasty", code: status.RESOURCE_EXHAUSTED, says: "requests_per_minute" },
  { first: "429 requests at once", key: "busy", code: status.RESOURCE_EXHAUSTED, says: "concurrency" },
])("$first comes before the message of a gRPC call", async ({ key, code, says }) => {
  const session = connect(`http://${world.core.grpc}`);
  const path = "/tollgate.v1.InferenceService/Generate";
  const headers = { ":method": "POST", ":path": path, "content-type": "application/grpc+proto", te: "trailers" };
  const stream = session.request({ ...headers, authorization: `Bearer ${keys[key]}` });
  stream.resume();
  // Thirty mebibytes are announced, and none comes.
  stream.write(Buffer.from([0, 0x01, 0xe0, 0, 0]));
  const told: Record<string, unknown> = {};
  for (const event of ["response", "trailers"]) stream.on(event, (more: object) => Object.assign(told, more));
  await once(stream, "end");
  session.destroy();
  expect(told["grpc-status"]).toBe(String(code));
  expect(decodeURIComponent(String(told["grpc-message"]))).toContain(says);
});

test("none of them left a hold or reached the upstream", async () => {
  expect((await world.management.balance("poorhouse")).heldNanos).toBe(0n);
  // Those that used a limit up, and the one that hangs.
  expect(world.upstream.requests).toHaveLength(usedUp + 1);
  await world.management.verify();
});

function ask(
  key: string,
  model: string,
  text: string,
  raw?: string,
  url = world.front.url,
  more: Record<string, string> = {},
): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${keys[key] ?? key}`, "content-type": "application/json", ...more },
    body: raw ?? JSON.stringify({ model, messages: [{ role: "user", content: text }] }),
  });
}
