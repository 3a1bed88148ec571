/** An answer that is not text is charged as any other: by its report, against balance and limits alike. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type FakeAnthropic, startFakeAnthropic, steer as steerAnthropic } from "../../support/fake-anthropic.js";
import { type FakeGemini, startFakeGemini, steer as steerGemini } from "../../support/fake-gemini.js";
import { type FakeUpstream, script, startFakeUpstream } from "../../support/fake-upstream.js";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";
import { PRICE, says } from "../../support/world.js";

type Json = Readonly<Record<string, unknown>>;

const INPUT_TOKENS = 10;
const OUTPUT_TOKENS = 7;
const TOKENS_PER_MINUTE = 50_000;

interface Row {
  readonly name: string;
  readonly path: string;
  readonly body: (stream: boolean) => Json;
  /** Undefined: as reported. */
  readonly outputTokens?: number;
}

function responses(name: string, item: Json, outputTokens = OUTPUT_TOKENS): Row {
  const usage = { input_tokens: INPUT_TOKENS, output_tokens: outputTokens };
  const response = { id: "resp_1", object: "response", status: "completed", output: [{ id: "i", ...item }], usage };
  const events = [
    { type: "response.created", response: { ...response, status: "in_progress", output: [], usage: null } },
    { type: "response.output_item.done", output_index: 0, item: { id: "i", ...item } },
    { type: "response.completed", response },
  ];
  const streamText = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
  const fake = { body: JSON.stringify(response), streamText };
  const body = (stream: boolean): Json => ({ model: "gpt-5.4", input: says(script(fake)), stream });
  return { name: `responses of ${name}`, path: "/v1/responses", body, outputTokens };
}

function messages(name: string, blocks: readonly Json[], stop: string): Row {
  const usage = { input_tokens: INPUT_TOKENS, output_tokens: OUTPUT_TOKENS };
  const content = says(steerAnthropic({ blocks, stop, usage }));
  const body = (stream: boolean): Json => ({ model: "claude-opus-5", messages: content, stream, max_tokens: 100 });
  return { name: `messages of ${name}`, path: "/v1/messages", body };
}

function chat(name: string, model: string, content: string): Row {
  const body = (stream: boolean): Json => ({ model, messages: says(content), stream, max_tokens: 100 });
  return { name: `chat of ${name}`, path: "/v1/chat/completions", body };
}

const picture = { inlineData: { mimeType: "image/png", data: "aGVsbG8=" } };
const counts = { promptTokenCount: INPUT_TOKENS, candidatesTokenCount: OUTPUT_TOKENS };
const hidden = {
  prompt_tokens: INPUT_TOKENS,
  completion_tokens: OUTPUT_TOKENS,
  completion_tokens_details: { reasoning_tokens: OUTPUT_TOKENS },
};

const ROWS: readonly Row[] = [
  responses("a web search alone", { type: "web_search_call", status: "completed" }),
  responses("a shell call", { type: "shell_call", call_id: "c", action: { commands: ["ls"] } }),
  responses("a computer call", { type: "computer_call", call_id: "c", action: { type: "screenshot" } }),
  responses("a picture", { type: "image_generation_call", result: "aGVsbG8=", output_format: "png" }),
  responses("a hosted call that generated nothing", { type: "web_search_call", status: "completed" }, 0),
  messages("a hosted tool and a pause", [{ type: "server_tool_use", id: "s", name: "w", input: {} }], "pause_turn"),
  messages("a sealed thought", [{ type: "redacted_thinking", data: "c2VhbGVk" }], "end_turn"),
  messages("a thought that is not shown", [{ type: "thinking", thinking: "", signature: "c2ln" }], "max_tokens"),
  messages("a stop sequence at once", [], "stop_sequence"),
  chat("a picture of another wire", "gemini-3-flash", steerGemini({ parts: [picture], usage: counts })),
  chat("nothing behind hidden reasoning", "gpt-5.4", script({ text: "", usageIs: hidden })),
];

let openai: FakeUpstream;
let anthropic: FakeAnthropic;
let gemini: FakeGemini;
let gateway: GatewayProcess;
let management: Management;

beforeAll(async () => {
  [openai, anthropic, gemini] = await Promise.all([startFakeUpstream(), startFakeAnthropic(), startFakeGemini()]);
  const model = (upstream: string): string =>
    `{ targets: [{ upstream: ${upstream} }], context_tokens: 100000, output_tokens_max: 1000, price: { input: "0.01", output: "0.1" } }`;
  const settings = [
    "upstreams:",
    `  openai: { family: openai, base_url: "${openai.url}", api_key: "sk-secret-of-this-test-0123456789" }`,
    `  anthropic: { family: anthropic, base_url: "${anthropic.url}", api_key: "sk-ant-secret-of-this-test-012345" }`,
    `  gemini: { family: gemini, base_url: "${gemini.url}", api_key: "AIza-secret-of-this-test-0123456789" }`,
    "models:",
    `  gpt-5.4: ${model("openai")}`,
    `  claude-opus-5: ${model("anthropic")}`,
    `  gemini-3-flash: ${model("gemini")}`,
    "",
  ].join("\n");
  gateway = await startGateway({ settings });
  gateway.expectOddAnswers();
  management = new Management(gateway);
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all([openai.close(), anthropic.close(), gemini.close()]);
});

const CASES = ROWS.flatMap((row) => [
  { ...row, stream: false },
  { ...row, stream: true },
]);

describe.each(CASES)("$name, streamed: $stream", ({ name, path, body, stream, outputTokens = OUTPUT_TOKENS }) => {
  test("is charged by its report, and counts against the key's tokens", async () => {
    const id = `shape-${CASES.findIndex((row) => row.name === name && row.stream === stream)}`;
    await management.account(id, 10_000_000n);
    const { secret } = await management.makeKey(id, { tokens_per_minute: String(TOKENS_PER_MINUTE) });
    const headers = { authorization: `Bearer ${secret}`, "content-type": "application/json" };
    const post = (): Promise<Response> =>
      fetch(gateway.url + path, { method: "POST", headers, body: JSON.stringify(body(stream)) });
    const answer = await post();
    const text = await answer.text();
    expect(answer.status, text).toBe(200);
    const { body: shown } = await management.call("GET", `/requests/${String(answer.headers.get("x-request-id"))}`);
    const costNanos = BigInt(INPUT_TOKENS) * PRICE.inputNanos + BigInt(outputTokens) * PRICE.outputNanos;
    expect(shown["request"]).toMatchObject({
      state: "settled",
      usage_source: "reported",
      cost_nanos: String(costNanos),
    });
    expect(await management.balance(id)).toMatchObject({ heldNanos: 0n, spentNanos: costNanos });
    const next = await post();
    await next.text();
    // The first answer's tokens are gone from the minute, and nothing more than those and the second's reservation.
    const reserved = TOKENS_PER_MINUTE - Number(answer.headers.get("x-ratelimit-remaining-tokens"));
    const remaining = Number(next.headers.get("x-ratelimit-remaining-tokens"));
    expect(TOKENS_PER_MINUTE - reserved - remaining).toBe(INPUT_TOKENS + outputTokens);
  });
});
