/** A front end apart from its core: one case of each subject that the files about that subject try in one process. */
import OpenAI from "openai";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { Browser, FIRST, firstOperator } from "../../support/browser.js";
import { chat, deliveredText, postChat, readAll } from "../../support/chat-call.js";
import { type DroppingProxy, lossesHeard, startDroppingProxy } from "../../support/dropping-proxy.js";
import { script } from "../../support/fake-upstream.js";
import { OPERATOR_KEY } from "../../support/gateway-process.js";
import { says, startWorld, type World } from "../../support/world.js";

type Json = Readonly<Record<string, unknown>>;

const MIB = 1_048_576;
/** More than any answer here has, so that none is stopped at its limit. */
const OUTPUT_TOKENS_MAX = 20_000_000;
/** Ten tokens read at ten nano-USD, four answered at a hundred. */
const COST_NANOS = 500n;
/** What the fake upstream reports of a long answer, at 10 and 100 nano-USD a token. */
const LONG_USAGE = { prompt_tokens: 10, completion_tokens: 4_000_000, total_tokens: 4_000_010 };
const LONG_COST_NANOS = 400_000_100n;
const VECTORS =
  '  vectors-1: { targets: [{ upstream: fake }], kind: embedding, price: { input: "0.01", output: "0" } }\n';

let world: World;
let proxy: DroppingProxy;
beforeAll(async () => {
  world = await startWorld("front end apart", OUTPUT_TOKENS_MAX, VECTORS);
  proxy = await startDroppingProxy(world.front.url);
});
afterEach(() => {
  world.upstream.override = undefined;
  proxy.lose();
});
afterAll(async () => {
  await proxy.close();
  await world.close();
});

/** What the block cost the account, and how many calls reached the upstream meanwhile. */
async function bill(work: () => Promise<void>): Promise<{ spent: bigint; calls: number }> {
  const before = await world.management.balance("acme");
  const calls = world.upstream.requests.length;
  await work();
  await expect.poll(async () => (await world.management.balance("acme")).heldNanos).toBe(0n);
  const { spentNanos } = await world.management.balance("acme");
  return { spent: spentNanos - before.spentNanos, calls: world.upstream.requests.length - calls };
}

function send(path: string, body: object, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  const authorization = `Bearer ${world.secret}`;
  const all = { authorization, "content-type": "application/json", ...headers };
  return fetch(world.front.url + path, { method: "POST", headers: all, body: JSON.stringify(body) });
}

async function textOf(response: Response): Promise<string> {
  const text = await response.text();
  expect(response.status, text.slice(0, 500)).toBe(200);
  return text;
}

function whole(content: string): string {
  const choices = [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }];
  const answer = { id: "c", object: "chat.completion", created: 1, model: "fake-1", choices };
  return JSON.stringify({ ...answer, usage: LONG_USAGE });
}

test.each([
  { form: "whole", more: {} },
  { form: "streamed", more: { stream: true } },
])("an Idempotency-Key brings its answer again, $form, and is refused with another body", async ({ form, more }) => {
  const headers = { "idempotency-key": `order ${form}` };
  const body = chat(script({ words: 4, headDelayMs: 100 }), more);
  const made = await bill(async () => {
    const first = await postChat(world.front, world.secret, body, { headers });
    const text = await textOf(first);
    const again = await postChat(world.front, world.secret, body, { headers });
    expect(await textOf(again)).toBe(text);
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect(again.headers.get("x-tollgate-original-request")).toBe(first.headers.get("x-request-id"));
    expect((await postChat(world.front, world.secret, chat("Goodbye", more), { headers })).status).toBe(422);
  });
  expect(made).toEqual({ spent: COST_NANOS, calls: 1 });
});

test("a hundred requests at once with one Idempotency-Key are one", async () => {
  const headers = { "idempotency-key": "at once" };
  const body = chat(script({ words: 4, headDelayMs: 300 }));
  const texts = new Set<string>();
  const made = await bill(async () => {
    const ask = async (): Promise<void> => {
      texts.add(await textOf(await postChat(world.front, world.secret, body, { headers })));
    };
    await Promise.all(Array.from({ length: 100 }, ask));
  });
  expect(made).toEqual({ spent: COST_NANOS, calls: 1 });
  expect(texts.size).toBe(1);
});

