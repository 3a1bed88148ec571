/** The typed form of a request: decode(encode(prompt)) = prompt, and what other wires' prompts become here. */
import { readdirSync, readFileSync } from "node:fs";
import { fc } from "../../support/seeds.js";
import { describe, expect, test } from "vitest";
import { type Message, type Part, Prompt, Role } from "../../../src/api/index.js";
import { GatewayError } from "../../../src/base/errors.js";
import { type OpenAiChatDialect, openAiChatDialect, wire } from "../../../src/wire/openai-chat/index.js";
import type { OwnedFields, WireRequest } from "../../../src/wire/wire.js";
import { FACTS, owned, prompt } from "./bodies.js";

const RICH: OpenAiChatDialect = {
  ...openAiChatDialect,
  cacheMark: "prompt_cache_breakpoint",
  topK: true,
  thinkingField: "reasoning_details",
};
const TESTDATA = new URL("../../../src/wire/openai-chat/testdata/", import.meta.url);

function encode(value: Prompt, dialect = RICH, fields: Partial<OwnedFields> = {}, sourceWire?: string): Buffer {
  const source = sourceWire === undefined ? undefined : { wire: sourceWire, body: Buffer.alloc(0), headers: {} };
  const request: WireRequest = { facts: FACTS, source, prompt: () => value };
  return wire.encodeRequest(request, owned({ candidateCount: value.candidateCount ?? 1, ...fields }), dialect);
}

function decode(body: Buffer): Prompt {
  return wire.readRequest({ wire: wire.name, body, headers: {} }).prompt();
}

/** As the protocol carries it: what maps inherit and how absence is written makes no difference there. */
function carried(value: Prompt): Prompt {
  return Prompt.decode(Prompt.encode(value).finish());
}

test("decode(encode(prompt)) = prompt", () => {
  fc.assert(
    fc.property(prompt, (value) => {
      expect(carried(decode(encode(value)))).toEqual(carried(value));
    }),
  );
});

test("what the gateway owns is written beside the prompt", () => {
  fc.assert(
    fc.property(prompt, fc.integer({ min: 1, max: 9 }), fc.boolean(), (value, limit, stream) => {
      const fields = { model: "up", outputTokensMax: limit, stream, candidateCount: 2 };
      const { facts } = wire.readRequest({ wire: wire.name, body: encode(value, RICH, fields), headers: {} });
      expect(facts).toMatchObject({ ...fields, includeUsage: stream });
    }),
  );
});

describe("goldens", () => {
  const names = readdirSync(TESTDATA)
    .filter((name) => name.endsWith(".request.json"))
    .map((name) => name.replace(".request.json", ""));
  test.each(names)("%s", (name) => {
    const body = readFileSync(new URL(`${name}.request.json`, TESTDATA));
    const written = encode(decode(body), RICH, { model: "gpt-5.4-mini" });
    const want: unknown = JSON.parse(readFileSync(new URL(`${name}.upstream.json`, TESTDATA), "utf8"));
    expect(JSON.parse(written.toString())).toEqual(want);
    expect(carried(decode(written))).toEqual(carried(decode(body)));
  });
});

function text(value: string): Part {
  return { kind: { $case: "text", value: { text: value, citationsJson: undefined } }, cacheMark: undefined };
}

function message(role: Role, parts: Part[]): Message {
  return { role, parts, name: undefined, extraJson: '{"x":1}' };
}

function result(callId: string, parts: Part[], isError = false): Part {
  return { kind: { $case: "toolResult", value: { callId, parts, isError } }, cacheMark: undefined };
}

function call(id: string): Part {
  const value = { id, name: "f", arguments: "{}", custom: false, signature: undefined };
  return { kind: { $case: "toolCall", value }, cacheMark: undefined };
}

function messagesOf(messages: Message[], dialect = openAiChatDialect): unknown {
  const value = { ...decode(Buffer.from('{"model":"m","messages":[{"role":"user"}]}')), messages };
  const body: unknown = JSON.parse(encode(value, dialect, {}, "anthropic").toString());
  return (body as { messages: unknown }).messages;
}

