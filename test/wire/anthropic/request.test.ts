/** Requests: what is read of them, what is refused, and what other wires' prompts become. */
import { describe, expect, test } from "vitest";
import { GatewayError } from "../../../src/base/errors.js";
import { wire } from "../../../src/wire/anthropic/index.js";
import { tabledFacts } from "../../../src/models/facts.js";
import { rulesOf } from "../../../src/wire/claude/request/encode-rules.js";
import { wire as openAiChat } from "../../../src/wire/openai-chat/index.js";
import type { RequestFacts } from "../../../src/wire/wire.js";
import { owned, request } from "./reading.js";

const MESSAGES = '"messages":[{"role":"user","content":"hi"}]';

/** A body with one more field. */
function having(field: string): string {
  return `{"model":"m","max_tokens":9,${MESSAGES},${field}}`;
}

/** A body of one message of the user's with these blocks. */
function saying(...blocks: readonly object[]): string {
  return JSON.stringify({ model: "m", max_tokens: 9, messages: [{ role: "user", content: blocks }] });
}

function refusal(act: () => unknown): GatewayError {
  try {
    act();
  } catch (error) {
    return GatewayError.from(error);
  }
  throw new Error("it was not refused");
}

const base64 = (data: string): object => ({ type: "base64", media_type: "image/png", data });

describe("facts", () => {
  test.each<{ name: string; body: string; want: Partial<RequestFacts> }>([
    {
      name: "the least",
      body: `{"model":"m","max_tokens":9,${MESSAGES}}`,
      want: { model: "m", stream: false, includeUsage: true, candidateCount: 1, outputTokensMax: 9, imageCount: 0 },
    },
    { name: "a stream", body: having('"stream":true'), want: { stream: true } },
    { name: "nulls are absent", body: having('"stream":null,"system":null,"tools":null'), want: { stream: false } },
    { name: "a warm cache", body: `{"model":"m","max_tokens":0,${MESSAGES}}`, want: { outputTokensMax: 0 } },
    {
      name: "pictures, in results too",
      body: saying(
        { type: "image", source: base64("aGk=") },
        {
          type: "tool_result",
          tool_use_id: "t",
          content: [{ type: "image", source: { type: "url", url: "https://a.example" } }],
        },
      ),
      want: { imageCount: 2, fileCount: 0 },
    },
    {
      name: "documents, of which text ones are read by their bytes",
      body: saying(
        { type: "document", source: base64("aGk=") },
        { type: "document", source: { type: "text", media_type: "text/plain", data: "x" } },
        { type: "document", source: { type: "file", file_id: "f" } },
      ),
      want: { fileCount: 2 },
    },
    {
      name: "tools that the upstream runs may fill the context",
      body: having('"tools":[{"type":"web_search_20260318","name":"web_search"}]'),
      want: { fileCount: 1 },
    },
    {
      name: "tools that only speak of them may not",
      body: having('"tools":[{"name":"x","description":"like web_search","input_schema":{"type":"object"}}]'),
      want: { fileCount: 0 },
    },
  ])("$name", ({ body, want }) => {
    expect(request(body).facts).toMatchObject(want);
  });

  test("media is no text", () => {
    const data = "A".repeat(10_000);
    const bytes = (source: object): number => request(saying({ type: "image", source })).facts.textBytes;
    expect(bytes(base64(data))).toBe(bytes(base64("")) - 0);
    expect(request(saying({ type: "text", text: data })).facts.textBytes).toBeGreaterThan(10_000);
  });
});