test("an SDK's retry after two lost connections is one upstream call and one charge", async () => {
  const text = script({ words: 4, headDelayMs: 1_000, id: "lost" });
  const arrived = (): Promise<unknown> => world.upstream.waitFor(({ raw }) => raw.includes('\\"id\\":\\"lost\\"'));
  proxy.lose({ kind: "before the head", when: arrived }, { kind: "before the head", when: arrived });
  const client = new OpenAI({ baseURL: `${proxy.url}/v1`, apiKey: world.secret, maxRetries: 2 });
  const made = await bill(async () => {
    const asked = client.chat.completions.create({ model: "fake-1", messages: says(text) });
    const { data, response } = await asked.withResponse();
    expect(data.choices[0]?.message.content).not.toBe("");
    expect(response.headers.get("x-tollgate-original-request")).toMatch(/^req_/);
  });
  expect(made).toEqual({ spent: COST_NANOS, calls: 1 });
});

test("an answer that an SDK lost on its way comes to its retry", async () => {
  world.upstream.override = { body: whole("word ".repeat((3 * MIB) / 5)) };
  const retry = (count: number): Promise<Response> =>
    postChat(proxy, world.secret, chat("Lost on its way"), { headers: { "x-stainless-retry-count": String(count) } });
  const made = await bill(async () => {
    proxy.lose({ kind: "in the answer", bytes: 100_000 });
    const first = await retry(0);
    await expect(first.arrayBuffer()).rejects.toThrow();
    await lossesHeard(world.front, world.secret);
    const again = await retry(1);
    await textOf(again);
    expect(again.headers.get("x-tollgate-original-request")).toBe(first.headers.get("x-request-id"));
  });
  expect(made).toEqual({ spent: LONG_COST_NANOS, calls: 1 });
});

test("an answer of 17 MiB is served, and its Idempotency-Key then tells what it cost", async () => {
  world.upstream.override = { body: whole("word ".repeat((17 * MIB) / 5)) };
  const headers = { "idempotency-key": "large" };
  const made = await bill(async () => {
    const first = await postChat(world.front, world.secret, chat("Hello"), { headers });
    expect((await textOf(first)).length).toBeGreaterThan(17 * MIB);
    const gone = await postChat(world.front, world.secret, chat("Hello"), { headers });
    expect(gone.status).toBe(409);
    const { error } = (await gone.json()) as { error: { code: string; message: string } };
    expect(error.code).toBe("answer_gone");
    expect(error.message).toContain(String(first.headers.get("x-request-id")));
  });
  expect(made).toEqual({ spent: LONG_COST_NANOS, calls: 1 });
});

test("an answer of 2 MiB in one piece reaches clients of other forms", async () => {
  const text = "It is l\u00f6ng, and \ud83d\ude00. ".repeat((2 * MIB) / 20);
  world.upstream.override = { status: 200, body: whole(text) };
  const messages = { ...chat("Hello"), max_tokens: 1_000 };
  const message = await textOf(await send("/v1/messages", messages, { "anthropic-version": "2023-06-01" }));
  expect((JSON.parse(message) as { content: { text: string }[] }).content[0]?.text === text).toBe(true);
  const stream = await readAll(await postChat(world.front, world.secret, chat("Hello", { stream: true })));
  expect(deliveredText(stream) === text).toBe(true);
});

test("long requests of one wire are answered by a model of another, whole and streamed", async () => {
  const headers = { "x-api-key": world.secret, "anthropic-version": "2023-06-01" };
  for (const stream of [false, true]) {
    const messages = [...says("word ".repeat(400_000)), ...says(script({ text: "from afar" }))];
    const answer = await send("/v1/messages", { model: "fake-1", max_tokens: 50, stream, messages }, headers);
    expect(await textOf(answer)).toMatch(/from[^]*afar/);
  }
  const broken = `{"model":"fake-1","messages":[${" ".repeat(400_000)}`;
  const sent = { ...headers, "content-type": "application/json" };
  const refused = await fetch(`${world.front.url}/v1/messages`, { method: "POST", headers: sent, body: broken });
  expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining("not valid JSON")]);
});

test("vectors come to the official client, and again to its Idempotency-Key", async () => {
  const data = [{ object: "embedding", index: 0, embedding: [0.5, 1, -2] }];
  const usage = { prompt_tokens: 5, total_tokens: 5 };
  world.upstream.override = { status: 200, body: JSON.stringify({ object: "list", model: "vectors-1", data, usage }) };
  const headers = { "idempotency-key": "vectors" };
  const client = new OpenAI({ baseURL: `${world.front.url}/v1`, apiKey: world.secret, maxRetries: 0 });
  const ask = (): Promise<OpenAI.CreateEmbeddingResponse> =>
    client.embeddings.create({ model: "vectors-1", input: "hello" }, { headers });
  const made = await bill(async () => {
    const first = await ask();
    expect(first.data[0]?.embedding).toEqual([0.5, 1, -2]);
    expect(await ask()).toEqual(first);
  });
  expect(made).toEqual({ spent: 50n, calls: 1 });
});