describe("prompts of other wires", () => {
  const inline = { mediaType: "image/png", data: Buffer.from("x") };
  const image: Part = {
    kind: { $case: "image", value: { source: { $case: "inline", value: inline }, detail: undefined } },
    cacheMark: { ttlSeconds: 300 },
  };

  test("results of tools come one by one, then the rest as the user's", () => {
    const parts = [result("a", [text("1"), image]), result("b", [text("2")], true), text("and?")];
    const asked = message(Role.ROLE_ASSISTANT, [call("a"), call("b")]);
    const told = [asked, message(Role.ROLE_USER, parts), message(Role.ROLE_USER, [text("go")])];
    expect((messagesOf(told) as unknown[]).slice(1)).toEqual([
      {
        role: "tool",
        tool_call_id: "a",
        content: "1[image follows]",
      },
      {
        role: "tool",
        tool_call_id: "b",
        content: "Error: 2",
      },
      {
        role: "user",
        content: [
          { type: "image_url", image_url: { url: "data:image/png;base64,eA==" } },
          { type: "text", text: "and?" },
        ],
      },
      { role: "user", content: "go" },
    ]);
  });

  test("results in messages that follow each other stay together", () => {
    const messages = [message(Role.ROLE_TOOL, [result("a", [image])]), message(Role.ROLE_TOOL, [result("b", [])])];
    const asked = message(Role.ROLE_ASSISTANT, [call("a"), call("b")]);
    const roles = [{ role: "assistant" }, { role: "tool" }, { role: "tool" }, { role: "user" }];
    expect(messagesOf([asked, ...messages])).toMatchObject(roles);
  });

  test("thinking and marks go where the dialect has a place for them", () => {
    const thinking: Part = { kind: { $case: "thinking", value: { text: "t", signature: "s" } }, cacheMark: undefined };
    const messages = [message(Role.ROLE_DEVELOPER, [text("d")]), message(Role.ROLE_ASSISTANT, [thinking, text("a")])];
    const assistant = { role: "assistant", content: "a" };
    expect(messagesOf(messages)).toEqual([{ role: "developer", content: "d" }, assistant]);
    expect(
      messagesOf(messages, { ...openAiChatDialect, developerRole: false, thinkingField: "reasoning_content" }),
    ).toEqual([
      { role: "system", content: "d" },
      { ...assistant, reasoning_content: "t" },
    ]);
    const bare = [message(Role.ROLE_ASSISTANT, [text("a")])];
    const required = { ...openAiChatDialect, thinkingField: "reasoning_content", thinkingRequired: true } as const;
    expect(messagesOf(bare, required)).toEqual([{ ...assistant, reasoning_content: "" }]);
  });

  test("what the wire cannot say is refused by its path", () => {
    const file: Part = {
      kind: {
        $case: "file",
        value: { source: { $case: "url", value: "https://example.com/a.pdf" }, filename: undefined },
      },
      cacheMark: undefined,
    };
    const write = (): unknown => messagesOf([message(Role.ROLE_USER, [text("a"), file])]);
    expect(write).toThrow(GatewayError);
    expect(write).toThrow("'messages[0].content[1]' is not supported with the model 'm'");
  });

  test("a caller's JSON writes no members beside its own", () => {
    const base = decode(Buffer.from('{"model":"m","messages":[{"role":"user"}]}'));
    const extra = { wire: wire.name, json: '{"model":"stolen","n":9,"max_tokens":9,"x":1,"temperature":2}' };
    const body: unknown = JSON.parse(encode({ ...base, extra, temperature: 1 }).toString());
    expect(body).toEqual({ model: "m", messages: [{ role: "user", content: "" }], temperature: 1, x: 1 });
    const tool = {
      name: "f",
      description: undefined,
      parametersJson: '{}},"model":"stolen","x":{"y":{}',
      strict: undefined,
    };
    const tools: Prompt["tools"] = [{ kind: { $case: "function", value: tool }, cacheMark: undefined }];
    expect(() => encode({ ...base, tools })).toThrow("Invalid value for 'tools[0].parameters': it must be JSON.");
    expect(() => encode({ ...base, extra: { wire: wire.name, json: "{" } })).toThrow("Invalid value for 'extra'");
  });
});

describe("requests that cannot be typed", () => {
  test.each([
    ['{"role":"robot","content":"x"}', "messages[0].role"],
    ['{"role":"user","content":[{"type":"text"}]}', "messages[0].content[0].text"],
    ['{"role":"user","content":[{"type":"image_url","image_url":{}}]}', "messages[0].content[0].image_url.url"],
    [
      '{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:x"}}]}',
      "messages[0].content[0].image_url.url",
    ],
    ['{"role":"tool","content":"x"}', "messages[0].tool_call_id"],
    ['{"role":"assistant","tool_calls":[{"function":{"name":"f"}}]}', "messages[0].tool_calls[0].id"],
    ['{"role":"assistant","tool_calls":[{"id":"1","type":"x"}]}', "messages[0].tool_calls[0].type"],
    ['{"role":"user","name":5}', "messages[0].name"],
  ])("%s", (body, param) => {
    const request = wire.readRequest({
      wire: wire.name,
      body: Buffer.from(`{"model":"m","messages":[${body}]}`),
      headers: {},
    });
    try {
      request.prompt();
    } catch (error) {
      expect(GatewayError.from(error).param).toBe(param);
      return;
    }
    expect.unreachable();
  });
});