describe("refused", () => {
  test.each([
    { name: "no model", body: `{"max_tokens":1,${MESSAGES}}`, param: "model" },
    { name: "no limit", body: `{"model":"m",${MESSAGES}}`, param: "max_tokens" },
    { name: "no messages", body: '{"model":"m","max_tokens":1}', param: "messages" },
    { name: "none at all", body: '{"model":"m","max_tokens":1,"messages":[]}', param: "messages" },
    { name: "a wrong limit", body: `{"model":"m","max_tokens":1.5,${MESSAGES}}`, param: "max_tokens" },
    { name: "a wrong stream", body: having('"stream":1'), param: "stream" },
    { name: "too warm", body: having('"temperature":1.1'), param: "temperature" },
    {
      name: "a strange role",
      body: '{"model":"m","max_tokens":1,"messages":[{"role":"tool"}]}',
      param: "messages[0].role",
    },
    { name: "no role", body: '{"model":"m","max_tokens":1,"messages":[{"content":"x"}]}', param: "messages[0].role" },
    { name: "a block of no type", body: saying({ text: "x" }), param: "messages[0].content[0].type" },
    {
      name: "a content of no kind",
      body: '{"model":"m","max_tokens":1,"messages":[{"role":"user","content":1}]}',
      param: "messages[0].content",
    },
  ])("$name", ({ body, param }) => {
    expect(refusal(() => request(body))).toMatchObject({ http: 400, param });
  });

  test.each([
    { name: "no JSON", body: "{" },
    { name: "no object", body: "[]" },
    { name: "nothing", body: "" },
    { name: "a key twice", body: having('"model":"other"') },
    { name: "too deep", body: having(`"x":${"[".repeat(80)}${"]".repeat(80)}`) },
  ])("$name", ({ body }) => {
    expect(refusal(() => request(body)).reason).toBe("ERROR_REASON_BODY_INVALID");
  });

  test("what is only counted needs no limit", () => {
    const body = Buffer.from(`{"model":"m",${MESSAGES}}`);
    expect(wire.readRequest({ wire: wire.name, body, headers: {} }, "count").facts.model).toBe("m");
  });
});

describe("the newest version", () => {
  const NEWEST = { "anthropic-version": "2026-10-21" };
  const cited = { type: "text", text: "x", citations: [{ type: "char_location" }] };
  const document = { type: "document", source: { type: "text", media_type: "text/plain", data: "x" } };
  const turns = (...blocks: readonly object[]): string =>
    JSON.stringify({
      model: "m",
      max_tokens: 9,
      messages: [
        { role: "user", content: "a" },
        { content: blocks, role: "assistant" },
      ],
    });

  test.each([
    { name: "the default temperature", body: having('"temperature":1'), param: "temperature" },
    { name: "top_p", body: having('"top_p":0.9'), param: "top_p" },
    { name: "top_k", body: having('"top_k":5'), param: "top_k" },
    { name: "a document of the assistant's", body: turns(document), param: "messages[1].content[0]" },
    { name: "citations of the user's", body: saying(cited), param: "messages[0].content[0].citations" },
    {
      name: "citations inside a search result",
      body: saying({ type: "search_result", source: "s", title: "t", content: [cited] }),
      param: "messages[0].content[0].citations",
    },
  ])("refuses $name, which the older one takes", ({ body, param }) => {
    expect(refusal(() => request(body, NEWEST))).toMatchObject({ http: 400, param });
    expect(() => request(body, { "anthropic-version": "2023-06-01" })).not.toThrow();
    expect(() => request(body)).not.toThrow();
  });

  test("takes what is not forbidden", () => {
    expect(() => request(turns(cited), NEWEST)).not.toThrow();
    expect(() => request(saying(document, { type: "text", text: "x", citations: [] }), NEWEST)).not.toThrow();
  });

  test("is not just any", () => {
    const body = `{"model":"m","max_tokens":9,${MESSAGES}}`;
    expect(refusal(() => request(body, { "anthropic-version": "2031-01-01" })).param).toBe("anthropic-version");
  });
});