test.each([
  { name: "a chat completion", path: "/v1/chat/completions", body: chat("Hello"), model: "fake-1" },
  { name: "vectors", path: "/v1/embeddings", body: { model: "vectors-1", input: "hello" }, model: "vectors-1" },
])("$name is estimated, and reaches no upstream", async ({ path, body, model }) => {
  const made = await bill(async () => {
    const told = JSON.parse(await textOf(await send(`/api/v1/estimate${path}`, body))) as Json;
    expect(told).toMatchObject({ model, admitted: true });
    expect(Number(told["input_tokens"])).toBeGreaterThan(0);
    expect(Number(told["input_tokens"])).toBeLessThanOrEqual(Number(told["input_tokens_max"]));
  });
  expect(made).toEqual({ spent: 0n, calls: 0 });
});

test("an account's statement comes in pages of JSON, and as CSV", async () => {
  const get = async (query: string): Promise<Response> => {
    const headers = { authorization: `Bearer ${OPERATOR_KEY}` };
    const response = await fetch(`${world.front.url}/api/v1/accounts/acme/statement?${query}`, { headers });
    expect(response.status).toBe(200);
    return response;
  };
  await bill(async () => void (await textOf(await postChat(world.front, world.secret, chat("Hello")))));
  const page = (await (await get("page_size=2")).json()) as { entries: unknown[]; next_page_token: string };
  expect(page.entries).toHaveLength(2);
  expect(page.next_page_token).toMatch(/^[\w-]+$/);
  const csv = await get("format=csv&page_size=2");
  expect(csv.headers.get("content-type")).toMatch(/^text\/csv; charset=utf-8/);
  expect(csv.headers.get("content-disposition")).toBe('attachment; filename="statement-acme.csv"');
  expect(csv.headers.get("x-tollgate-next-page-token")).toBe(page.next_page_token);
  expect((await csv.text()).startsWith("sequence,time,kind")).toBe(true);
});

test("a person signs in, acts with the cookie alone where the console asks, and signs out", async () => {
  await firstOperator(world.core, world.front);
  const browser = new Browser(world.front);
  const signedIn = await browser.signIn(FIRST.email, FIRST.password);
  expect(signedIn.setCookie).toMatch(/^tollgate=[\w-]{43}; Path=\/; Max-Age=604800; HttpOnly; SameSite=Lax$/);
  const who = await browser.call("GET", "/session");
  expect(who.body).toMatchObject({
    user: { email: FIRST.email, installation_role: "operator" },
    session: { current: true, user_agent: "a browser of this test", address: "127.0.0.1" },
  });
  const forged = await browser.call("POST", "/accounts", { id: "forged" }, { origin: "https://evil.example" });
  expect([forged.status, forged.reason]).toEqual([403, "SESSION_REFUSED"]);
  expect((await browser.call("POST", "/accounts", { id: "made" })).status).toBe(200);
  const token = browser.cookies.get("tollgate") ?? "";
  const bearer = await new Browser(world.front).call("GET", "/session", undefined, {
    authorization: `Bearer ${token}`,
  });
  expect([bearer.status, bearer.reason]).toEqual([401, "KEY_INVALID"]);
  expect((await browser.call("DELETE", "/sessions/current")).status).toBe(200);
  const kept = new Browser(world.front);
  kept.cookies.set("tollgate", token);
  const after = await kept.call("GET", "/session");
  expect([after.status, after.reason]).toEqual([401, "SESSION_ENDED"]);
});

test("a change that is refused leaves its record, with the address of its caller and nothing of its body", async () => {
  const { secret, id } = await world.management.makeKey("acme", { scopes: ["models"] });
  const body = { reason: "a secret of this body" };
  const refused = await send("/api/v1/accounts/acme:freeze", body, { authorization: `Bearer ${secret}` });
  expect(refused.status).toBe(403);
  const records = async (): Promise<readonly Json[]> => {
    const query = `/audit_events?result=refused&actor=${id}`;
    return (await world.management.call("GET", query)).body["audit_events"] as Json[];
  };
  await expect.poll(async () => (await records()).length).toBe(1);
  const [record] = await records();
  expect(record).toMatchObject({ method: "AccountService.FreezeAccount", actor: { id, address: "127.0.0.1" } });
  expect(JSON.stringify(record)).not.toContain("a secret of this body");
});

test("the ledger holds", async () => {
  await expect.poll(async () => (await world.management.balance("acme")).heldNanos).toBe(0n);
  expect(await world.management.verify()).toMatchObject({ open_hold_count: "0" });
});
