/**
 * What was shown while it was made costs its own price where the stream ends early, and what attempts report that
 * another took the place of is the operator's cost.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";
import { type MarkedAnswer, type MarkedUpstream, startMarkedUpstream } from "../../support/marked-upstream.js";
import { readMetrics } from "../../support/metrics-reading.js";

type Json = Readonly<Record<string, unknown>>;

const SOON = { timeout: 60_000, interval: 50 };
/** In nano-USD: a thousand calls cost as many USD as the tool's price says. */
const CALL_NANOS = { web_search: 10_000_000n, code_interpreter: 30_000_000n, image_generation: 40_000_000n };
const TOKEN_NANOS = { input: 1_000n, output: 2_000n };
/** What the operator pays the first upstream, and the second. */
const COST_NANOS = { first: { input: 500n, output: 1_000n }, second: { input: 300n, output: 600n } };

let first: MarkedUpstream;
let second: MarkedUpstream;
let gateway: GatewayProcess;
let management: Management;
let secret: string;
let asked = 0;

beforeAll(async () => {
  [first, second] = await Promise.all([startMarkedUpstream(), startMarkedUpstream()]);
  const usd = (nanos: bigint): number => Number(nanos) / 1_000;
  const rates = ({ input, output }: { input: bigint; output: bigint }): Json => ({
    input: usd(input),
    output: usd(output),
  });
  const tools = Object.fromEntries(
    Object.entries(CALL_NANOS).map(([name, nanos]) => [name, Number(nanos) / 1_000_000]),
  );
  const upstream = (family: string, { url }: MarkedUpstream, path: string): Json => ({
    family,
    base_url: url + path,
    api_key: "sk-secret-of-this-test-0123456789",
  });
  const target = (name: "first" | "second", wire: string, priority: number): Json => ({
    upstream: `${wire}-${name}`,
    priority,
    cost: rates(COST_NANOS[name]),
  });
  const pair = (wire: string): Json => ({
    targets: [target("first", wire, 1), target("second", wire, 2)],
    context_tokens: 100_000,
    output_tokens_max: 1_000,
    price: { ...rates(TOKEN_NANOS), tools },
  });
  const settings = {
    upstreams: {
      "openai-first": upstream("openai", first, "/v1"),
      "openai-second": upstream("openai", second, "/v1"),
      "anthropic-first": upstream("anthropic", first, ""),
      "anthropic-second": upstream("anthropic", second, ""),
    },
    models: { openai: pair("openai"), anthropic: pair("anthropic") },
  };
  gateway = await startGateway({ settings: JSON.stringify(settings) });
  gateway.expectOddAnswers();
  management = new Management(gateway);
  await management.account("acme", 1_000_000_000_000n);
  ({ secret } = await management.makeKey("acme"));
});
afterAll(async () => {
  await gateway.stop();
  first.close();
  second.close();
});

function streamOf(events: readonly Json[]): MarkedAnswer {
  const text = events.map((event) => `event: ${String(event["type"])}\ndata: ${JSON.stringify(event)}\n\n`).join("");
  return { type: "text/event-stream", body: Buffer.from(text) };
}

