/** An answer that never tells its usage is charged its input and a fair estimate of what came, text or not. */
import { describe, expect, test } from "vitest";
import { UsageSource } from "../../src/api/index.js";
import { type Charge, chargeOf, type ChargeTerms, type Ending } from "../../src/gateway/charge.js";
import { wire as anthropic } from "../../src/wire/anthropic/index.js";
import { createWire } from "../../src/wire/bedrock-converse/index.js";
import { wire as gemini } from "../../src/wire/gemini/index.js";
import { wire as openAiChat } from "../../src/wire/openai-chat/index.js";
import { compaction } from "../../src/wire/openai-responses/compaction/index.js";
import { wire as openAiResponses } from "../../src/wire/openai-responses/index.js";
import { FREE } from "../pricing/prices.js";
import type { AnswerReport, UpstreamWire } from "../../src/wire/wire.js";

type Json = Readonly<Record<string, unknown>>;

const SEALED = "A".repeat(4_000);
const SEALED_TOKENS = 750;
const PICTURE = "aGk=";
const PICTURE_TOKENS = 1_056;
const SOUND = "A".repeat(64_000);
const SOUND_TOKENS = 20;
const QUERY = { query: "Who won the race on Sunday?" };
const QUERY_TOKENS = Math.ceil(JSON.stringify(QUERY).length / 4);
const COMPACTED = { type: "compaction", content: "They built a gate. ".repeat(20) };
const COMPACTED_TOKENS = Math.ceil(JSON.stringify(COMPACTED).length / 4);

const chat = (message: Json): Json => ({ id: "x", choices: [{ index: 0, message, finish_reason: "stop" }] });
const responses = (item: Json): Json => ({ id: "x", object: "response", status: "completed", output: [item] });
const messages = (block: Json): Json => ({ id: "m", type: "message", role: "assistant", content: [block] });
const google = (part: Json): Json => ({ candidates: [{ index: 0, content: { parts: [part] }, finishReason: "STOP" }] });
const converse = (block: Json): Json => ({
  output: { message: { role: "assistant", content: [block] } },
  stopReason: "end_turn",
});
const bedrock = createWire(() => "answer-1");

const ROWS: readonly { name: string; wire: Pick<UpstreamWire, "decodeAnswer">; answer: Json; tokens: number }[] = [
  {
    name: "a picture in a chat",
    wire: openAiChat,
    answer: chat({ images: [{ type: "image_url", image_url: { url: `data:image/png;base64,${PICTURE}` } }] }),
    tokens: PICTURE_TOKENS,
  },
  {
    name: "a sealed thought in a chat",
    wire: openAiChat,
    answer: chat({ reasoning_details: [{ type: "reasoning.encrypted", data: SEALED }] }),
    tokens: SEALED_TOKENS,
  },
  { name: "a sound in a chat", wire: openAiChat, answer: chat({ audio: { data: SOUND } }), tokens: SOUND_TOKENS },
  {
    name: "a search in a response",
    wire: openAiResponses,
    answer: responses({ type: "web_search_call", id: "w", status: "completed", action: QUERY, results: [SEALED] }),
    tokens: QUERY_TOKENS,
  },
  {
    name: "a picture in a response",
    wire: openAiResponses,
    answer: responses({ type: "image_generation_call", id: "i", result: PICTURE }),
    tokens: PICTURE_TOKENS,
  },
  {
    name: "what stands for a conversation, in a response",
    wire: openAiResponses,
    answer: responses({ type: "compaction", id: "c", encrypted_content: SEALED }),
    tokens: SEALED_TOKENS,
  },
  {
    name: "what stands for a conversation, by itself",
    wire: compaction,
    answer: {
      id: "x",
      object: "response.compaction",
      output: [
        { type: "message", role: "user", content: [] },
        { type: "compaction", id: "c", encrypted_content: SEALED },
      ],
    },
    tokens: SEALED_TOKENS,
  },
  {
    name: "what stands for a conversation, in messages",
    wire: anthropic,
    answer: messages(COMPACTED),
    tokens: COMPACTED_TOKENS,
  },
  {
    name: "a sealed thought in messages",
    wire: anthropic,
    answer: messages({ type: "redacted_thinking", data: SEALED }),
    tokens: SEALED_TOKENS,
  },
  {
    name: "a search in messages",
    wire: anthropic,
    answer: messages({ type: "server_tool_use", id: "s", name: "web_search", input: QUERY }),
    tokens: QUERY_TOKENS,
  },
  {
    name: "what a search found, in messages",
    wire: anthropic,
    answer: messages({ type: "web_search_tool_result", tool_use_id: "s", content: [{ encrypted_content: SEALED }] }),
    tokens: 0,
  },
  {
    name: "a picture of Google's",
    wire: gemini,
    answer: google({ inlineData: { mimeType: "image/png", data: PICTURE } }),
    tokens: PICTURE_TOKENS,
  },
  {
    name: "a sealed thought of Bedrock's",
    wire: bedrock,
    answer: converse({ reasoningContent: { redactedContent: SEALED } }),
    tokens: SEALED_TOKENS,
  },
];

