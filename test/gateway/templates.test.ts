/** What an upstream adds by itself to a request with tools is held and charged as told, and no doubt. */
import { describe, expect, test } from "vitest";
import { UsageSource } from "../../src/api/index.js";
import { NO_USAGE } from "../../src/api/usage.js";
import { chargeOf } from "../../src/gateway/charge.js";
import { inputTokensMax } from "../../src/pricing/input-bound.js";
import { wire as anthropic } from "../../src/wire/anthropic/index.js";
import { wire as gemini } from "../../src/wire/gemini/index.js";
import { wire as openAiChat } from "../../src/wire/openai-chat/index.js";
import { wire as openAiCompletions } from "../../src/wire/openai-completions/index.js";
import { wire as openAiResponses } from "../../src/wire/openai-responses/index.js";
import { FREE } from "../pricing/prices.js";
import type { ClientWire, WireRequest } from "../../src/wire/wire.js";

const messages = [{ role: "user", content: "hi" }];
const SCHEMA = { type: "object", properties: {} };
const fn = { type: "function", function: { name: "f", parameters: SCHEMA } };
const contents = [{ parts: [{ text: "hi" }] }];
const screen = { type: "computer_20250124", name: "computer", display_width_px: 800, display_height_px: 600 };
const editor = { type: "text_editor_20250728", name: "str_replace_based_edit_tool" };
const GEMINI_HEADERS = { "x-tollgate-path-model": "m" };

interface Row {
  readonly name: string;
  readonly wire: ClientWire;
  readonly body: object;
  /** Tokens beyond the bytes of the body. */
  readonly added: number;
}

const ROWS: readonly Row[] = [
  { name: "a chat", wire: openAiChat, body: { model: "m", messages }, added: 0 },
  { name: "a chat with a tool", wire: openAiChat, body: { model: "m", messages, tools: [fn] }, added: 1_024 },
  { name: "a chat with many", wire: openAiChat, body: { model: "m", messages, tools: [fn, fn, fn] }, added: 1_024 },
  { name: "a chat with none", wire: openAiChat, body: { model: "m", messages, tools: [] }, added: 0 },
  {
    name: "a chat with functions",
    wire: openAiChat,
    body: { model: "m", messages, functions: [{ name: "f", parameters: SCHEMA }] },
    added: 1_024,
  },
  { name: "a message", wire: anthropic, body: { model: "m", messages, max_tokens: 9 }, added: 0 },
  {
    name: "a message with a tool",
    wire: anthropic,
    body: { model: "m", messages, max_tokens: 9, tools: [{ name: "f", input_schema: SCHEMA }] },
    added: 1_024,
  },
  {
    name: "a message with a screen and an editor",
    wire: anthropic,
    body: { model: "m", messages, max_tokens: 9, tools: [screen, editor] },
    added: 3 * 1_024,
  },
  { name: "a response", wire: openAiResponses, body: { model: "m", input: "hi" }, added: 0 },
  {
    name: "a response with a tool",
    wire: openAiResponses,
    body: { model: "m", input: "hi", tools: [{ type: "function", name: "f", parameters: SCHEMA }] },
    added: 1_024,
  },
  {
    name: "a response with a shell",
    wire: openAiResponses,
    body: { model: "m", input: "hi", tools: [{ type: "local_shell" }] },
    added: 2 * 1_024,
  },
  { name: "a content", wire: gemini, body: { contents }, added: 0 },
  {
    name: "a content with a tool",
    wire: gemini,
    body: { contents, tools: [{ functionDeclarations: [{ name: "f" }] }] },
    added: 1_024,
  },
  { name: "a text", wire: openAiCompletions, body: { model: "m", prompt: "hi" }, added: 0 },
];

describe.each(ROWS)("$name", ({ wire, body, added }) => {
  const bytes = Buffer.from(JSON.stringify(body));
  const read = (): WireRequest => wire.readRequest({ wire: wire.name, body: bytes, headers: GEMINI_HEADERS });

  test(`may be told as ${added} tokens more than it has bytes, and no more`, async () => {
    const request = read();
    const bound = inputTokensMax(request.facts, { id: "gpt-oss-120b", contextTokens: 0 });
    expect(bound).toBe(bytes.length + added);
    const terms = { request, modelId: "m", contextTokens: 0, inputTokensMax: bound, price: FREE, accountId: "acme" };
    const told = (input: number): ReturnType<typeof chargeOf> =>
      chargeOf(
        {
          made: "content",
          text: "Hello.",
          complete: true,
          usage: { ...NO_USAGE, inputTokens: BigInt(input), outputTokens: 2n },
        },
        "finished",
        { ...terms, outputTokensMax: 9 },
      );
    const honest = await told(bound);
    expect(honest).toMatchObject({ usageSource: UsageSource.USAGE_SOURCE_REPORTED, doubt: undefined });
    expect(honest.usage.inputTokens).toBe(BigInt(bound));
    const lying = await told(bound + 1);
    expect(lying).toMatchObject({ usageSource: UsageSource.USAGE_SOURCE_COUNTED, doubt: "above_input" });
    expect(lying.usage.inputTokens).toBe(BigInt(bound));
  });
});
