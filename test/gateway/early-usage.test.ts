/** A usage that is told before the end of its text counts for no more than what came until then. */
import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, test } from "vitest";
import { UsageSource } from "../../src/api/index.js";
import { type Charge, chargeOf } from "../../src/gateway/charge.js";
import { wire as anthropic } from "../../src/wire/anthropic/index.js";
import { createWire } from "../../src/wire/bedrock-converse/index.js";
import { wire as gemini } from "../../src/wire/gemini/index.js";
import { wire as openAiChat } from "../../src/wire/openai-chat/index.js";
import { wire as openAiCompletions } from "../../src/wire/openai-completions/index.js";
import type { AnswerForm, EndpointWire } from "../../src/wire/wire.js";
import { FREE } from "../pricing/prices.js";
import { frameOf } from "../support/fake-bedrock.js";

const PIECE = "One more word and another one, told in a piece of its own. ";
const PIECES = 6;
const PIECE_TOKENS = encode(PIECE).length;
const INPUT_TOKENS = 12;

/** A stream in its order, without a usage; and the event that tells one. */
interface Told {
  readonly name: string;
  readonly wire: EndpointWire;
  readonly head: readonly Buffer[];
  readonly piece: (text: string) => Buffer;
  readonly usage: (output: number) => Buffer;
  readonly tail: readonly Buffer[];
}

const sse = (value: unknown): Buffer =>
  Buffer.from(`data: ${typeof value === "string" ? value : JSON.stringify(value)}\n\n`);
const chunk = (choices: readonly object[], more: object = {}): Buffer =>
  sse({ id: "c", object: "chunk", created: 1, model: "m", choices, ...more });
const openAiUsage = (output: number): object => ({
  usage: { prompt_tokens: INPUT_TOKENS, completion_tokens: output, total_tokens: INPUT_TOKENS + output },
});

const TOLD: readonly Told[] = [
  {
    name: "openai-chat",
    wire: openAiChat,
    head: [chunk([{ index: 0, delta: { role: "assistant", content: "" }, finish_reason: null }])],
    piece: (content) => chunk([{ index: 0, delta: { content }, finish_reason: null }]),
    usage: (output) => chunk([], openAiUsage(output)),
    tail: [chunk([{ index: 0, delta: {}, finish_reason: "stop" }]), sse("[DONE]")],
  },
  {
    name: "openai-completions",
    wire: openAiCompletions,
    head: [],
    piece: (text) => chunk([{ index: 0, text, logprobs: null, finish_reason: null }]),
    usage: (output) => chunk([], openAiUsage(output)),
    tail: [chunk([{ index: 0, text: "", logprobs: null, finish_reason: "stop" }]), sse("[DONE]")],
  },
  {
    name: "anthropic",
    wire: anthropic,
    head: [
      sse({
        type: "message_start",
        message: { id: "m", model: "m", content: [], usage: { input_tokens: INPUT_TOKENS, output_tokens: 1 } },
      }),
      sse({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }),
    ],
    piece: (text) => sse({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } }),
    usage: (output) => sse({ type: "message_delta", delta: {}, usage: { output_tokens: output } }),
    tail: [
      sse({ type: "content_block_stop", index: 0 }),
      sse({ type: "message_delta", delta: { stop_reason: "end_turn" } }),
      sse({ type: "message_stop" }),
    ],
  },
  {
    name: "gemini",
    wire: gemini,
    head: [],
    piece: (text) => sse({ candidates: [{ index: 0, content: { role: "model", parts: [{ text }] } }] }),
    usage: (output) => sse({ usageMetadata: { promptTokenCount: INPUT_TOKENS, candidatesTokenCount: output } }),
    tail: [sse({ candidates: [{ index: 0, content: { parts: [{ text: "" }] }, finishReason: "STOP" }] })],
  },
  {
    name: "bedrock-converse",
    wire: createWire(() => "answer-1"),
    head: [frameOf("messageStart", { role: "assistant" })],
    piece: (text) => frameOf("contentBlockDelta", { contentBlockIndex: 0, delta: { text } }),
    usage: (output) =>
      frameOf("metadata", {
        usage: { inputTokens: INPUT_TOKENS, outputTokens: output, totalTokens: INPUT_TOKENS + output },
      }),
    tail: [frameOf("contentBlockStop", { contentBlockIndex: 0 }), frameOf("messageStop", { stopReason: "end_turn" })],
  },
];

const request = openAiChat.readRequest({
  wire: "openai-chat",
  body: Buffer.from('{"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]}'),
  headers: {},
});

/** The charge of an answer whose usage, of what came until then, is told behind so many of its pieces. */
async function chargeFor(
  { wire, head, piece, usage, tail }: Told,
  before: number,
  form: AnswerForm,
  modelId = "gpt-4o",
): Promise<Charge> {
  const pieces = Array.from({ length: PIECES }, () => piece(PIECE));
  const told = usage(Math.max(1, before * PIECE_TOKENS));
  const bytes = Buffer.concat([...head, ...pieces.slice(0, before), told, ...pieces.slice(before), ...tail]);
  const decoder = wire.decodeStream?.(request.facts, form, request);
  if (decoder === undefined) throw new Error("the wire has no streams");
  expect(decoder.push(bytes).error).toBeUndefined();
  expect(decoder.end().error).toBeUndefined();
  expect(decoder.report.complete).toBe(true);
  const terms = { request, modelId, contextTokens: 100_000, price: FREE, accountId: "acme", inputTokensMax: 100 };
  return chargeOf(decoder.report, "finished", { ...terms, outputTokensMax: 10_000 });
}

describe.each(TOLD)("a stream of $name", (told) => {
  const forms: readonly AnswerForm[] = told.name === "bedrock-converse" ? ["events"] : ["events", "source"];
  const places = Array.from({ length: PIECES + 1 }, (_, before) => before);
  test.each(forms.flatMap((form) => places.map((before) => ({ form, before }))))(
    "that tells its usage behind $before of its pieces is charged what came, read as $form",
    async ({ form, before }) => {
      const { usage, usageSource, doubt } = await chargeFor(told, before, form);
      // Its own tokenizer counts, so that only the last piece may be what a true report differs by.
      const isOld = before < PIECES - 1;
      const text = PIECE.repeat(PIECES);
      expect(usage.inputTokens).toBe(BigInt(INPUT_TOKENS));
      expect(Number(usage.outputTokens)).toBe(isOld ? encode(text).length : before * PIECE_TOKENS);
      expect(usageSource).toBe(isOld ? UsageSource.USAGE_SOURCE_COUNTED : UsageSource.USAGE_SOURCE_REPORTED);
      expect(doubt).toBe(isOld ? "missing" : undefined);
    },
  );

  test.each(places)(
    "of a model whose tokenizer is not ours is believed down to a half, behind $0 pieces",
    async (before) => {
      const { usageSource } = await chargeFor(told, before, "events", "command-r");
      const isOld = before * 2 < PIECES;
      expect(usageSource).toBe(isOld ? UsageSource.USAGE_SOURCE_COUNTED : UsageSource.USAGE_SOURCE_REPORTED);
    },
  );
});