/** Asks for a stream. Returns what came of it, and the request as its record tells it. */
async function ask(
  model: "openai" | "anthropic",
  tools: readonly Json[],
  answers: { readonly first: MarkedAnswer; readonly second?: MarkedAnswer },
): Promise<{ text: string; record: Json }> {
  asked += 1;
  const mark = `mark-${asked}.`;
  first.answers.set(mark, answers.first);
  if (answers.second !== undefined) second.answers.set(mark, answers.second);
  const responses = { path: "/v1/responses", body: { model, stream: true, input: mark, tools } };
  const messages = [{ role: "user", content: mark }];
  const chat = { path: "/v1/messages", body: { model, stream: true, max_tokens: 100, messages, tools } };
  const { path, body } = model === "openai" ? responses : chat;
  const response = await fetch(gateway.url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  const id = String(response.headers.get("x-request-id"));
  const look = async (): Promise<Json> => {
    const found = await management.call("GET", `/requests/${id}`);
    return (found.body["request"] ?? {}) as Json;
  };
  await expect.poll(async () => (await look())["state"], SOON).toMatch(/settled|voided/);
  // Health of upstreams is another test's.
  for (const upstream of ["first", "second"])
    await management.call("POST", `/upstreams/${model}-${upstream}:reset`, {});
  return { text, record: await look() };
}

const created = {
  type: "response.created",
  response: { id: "x", object: "response", status: "in_progress", output: [] },
};
const added = (type: string): Json => ({
  type: "response.output_item.added",
  output_index: 0,
  item: { id: "i", type, status: "in_progress" },
});
const begun = (usage: Json): Json => ({
  type: "message_start",
  message: { id: "m", type: "message", role: "assistant", model: "anthropic", content: [], usage },
});

describe("a stream that ends while a tool runs", () => {
  const openai = (tool: string, type: string, ...more: readonly Json[]) => ({
    tool: tool as keyof typeof CALL_NANOS,
    model: "openai" as const,
    asks: tool === "code_interpreter" ? { type: tool, container: { type: "auto" } } : { type: tool },
    events: [created, added(type), ...more],
  });
  test.each([
    openai("web_search", "web_search_call"),
    openai("code_interpreter", "code_interpreter_call"),
    openai("code_interpreter", "code_interpreter_call", {
      type: "response.code_interpreter_call.interpreting",
      output_index: 0,
      item_id: "i",
    }),
    openai("image_generation", "image_generation_call"),
    openai("image_generation", "image_generation_call", {
      type: "response.image_generation_call.partial_image",
      output_index: 0,
      item_id: "i",
      partial_image_index: 0,
      partial_image_b64: "aGk=",
    }),
    {
      tool: "web_search" as const,
      model: "anthropic" as const,
      asks: { type: "web_search_20250305", name: "web_search" },
      events: [
        begun({ input_tokens: 9, output_tokens: 1 }),
        {
          type: "content_block_start",
          index: 0,
          content_block: { type: "server_tool_use", id: "s", name: "web_search", input: {} },
        },
      ],
    },
  ])("of $model costs its input and a call of $tool", async ({ tool, model, asks, events }) => {
    const { text, record } = await ask(model, [asks], { first: streamOf(events) });
    const shown = events.at(-1) as Json;
    expect(text).toContain(String(shown["type"]));
    const usage = record["usage"] as Readonly<Record<string, string>>;
    const tokens = (name: string): bigint => BigInt(usage[name] ?? 0);
    expect(record["state"]).toBe("settled");
    expect(tokens("input_tokens") > 0n).toBe(true);
    // A picture is shown at the price of so many tokens of output.
    if (shown["type"] === "response.image_generation_call.partial_image") expect(tokens("output_tokens")).toBe(100n);
    const nanos = tokens("input_tokens") * TOKEN_NANOS.input + tokens("output_tokens") * TOKEN_NANOS.output;
    expect(BigInt(String(record["charged_nanos"]))).toBe(nanos + CALL_NANOS[tool]);
  });
});

describe("what an attempt reported that nobody is charged for", () => {
  const failing = streamOf([
    begun({ input_tokens: 40, output_tokens: 3 }),
    { type: "error", error: { type: "overloaded_error", message: "Overloaded" } },
  ]);
  const whole = streamOf([
    begun({ input_tokens: 20, output_tokens: 1 }),
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hello" } },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { input_tokens: 20, output_tokens: 5 } },
    { type: "message_stop" },
  ]);
  const costOf = (name: "first" | "second", input: bigint, output: bigint): bigint =>
    input * COST_NANOS[name].input + output * COST_NANOS[name].output;
  const metric = async (name: string): Promise<number> => {
    const series = `tollgate_unbilled_tokens_total{upstream="anthropic-${name}"}`;
    return (await readMetrics(gateway)).value(series) ?? 0;
  };

  const answered = { second: whole, charged: 20n * TOKEN_NANOS.input + 5n * TOKEN_NANOS.output };
  test.each([
    { next: "another answers", ...answered, tries: [1n, 0n], cost: costOf("second", 20n, 5n) },
    // The first is asked once more.
    { next: "all fail", second: failing, charged: 0n, tries: [2n, 1n], cost: 0n },
  ])("is the operator's cost where $next", async ({ second: answer, charged, tries, cost }) => {
    const [ofFirst = 0n, ofSecond = 0n] = tries;
    const before = [await metric("first"), await metric("second")];
    const { record } = await ask("anthropic", [], { first: failing, second: answer });
    expect(record["state"]).toBe(charged > 0n ? "settled" : "voided");
    expect(String(record["charged_nanos"])).toBe(String(charged));
    const leftNanos = ofFirst * costOf("first", 40n, 3n) + ofSecond * costOf("second", 40n, 3n);
    expect(String(record["operator_cost_nanos"])).toBe(String(cost + leftNanos));
    const counted = [(await metric("first")) - (before[0] ?? 0), (await metric("second")) - (before[1] ?? 0)];
    expect(counted).toEqual([Number(ofFirst) * 43, Number(ofSecond) * 43]);
  });
});