describe("stand-ins for another upstream's thoughts", () => {
  const ours = '{"type":"thinking","thinking":"a","signature":"tollgate.thought"}';
  const theirs = '{"type":"thinking","thinking":"b","signature":"EqQB"}';
  const bodyOf = (...contents: readonly string[]): string => {
    const turns = contents.map((content) => `{"role":"assistant","content":${content}}, `);
    return `{"model":"m","max_tokens":9,"messages":[${turns.join("")}{"role":"user","content":"x"}], "y":1.0}`;
  };
  const sent = (body: string): string => wire.encodeRequest(request(body), owned({ model: "m" }), {}).toString();

  test.each([
    {
      name: "go, and all else stays",
      before: [`[ ${ours} , ${theirs}]`, `[${theirs},${ours}]`],
      after: [`[${theirs}]`, `[${theirs}]`],
    },
    {
      name: "leave a word where nothing else was said",
      before: [`[${ours},${ours}]`],
      after: ['[{"type":"text","text":"..."}]'],
    },
    {
      name: "are known by their type alone",
      before: [`[{"type":"text","text":"tollgate.thought"}]`],
      after: undefined,
    },
  ])("$name", ({ before, after }) => {
    expect(sent(bodyOf(...before))).toBe(bodyOf(...(after ?? before)));
  });

  test("carry the state of a call to an upstream that must have it back", () => {
    const carrier = '{"type":"thinking","thinking":"","signature":"tollgate.call.c3RhdGU"}';
    const use = '{"type":"tool_use","id":"t","name":"f","input":{}}';
    const { messages } = request(bodyOf(`[${ours},${carrier},${use},${use}]`)).prompt();
    const signatures = messages[0]?.parts.map(({ kind }) =>
      kind?.$case === "toolCall" ? kind.value.signature : kind?.$case,
    );
    expect(signatures).toEqual(["thinking", "state", undefined]);
  });
});

describe("rules of models", () => {
  test.each([
    {
      model: "claude-3-haiku-20240307",
      want: { outputTokensMax: 4096, thinking: "none", sampling: "both", prefill: true },
    },
    { model: "claude-3-5-sonnet-latest", want: { outputTokensMax: 8192, thinking: "none" } },
    { model: "claude-3-7-sonnet-20250219", want: { outputTokensMax: 64_000, thinking: "budget", schemas: false } },
    { model: "claude-opus-4-20250514", want: { outputTokensMax: 32_000, thinking: "budget", schemas: false } },
    { model: "claude-opus-4-1-20250805", want: { outputTokensMax: 32_000, schemas: true } },
    { model: "us.anthropic.claude-sonnet-4-5-20250929-v1:0", want: { outputTokensMax: 64_000, sampling: "one" } },
    { model: "anthropic/claude-opus-4.6", want: { thinking: "adaptive", prefill: false, sampling: "one" } },
    { model: "claude-opus-4-7", want: { sampling: "none", systemTurns: false } },
    { model: "claude-opus-4-8", want: { systemTurns: true } },
    { model: "claude-sonnet-5", want: { sampling: "none", forcedTools: true, withoutThinking: "disabled" } },
    { model: "claude-sonnet-5-5", want: { forcedTools: false, withoutThinking: "between_tools" } },
    { model: "claude-opus-5-5-20261001", want: { forcedTools: false, withoutThinking: "effort" } },
    { model: "claude-haiku-5-5", want: { forcedTools: true, sampling: "none" } },
    { model: "claude-fable-5", want: { forcedTools: true, withoutThinking: "effort" } },
    { model: "claude-fable-5-1", want: { forcedTools: false } },
    { model: "claude-saga-9", want: { sampling: "none", thinking: "adaptive", forcedTools: false, prefill: false } },
    { model: "something-else", want: { sampling: "none", thinking: "adaptive" } },
  ])("$model", ({ model, want }) => {
    expect(rulesOf(tabledFacts(model))).toMatchObject(want);
  });
});

/** A body of OpenAI's, as an upstream of this wire gets it. */
function fromChat(model: string, body: object): { body: Record<string, unknown>; dropped: string[] } {
  const bytes = Buffer.from(JSON.stringify({ model: "m", messages: [{ role: "user", content: "hi" }], ...body }));
  const asked = openAiChat.readRequest({ wire: openAiChat.name, body: bytes, headers: {} });
  const dropped: string[] = [];
  const made = wire.encodeRequest(asked, owned({ model, outputTokensMax: 8000 }), {}, dropped);
  return { body: JSON.parse(made.toString()), dropped };
}

