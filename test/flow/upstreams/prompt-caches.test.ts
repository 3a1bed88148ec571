/** What a shared server caches of one account's prompts is read by that account alone, end to end. */
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import OpenAI from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";
import { says } from "../../support/world.js";

interface Asked {
  readonly model: string;
  readonly messages: unknown;
  readonly cache_salt?: string;
  readonly cache_prompt?: boolean;
}

const INPUT_TOKENS = 200;
const CACHED_TOKENS = 123;
const SALT = /^[\w-]{43}$/;
const PRICE = "{ input: 1, output: 1, cache_read: 0.1 }";

/** Reuses what it was asked before with the same salt, as vLLM does, or by anybody, as llama.cpp does. */
class CachingServer {
  readonly asked: Asked[] = [];
  readonly #seen = new Set<string>();
  readonly server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify(this.#answer(JSON.parse(Buffer.concat(chunks).toString() || "{}") as Asked)));
    });
  });

  #answer(asked: Asked): unknown {
    if (asked.messages === undefined) return { object: "list", data: [] };
    this.asked.push(asked);
    const place = JSON.stringify([asked.cache_salt, asked.messages]);
    const cached = asked.cache_prompt !== false && this.#seen.has(place) ? CACHED_TOKENS : 0;
    this.#seen.add(place);
    const usage = { prompt_tokens: INPUT_TOKENS, completion_tokens: 1, total_tokens: INPUT_TOKENS + 1 };
    return {
      id: "chatcmpl-1",
      object: "chat.completion",
      created: 1,
      model: asked.model,
      choices: [{ index: 0, message: { role: "assistant", content: "Yes" }, finish_reason: "stop", logprobs: null }],
      usage: { ...usage, prompt_tokens_details: { cached_tokens: cached } },
    };
  }
}

const shared = new CachingServer();
let settings: string;
let gateway: GatewayProcess;
let clients: Readonly<Record<"acme" | "rival", string>>;

beforeAll(async () => {
  shared.server.listen(0, "127.0.0.1");
  await once(shared.server, "listening");
  const address = `http://127.0.0.1:${(shared.server.address() as AddressInfo).port}/v1`;
  const model = (name: string): string =>
    `  ${name}-1: { targets: [{ upstream: ${name} }], context_tokens: 1000000, output_tokens_max: 9, price: ${PRICE} }`;
  settings = `
upstreams:
  vllm: { family: vllm, base_url: "${address}" }
  sglang: { family: openai-compatible, base_url: "${address}", prompt_cache: cache_salt }
  llama: { family: llamacpp, base_url: "${address}" }
  apart: { family: llamacpp, base_url: "${address}", prompt_cache: off }
  company: { family: vllm, base_url: "${address}", prompt_cache: shared }
models:
${["vllm", "sglang", "llama", "apart", "company"].map(model).join("\n")}
`;
  gateway = await startGateway({ settings });
  const management = new Management(gateway);
  for (const account of ["acme", "rival"]) await management.account(account, 100_000_000_000n);
  const [acme, rival] = await Promise.all([management.makeKey("acme"), management.makeKey("rival")]);
  clients = { acme: acme.secret, rival: rival.secret };
});
afterAll(async () => {
  await gateway.stop();
  shared.server.close();
});

/** The tokens that the answer says were read from the cache. */
async function cachedFor(account: "acme" | "rival", model: string, text: string, more: object = {}): Promise<number> {
  const client = new OpenAI({ apiKey: clients[account], baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  const { usage } = await client.chat.completions.create({ model, messages: says(text), ...more });
  return usage?.prompt_tokens_details?.cached_tokens ?? 0;
}

test.each([
  { model: "vllm-1", length: "short", rival: 0, again: CACHED_TOKENS },
  // A thread beside the event loop writes these.
  { model: "vllm-1", length: "long", rival: 0, again: CACHED_TOKENS },
  { model: "sglang-1", length: "short", rival: 0, again: CACHED_TOKENS },
  { model: "apart-1", length: "short", rival: 0, again: 0 },
  // What the page on security names.
  { model: "llama-1", length: "short", rival: CACHED_TOKENS, again: CACHED_TOKENS },
  { model: "company-1", length: "short", rival: CACHED_TOKENS, again: CACHED_TOKENS },
])("$model tells another account $rival of a $length text, and its own $again", async ({ model, length, ...want }) => {
  const text = `the secret of ${model} ${"x ".repeat(length === "long" ? 200_000 : 1)}`;
  expect(await cachedFor("acme", model, text)).toBe(0);
  expect(await cachedFor("rival", model, text)).toBe(want.rival);
  expect(await cachedFor("acme", model, text)).toBe(want.again);
});

test("nobody reads another's cache by what is known of it", async () => {
  const text = "the secret of a salt";
  await cachedFor("acme", "vllm-1", text);
  const salt = shared.asked.at(-1)?.cache_salt;
  expect(salt).toMatch(SALT);
  for (const own of [salt, "acme", "null", ""])
    expect(await cachedFor("rival", "vllm-1", text, { cache_salt: own })).toBe(0);
  expect(await cachedFor("acme", "vllm-1", text)).toBe(CACHED_TOKENS);
});

test("an answer that is kept for an Idempotency-Key is told again, and nothing is asked", async () => {
  const client = new OpenAI({ apiKey: clients.acme, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  const body = { model: "vllm-1", messages: says("Keep this") };
  const headers = { "idempotency-key": "kept" };
  const first = await client.chat.completions.create(body, { headers });
  const count = shared.asked.length;
  expect(await client.chat.completions.create(body, { headers })).toEqual(first);
  expect(shared.asked.length).toBe(count);
});

test("salts outlive a start, and no log tells them", async () => {
  const text = "kept over a start";
  await cachedFor("acme", "vllm-1", text);
  const { dataDirectory, log } = gateway;
  await gateway.stop();
  const salts = shared.asked.map(({ cache_salt: salt }) => salt).filter((salt) => salt !== undefined && salt !== "");
  expect(log.filter((line) => salts.some((salt) => line.includes(salt ?? "")))).toEqual([]);
  gateway = await startGateway({ settings, dataDirectory });
  expect(await cachedFor("acme", "vllm-1", text)).toBe(CACHED_TOKENS);
});
