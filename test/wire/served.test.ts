/** Every wire tells which model and which service tier answered, and what tools the upstream ran. */
import { describe, expect, test } from "vitest";
import { wire as anthropic } from "../../src/wire/anthropic/index.js";
import { createWire as createBedrock } from "../../src/wire/bedrock-converse/index.js";
import { wire as gemini } from "../../src/wire/gemini/index.js";
import { wire as chat } from "../../src/wire/openai-chat/index.js";
import { wire as responses } from "../../src/wire/openai-responses/index.js";
import type { AnswerReport, RequestFacts } from "../../src/wire/wire.js";

const FACTS: RequestFacts = {
  model: "m",
  stream: true,
  includeUsage: true,
  candidateCount: 1,
  outputTokensMax: undefined,
  textBytes: 0,
  imageCount: 0,
  fileCount: 0,
  audioCount: 0,
};

interface Told {
  readonly model: string;
  readonly tier: string;
  /** Undefined where the wire cannot tell. */
  readonly tools: Readonly<Record<string, number>> | undefined;
}

function toldBy({ servedModel, serviceTier, toolUses }: AnswerReport): Told {
  const tools = toolUses?.map(({ name, calls }) => [name, Number(calls)] as const);
  return { model: servedModel ?? "", tier: serviceTier ?? "", tools: tools && Object.fromEntries(tools) };
}

const text = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
const events = (list: readonly object[]): Buffer =>
  Buffer.from(
    list.map((event) => `event: ${String(Reflect.get(event, "type"))}\ndata: ${JSON.stringify(event)}\n\n`).join(""),
  );

const search = { type: "server_tool_use", id: "s1", name: "web_search", input: {} };
const code = { type: "server_tool_use", id: "s2", name: "bash_code_execution", input: {} };
const fetched = { type: "server_tool_use", id: "s3", name: "web_fetch", input: {} };
const said = { type: "text", text: "hi" };
const claude = { id: "msg_1", type: "message", role: "assistant", model: "claude-x-20260101", stop_reason: "end_turn" };
const claudeUsage = { input_tokens: 1, output_tokens: 1, service_tier: "priority" };

const item = (type: string, more: object = {}): object => ({ type, id: `i-${type}`, status: "completed", ...more });
const response = {
  id: "resp_1",
  object: "response",
  model: "gpt-x-2026-01-01",
  status: "completed",
  service_tier: "flex",
  output: [
    item("web_search_call", { action: { type: "search" } }),
    item("web_search_call", { action: { type: "open_page" } }),
    item("web_search_call"),
    item("code_interpreter_call"),
    item("computer_call"),
    item("message", { content: [{ type: "output_text", text: "hi" }] }),
  ],
  usage: { input_tokens: 1, output_tokens: 1 },
};
const found = { web_search: 2, code_interpreter: 1 };

const grounded = (queries: readonly string[]): object => ({
  content: { parts: [{ text: "hi" }] },
  finishReason: "STOP",
  groundingMetadata: { webSearchQueries: queries },
});
const flash = { modelVersion: "gemini-x", usageMetadata: { promptTokenCount: 1, serviceTier: "PRIORITY" } };
const choices = [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }];
const openAi = { id: "c", object: "chat.completion", model: "gpt-x", service_tier: "priority", choices };
const usage = { prompt_tokens: 1, completion_tokens: 1 };