const asked = openAiChat.readRequest({
  wire: "openai-chat",
  body: Buffer.from('{"model":"m","messages":[{"role":"user","content":"hi"}]}'),
  headers: {},
});

async function charged(report: AnswerReport, ending: Ending, more: Partial<ChargeTerms> = {}): Promise<Charge> {
  const terms = {
    request: asked,
    modelId: "gpt-4o",
    contextTokens: 1e6,
    price: FREE,
    accountId: "acme",
    inputTokensMax: 1e6,
  };
  return chargeOf(report, ending, { ...terms, ...more });
}

describe.each(ROWS)("an answer without any report, $name,", ({ wire, answer, tokens }) => {
  const report = wire.decodeAnswer(Buffer.from(JSON.stringify(answer))).report;

  test("is charged its input and an estimate of what came", async () => {
    const { usage, usageSource, doubt } = await charged(report, "finished");
    expect(usageSource).toBe(UsageSource.USAGE_SOURCE_COUNTED);
    expect(usage.inputTokens).toBeGreaterThan(0n);
    expect(usage.outputTokens + usage.audioOutputTokens).toBe(BigInt(tokens));
    expect(doubt).toBe("missing");
  });

  test("is charged no more than its limit of output", async () => {
    const { usage } = await charged(report, "finished", { outputTokensMax: 5 });
    expect(usage.outputTokens + usage.audioOutputTokens).toBe(BigInt(Math.min(tokens, 5)));
  });
});

test.each([
  ["anthropic", anthropic, { type: "thinking", thinking: "", signature: SEALED }, SEALED_TOKENS],
  ["anthropic, shown", anthropic, { type: "thinking", thinking: "Hm.", signature: SEALED }, 2],
])("a thought that is not shown counts once its caller left: %s", async (_, wire, block, tokens) => {
  const decoder = wire.decodeStream(asked.facts, "source", asked);
  const events = [
    { type: "message_start", message: { id: "m", usage: { input_tokens: 9, output_tokens: 1 } } },
    { type: "content_block_start", index: 0, content_block: { type: "thinking", thinking: "", signature: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "thinking_delta", thinking: block.thinking } },
    { type: "content_block_delta", index: 0, delta: { type: "signature_delta", signature: block.signature } },
  ];
  decoder.push(Buffer.from(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("")));
  const { usage } = await charged(decoder.report, "left");
  expect(usage.inputTokens).toBe(9n);
  expect(Number(usage.outputTokens)).toBeGreaterThanOrEqual(tokens === SEALED_TOKENS ? tokens : 1);
  expect(Number(usage.outputTokens)).toBeLessThanOrEqual(tokens);
});

test("what stands for a conversation counts in a stream whose report never came", async () => {
  const decoder = anthropic.decodeStream(asked.facts, "source", asked);
  const events = [
    { type: "message_start", message: { id: "m", usage: { input_tokens: 9, output_tokens: 0 } } },
    { type: "content_block_start", index: 0, content_block: { type: "compaction", content: null } },
    { type: "content_block_delta", index: 0, delta: { type: "compaction_delta", content: COMPACTED.content } },
    { type: "content_block_stop", index: 0 },
  ];
  decoder.push(Buffer.from(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("")));
  for (const ending of ["left", "failed"] as const)
    expect((await charged(decoder.report, ending)).usage).toMatchObject({
      inputTokens: 9n,
      outputTokens: BigInt(COMPACTED_TOKENS),
    });
});

test.each([{ input_tokens: -5, output_tokens: 4 }, { input_tokens: 0, output_tokens: 0 }, { total_tokens: "many" }])(
  "a compaction that reports what cannot be true is charged its input and what came: %j",
  async (usage) => {
    const body = { id: "x", output: [{ type: "compaction", id: "c", encrypted_content: SEALED }], usage };
    const { report } = compaction.decodeAnswer(Buffer.from(JSON.stringify(body)));
    const charge = await charged(report, "finished");
    expect(charge.usageSource).toBe(UsageSource.USAGE_SOURCE_COUNTED);
    expect(charge.usage.inputTokens).toBeGreaterThan(0n);
    expect(charge.usage.outputTokens).toBe(BigInt(SEALED_TOKENS));
  },
);

test("a final report stands, whatever the estimate", async () => {
  const answer = { ...messages({ type: "redacted_thinking", data: SEALED }) };
  const body = { ...answer, usage: { input_tokens: 9, output_tokens: 3 } };
  const { report } = anthropic.decodeAnswer(Buffer.from(JSON.stringify(body)));
  const { usage, usageSource } = await charged(report, "finished");
  expect(usageSource).toBe(UsageSource.USAGE_SOURCE_REPORTED);
  expect(usage.outputTokens).toBe(3n);
});