describe("prompts of other wires", () => {
  const schema = { type: "object", properties: { a: { type: "string" } }, required: ["a"] };
  const format = { type: "json_schema", json_schema: { name: "n", schema } };
  const tool = (name: string): object => ({ type: "function", function: { name } });

  test("a schema on a model that knows none is a tool that must be called", () => {
    const { body } = fromChat("claude-sonnet-4-20250514", { response_format: format, tools: [tool("json")] });
    expect(body).toMatchObject({
      tools: [{ name: "json" }, { name: "json_", input_schema: { ...schema, additionalProperties: false } }],
      tool_choice: { type: "any" },
    });
    expect(fromChat("claude-sonnet-4-20250514", { response_format: format }).body).toMatchObject({
      tool_choice: { type: "tool", name: "json" },
    });
    expect(fromChat("claude-sonnet-4-5", { response_format: format }).body).not.toHaveProperty("tools");
  });

  test("any object is asked for in words", () => {
    const { body } = fromChat("claude-opus-5", { response_format: { type: "json_object" } });
    expect(body).toMatchObject({ system: [{ type: "text", text: expect.stringContaining("JSON object") }] });
  });

  test.each([
    { effort: "none", model: "claude-opus-5", want: { thinking: { type: "disabled" } } },
    { effort: "none", model: "claude-sonnet-5-5", want: { thinking: { type: "between_tools" } } },
    {
      effort: "minimal",
      model: "claude-opus-5",
      want: { thinking: { type: "adaptive" }, output_config: { effort: "low" } },
    },
    { effort: "xhigh", model: "claude-opus-5", want: { output_config: { effort: "xhigh" } } },
    { effort: "xhigh", model: "claude-opus-4-6", want: { output_config: { effort: "high" } } },
    { effort: "low", model: "claude-sonnet-4-5", want: { thinking: { type: "enabled", budget_tokens: 1024 } } },
    { effort: "medium", model: "claude-sonnet-4-5", want: { thinking: { type: "enabled", budget_tokens: 2000 } } },
    { effort: "high", model: "claude-3-haiku-20240307", want: { max_tokens: 8000 } },
  ])("an effort of $effort on $model", ({ effort, model, want }) => {
    expect(fromChat(model, { reasoning_effort: effort }).body).toMatchObject(want);
  });

  test("tools that may be called are those that are sent", () => {
    const choice = { type: "allowed_tools", allowed_tools: { mode: "auto", tools: [tool("b")] } };
    const { body } = fromChat("claude-opus-5", { tools: [tool("a"), tool("b")], tool_choice: choice });
    expect(body).toMatchObject({ tools: [{ name: "b" }], tool_choice: { type: "auto" } });
  });

  test("hosted tools and blank stop strings are left out, and told", () => {
    const { body, dropped } = fromChat("claude-opus-5", {
      tools: [{ type: "web_search" }],
      stop: [" ", "x"],
      top_k: 5,
    });
    expect(body["stop_sequences"]).toEqual(["x"]);
    expect(body).not.toHaveProperty("tools");
    expect(dropped).toEqual(["tools.web_search", "top_k", "stop"]);
  });

  test("at most four cache marks, the last ones", () => {
    const part = (text: string): object => ({ type: "text", text, prompt_cache_breakpoint: { mode: "explicit" } });
    const content = ["a", "b", "c", "d", "e", "f"].map(part);
    const { body } = fromChat("claude-opus-5", { messages: [{ role: "user", content }] });
    const [message] = body["messages"] as { content: { text: string; cache_control?: object }[] }[];
    expect(
      message?.content
        .filter((block) => block.cache_control)
        .map(({ text }) => text)
        .join(""),
    ).toBe("cdef");
  });

  test("a tool's schema that names no type is an object's all the same", () => {
    const parameters = { properties: { a: {} } };
    const { body } = fromChat("claude-opus-5", { tools: [{ type: "function", function: { name: "f", parameters } }] });
    expect(body).toMatchObject({ tools: [{ input_schema: { type: "object", properties: { a: {} } } }] });
  });

  test("what is refused elsewhere is no secret here: an audio answer", () => {
    const body = Buffer.from('{"model":"m","messages":[{"role":"user","content":"x"}],"modalities":["text","audio"]}');
    const asked = openAiChat.readRequest({ wire: openAiChat.name, body, headers: {} });
    expect(refusal(() => asked.checkForeign?.("claude-opus-5")).param).toBe("modalities");
  });
});