describe("a whole answer tells how it was served:", () => {
  test.each([
    {
      name: "anthropic, by what its usage charges",
      read: () =>
        anthropic.decodeAnswer(
          text({
            ...claude,
            content: [search, code, said],
            usage: { ...claudeUsage, server_tool_use: { web_search_requests: 3 } },
          }),
        ),
      want: { model: "claude-x-20260101", tier: "priority", tools: { web_search: 3, code_execution: 1 } },
    },
    {
      name: "anthropic, by its blocks where the usage is silent",
      read: () => anthropic.decodeAnswer(text({ ...claude, content: [search, search, said], usage: claudeUsage })),
      want: { model: "claude-x-20260101", tier: "priority", tools: { web_search: 2 } },
    },
    {
      name: "anthropic, without what it fetches for nothing",
      read: () =>
        anthropic.decodeAnswer(
          text({
            ...claude,
            content: [search, fetched, { ...fetched, type: "mcp_tool_use" }, said],
            usage: { ...claudeUsage, server_tool_use: { web_search_requests: 1, web_fetch_requests: 7 } },
          }),
        ),
      want: { model: "claude-x-20260101", tier: "priority", tools: { web_search: 1, mcp: 1 } },
    },
    {
      name: "anthropic, in its fast mode",
      read: () =>
        anthropic.decodeAnswer(text({ ...claude, content: [said], usage: { ...claudeUsage, speed: "fast" } })),
      want: { model: "claude-x-20260101", tier: "fast", tools: {} },
    },
    {
      name: "openai-responses",
      read: () => responses.decodeAnswer(text(response)),
      want: { model: "gpt-x-2026-01-01", tier: "flex", tools: found },
    },
    {
      name: "gemini",
      read: () => gemini.decodeAnswer(text({ ...flash, candidates: [grounded(["a", "b"])] })),
      want: { model: "gemini-x", tier: "PRIORITY", tools: { web_search: 2 } },
    },
    {
      name: "gemini, grounded without a query",
      read: () =>
        gemini.decodeAnswer(
          text({
            ...flash,
            candidates: [
              { ...grounded([]), groundingMetadata: { groundingChunks: [{ web: {} }, { web: {} }, { maps: {} }] } },
            ],
          }),
        ),
      want: { model: "gemini-x", tier: "PRIORITY", tools: { web_search: 1, google_maps: 1 } },
    },
    {
      name: "gemini, by the searches of all candidates",
      read: () => gemini.decodeAnswer(text({ ...flash, candidates: [grounded(["a", "b"]), grounded(["c"])] })),
      want: { model: "gemini-x", tier: "PRIORITY", tools: { web_search: 3 } },
    },
    {
      name: "gemini, which looked for nothing",
      read: () => gemini.decodeAnswer(text({ ...flash, candidates: [grounded([])] })),
      want: { model: "gemini-x", tier: "PRIORITY", tools: {} },
    },
    {
      name: "openai-chat, which has no word for tools",
      read: () => chat.decodeAnswer(text({ ...openAi, usage })),
      want: { model: "gpt-x", tier: "priority", tools: undefined },
    },
    {
      name: "openai-chat of those who count searches",
      read: () => chat.decodeAnswer(text({ ...openAi, usage: { ...usage, num_search_queries: 4 } })),
      want: { model: "gpt-x", tier: "priority", tools: { web_search: 4 } },
    },
    {
      name: "bedrock-converse",
      read: () =>
        createBedrock(() => "id").decodeAnswer(
          text({
            output: { message: { role: "assistant", content: [{ text: "hi" }] } },
            stopReason: "end_turn",
            usage: { inputTokens: 1, outputTokens: 1 },
            serviceTier: { type: "flex" },
          }),
        ),
      want: { model: "", tier: "flex", tools: undefined },
    },
  ])("$name", ({ read, want }) => {
    expect(toldBy(read().report)).toEqual(want);
  });
});

describe("a stream tells how it was served:", () => {
  test("anthropic, in its last counts", () => {
    const decoder = anthropic.decodeStream(FACTS, "events");
    const usageAt = { ...claudeUsage, output_tokens: 9, server_tool_use: { web_search_requests: 1 } };
    decoder.push(
      events([
        { type: "message_start", message: { ...claude, stop_reason: null, content: [], usage: claudeUsage } },
        { type: "content_block_start", index: 0, content_block: search },
        { type: "content_block_stop", index: 0 },
        { type: "content_block_start", index: 1, content_block: search },
      ]),
    );
    expect(toldBy(decoder.report)).toEqual({ model: claude.model, tier: "priority", tools: { web_search: 2 } });
    decoder.push(events([{ type: "message_delta", delta: { stop_reason: "end_turn" }, usage: usageAt }]));
    // One of the two searches failed, and is not charged.
    expect(toldBy(decoder.report).tools).toEqual({ web_search: 1 });
  });

  test("openai-responses, item by item and no item twice", () => {
    const decoder = responses.decodeStream(FACTS, "events");
    const steps = response.output.map((done, index) => ({
      type: "response.output_item.done",
      output_index: index,
      item: done,
    }));
    decoder.push(
      events([
        { type: "response.created", response: { ...response, output: [], service_tier: "auto" } },
        ...steps,
        { type: "response.completed", response },
      ]),
    );
    expect(toldBy(decoder.report)).toEqual({ model: response.model, tier: "flex", tools: found });
  });

  test("gemini, whose every chunk tells all searches so far", () => {
    const decoder = gemini.decodeStream(FACTS, "events");
    const chunk = (queries: readonly string[]): Buffer =>
      Buffer.from(`data: ${JSON.stringify({ ...flash, candidates: [grounded(queries)] })}\r\n\r\n`);
    decoder.push(Buffer.concat([chunk(["a"]), chunk(["a", "b"])]));
    expect(toldBy(decoder.report)).toEqual({ model: "gemini-x", tier: "PRIORITY", tools: { web_search: 2 } });
  });
});
