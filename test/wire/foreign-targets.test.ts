/** What a request of each client's wire comes to on each other wire: tools, names, ids, parts and schemas. */
import { describe, expect, test } from "vitest";
import { foldEvents } from "../../src/api/answer-fold.js";
import { type Answer, FinishReason, Role } from "../../src/api/index.js";
import { GatewayError } from "../../src/base/errors.js";
import type { Endpoint } from "../../src/families/family.js";
import { families } from "../../src/families/index.js";
import { wire as anthropic } from "../../src/wire/anthropic/index.js";
import { wire as gemini } from "../../src/wire/gemini/index.js";
import { wire as chat } from "../../src/wire/openai-chat/index.js";
import { wire as responses } from "../../src/wire/openai-responses/index.js";
import type { DecodedAnswer, Wire, WireRequest } from "../../src/wire/wire.js";

type Json = Readonly<Record<string, unknown>>;
type Texts = Readonly<Record<string, string>>;

const TARGETS = new Set([
  "openai",
  "openai-responses",
  "openai-compatible",
  "mistral",
  "anthropic",
  "gemini",
  "bedrock",
]);
const targets: readonly { readonly family: string; readonly endpoint: Endpoint }[] = families
  .filter(({ name }) => TARGETS.has(name))
  .map((endpoint) => ({ family: endpoint.name, endpoint }));
const clients = [chat, anthropic, responses, gemini];
const pairs = clients.flatMap((client) =>
  targets
    .filter(({ endpoint }) => endpoint.wire.name !== client.name)
    .map(({ family, endpoint }) => ({ client, family, endpoint })),
);

function read(client: Wire, body: object): WireRequest {
  const headers: Texts = client === gemini ? { "x-tollgate-path-model": "m" } : {};
  return client.readRequest({ wire: client.name, body: Buffer.from(JSON.stringify(body)), headers });
}

function ask(request: WireRequest, endpoint: Endpoint, dropped: string[] = []): Json {
  const owned = { model: "m", facts: { schemas: true }, outputTokensMax: 9, stream: false, candidateCount: 1 };
  return JSON.parse(endpoint.wire.encodeRequest(request, owned, endpoint.dialect, dropped).toString()) as Json;
}

/** A request that says the text, with the tools and the earlier call, as each client writes it. */
interface Asked {
  readonly tools?: readonly { readonly name: string; readonly schema: Json }[];
  readonly called?: { readonly id: string; readonly name: string };
  readonly part?: Json;
}

function bodyOf(client: Wire, { tools = [], called, part }: Asked): object {
  const said = part === undefined ? [] : [part];
  switch (client) {
    case chat: {
      const calls = called && [{ id: called.id, type: "function", function: { name: called.name, arguments: "{}" } }];
      const history = called && [
        { role: "assistant", content: null, tool_calls: calls },
        { role: "tool", tool_call_id: called.id, content: "done" },
      ];
      return {
        model: "m",
        messages: [{ role: "user", content: [{ type: "text", text: "x" }, ...said] }, ...(history ?? [])],
        tools: tools.map(({ name, schema }) => ({ type: "function", function: { name, parameters: schema } })),
      };
    }
    case anthropic: {
      const history = called && [
        { role: "assistant", content: [{ type: "tool_use", id: called.id, name: called.name, input: {} }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: called.id, content: "done" }] },
      ];
      return {
        model: "m",
        max_tokens: 9,
        messages: [{ role: "user", content: [{ type: "text", text: "x" }, ...said] }, ...(history ?? [])],
        tools: tools.map(({ name, schema }) => ({ name, input_schema: schema })),
      };
    }
    case responses: {
      const history = called && [
        { type: "function_call", call_id: called.id, name: called.name, arguments: "{}" },
        { type: "function_call_output", call_id: called.id, output: "done" },
      ];
      return {
        model: "m",
        input: [{ role: "user", content: [{ type: "input_text", text: "x" }, ...said] }, ...(history ?? [])],
        tools: tools.map(({ name, schema }) => ({ type: "function", name, parameters: schema })),
      };
    }
    default: {
      const history = called && [
        { role: "model", parts: [{ functionCall: { id: called.id, name: called.name, args: {} } }] },
        { role: "user", parts: [{ functionResponse: { id: called.id, name: called.name, response: {} } }] },
      ];
      const functionDeclarations = tools.map(({ name, schema }) => ({ name, parametersJsonSchema: schema }));
      return {
        contents: [{ role: "user", parts: [{ text: "x" }, ...said] }, ...(history ?? [])],
        tools: [{ functionDeclarations }],
      };
    }
  }
}

/** All values of the member, wherever they stand. */
function valuesOf(value: unknown, key: string): unknown[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    name === key && typeof member !== "object" ? [member] : valuesOf(member, key),
  );
}

describe.each(pairs)("a client of $client.name on $family", ({ client, endpoint }) => {
  const HOSTED: Readonly<Record<string, Json>> = {
    [chat.name]: { tools: [{ type: "web_search" }], tool_choice: "auto", parallel_tool_calls: true },
    [anthropic.name]: {
      tools: [{ type: "web_search_20250305", name: "web_search" }],
      tool_choice: { type: "auto", disable_parallel_tool_use: true },
    },
    [responses.name]: { tools: [{ type: "web_search" }], tool_choice: "auto", parallel_tool_calls: true },
    [gemini.name]: {
      tools: [{ googleSearch: {} }],
      toolConfig: { functionCallingConfig: { mode: "AUTO" } },
    },
  };

  test("that offers hosted tools alone has nothing said of a choice among none", () => {
    const body = { ...bodyOf(client, {}), ...HOSTED[client.name] };
    const asked = ask(read(client, body), endpoint);
    for (const member of ["tools", "tool_choice", "parallel_tool_calls", "toolConfig"])
      expect(asked[member]).toBeUndefined();
  });

  const NAME = "mcp.files:read/all";
  const ID = "functions.get_weather:0";
  const schema = { type: "object", properties: { a: { type: "string" } } };
  const body = bodyOf(client, { tools: [{ name: NAME, schema }], called: { id: ID, name: NAME } });

  test("has the names of its tools fitted, in its history too, and hears its own", () => {
    const request = read(client, body);
    const names = valuesOf(ask(request, endpoint), "name");
    expect(names.length).toBeGreaterThan(1);
    expect(new Set(names).size).toBe(1);
    const [name] = names as [string];
    expect(name).toMatch(endpoint.wire.name === gemini.name ? /^[A-Za-z_][\w.:-]{0,63}$/ : /^[\w-]{1,64}$/);
    const calls = answered(endpoint, name, request).events();
    const started = calls.map(({ kind }) => (kind?.$case === "toolCallStart" ? kind.value.name : undefined));
    expect(started).toContain(NAME);
  });

  test("has the id of a call and of its result fitted alike", () => {
    const asked = ask(read(client, body), endpoint);
    const ids = ["id", "call_id", "tool_call_id", "tool_use_id", "toolUseId"].flatMap((key) => valuesOf(asked, key));
    expect(new Set(ids).size).toBe(1);
    if (endpoint.wire.name === anthropic.name) expect(ids[0]).toMatch(/^[\w-]{1,128}$/);
    if (endpoint.wire.name === "bedrock-converse") expect(ids[0]).toMatch(/^[\w-]{1,64}$/);
  });

  test("is refused for a part that nobody else understands, by its place", () => {
    const part = client === gemini ? { newKind: { a: 1 } } : { type: "new_kind", new_kind: "a" };
    const request = read(client, bodyOf(client, { part }));
    const places: Texts = { [gemini.name]: "contents[0].parts[1]", [responses.name]: "input[0].content[1]" };
    let told: unknown;
    try {
      ask(request, endpoint);
    } catch (error) {
      told = error instanceof GatewayError ? [error.http, error.param] : error;
    }
    expect(told).toEqual([400, places[client.name] ?? "messages[0].content[1]"]);
  });
});

function answered({ wire }: Endpoint, name: string, asked: WireRequest): DecodedAnswer {
  if (wire.name === "bedrock-converse") {
    const content = [{ toolUse: { toolUseId: "t", name, input: {} } }];
    const body = { output: { message: { role: "assistant", content } }, stopReason: "tool_use", usage: {} };
    return wire.decodeAnswer(Buffer.from(JSON.stringify(body)), asked);
  }
  const from = clients.find((client) => client.name === wire.name)!;
  return wire.decodeAnswer(from.encodeAnswer(callOf("t", name)), asked);
}

function callOf(id: string, name: string): Answer {
  const value = { id, name, arguments: "{}", custom: false, signature: undefined };
  const answer = foldEvents([{ kind: { $case: "start", value: { id: "a", model: "m", createTime: undefined } } }]);
  const parts = [{ kind: { $case: "toolCall" as const, value }, cacheMark: undefined }];
  const message = { role: Role.ROLE_ASSISTANT, parts, name: undefined, extraJson: undefined };
  const finishReason = FinishReason.FINISH_REASON_TOOL_CALLS;
  return { ...answer, candidates: [{ index: 0, message, finishReason, stopString: undefined, logprobs: undefined }] };
}

describe("an id that a messages client refuses", () => {
  test.each(["functions.get:0", "é", "toolu_tg_x", "a".repeat(200)])("%j is told in signs that it takes", (id) => {
    const stream = anthropic.encodeStream(read(anthropic, bodyOf(anthropic, {})).facts);
    const value = { candidate: 0, index: 0, id, name: "get", custom: false, signature: undefined };
    const told = stream.push([{ kind: { $case: "toolCallStart", value } }]).toString();
    const streamed = /"id":"([\w-]{1,128})","name":"get"/.exec(told)?.[1];
    expect(streamed).toBeDefined();
    const whole = JSON.parse(anthropic.encodeAnswer(callOf(id, "get")).toString()) as Json;
    expect(valuesOf(whole["content"], "id")).toEqual([streamed]);
    // What it brings back is the upstream's own again.
    const back = read(anthropic, bodyOf(anthropic, { called: { id: streamed!, name: "get" } }));
    const ids = valuesOf(ask(back, targets.find(({ family }) => family === "openai-compatible")!.endpoint), "id");
    if (id.length < 80) expect(ids).toEqual([id]);
  });
});

describe.each(pairs.filter(({ client }) => client === gemini))(
  "functions of a Gemini client on $family",
  ({ endpoint }) => {
    const functionDeclarations = ["a", "b", "c"].map((name) => ({ name, parametersJsonSchema: { type: "object" } }));
    const body = { ...bodyOf(gemini, {}), tools: [{ functionDeclarations }] };

    test("mean the same where the tools are one object and no list", () => {
      const single = { ...body, tools: { functionDeclarations } };
      expect(ask(read(gemini, single), endpoint)).toEqual(ask(read(gemini, body), endpoint));
    });

    test.each(["ANY", "AUTO", "VALIDATED"])("of which some may be called in the mode %s: no other is", (mode) => {
      const functionCallingConfig = { mode, allowedFunctionNames: ["a", "c"] };
      const asked = ask(read(gemini, { ...body, toolConfig: { functionCallingConfig } }), endpoint);
      const choice = JSON.stringify(asked["tool_choice"] ?? "");
      const offered = valuesOf(asked["tools"] ?? asked["toolConfig"], "name");
      // Either the choice names them, or no other is offered.
      if (choice.includes("allowed_tools")) expect(valuesOf(asked["tool_choice"], "name")).toEqual(["a", "c"]);
      else expect(offered).toEqual(["a", "c"]);
    });

    test("of which none that was offered may be called are refused by that member", () => {
      const functionCallingConfig = { mode: "ANY", allowedFunctionNames: ["unknown"] };
      const request = read(gemini, { ...body, toolConfig: { functionCallingConfig } });
      expect(() => request.checkForeign?.("m", [])).toThrow(
        expect.objectContaining({ param: "toolConfig.functionCallingConfig.allowedFunctionNames" }),
      );
    });
  },
);

describe("a schema of arguments with several forms", () => {
  const schema = {
    $defs: { b: { type: "object", properties: { b: { type: "number" }, kind: { const: "b" } }, required: ["kind"] } },
    anyOf: [
      { type: "object", properties: { a: { type: "string" }, kind: { const: "a" } }, required: ["a", "kind"] },
      { $ref: "#/$defs/b" },
    ],
  };
  test.each(pairs.filter(({ client, family }) => client !== gemini && family !== "gemini"))(
    "has one for $family, asked on $client.name, and the loss is named",
    ({ client, endpoint }) => {
      const dropped: string[] = [];
      const asked = ask(read(client, bodyOf(client, { tools: [{ name: "get", schema }] })), endpoint, dropped);
      const told = JSON.stringify(asked["tools"] ?? asked["toolConfig"]);
      expect(told).toContain('"properties":{"a":{"type":"string"},"kind":{"anyOf":[{"const":"a"},{"const":"b"}]},');
      expect(told).toContain('"required":["kind"]');
      expect(dropped).toEqual(["tools[0].parameters.anyOf"]);
    },
  );
});

test.each(targets.filter(({ family }) => family !== "openai-compatible" && family !== "mistral"))(
  "a schema beside json_object binds the answer on $family",
  ({ endpoint }) => {
    const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
    const body = { ...bodyOf(chat, {}), response_format: { type: "json_object", schema } };
    expect(JSON.stringify(ask(read(chat, body), endpoint))).toContain("city");
  },
);

describe("a budget of thoughts", () => {
  const body = { ...bodyOf(anthropic, {}), max_tokens: 9_000, thinking: { type: "enabled", budget_tokens: 8_000 } };
  const owned = { model: "m", outputTokensMax: 9_000, stream: false, candidateCount: 1 };
  test.each([
    { name: "is an effort that the model knows", efforts: ["low", "medium", "high"], effort: "medium", dropped: [] },
    { name: "is named as left out where it knows none", efforts: [], effort: undefined, dropped: ["thinking"] },
  ])("$name, on OpenAI's responses", ({ efforts, effort, dropped }) => {
    const { endpoint } = targets.find(({ family }) => family === "openai-responses")!;
    const left: string[] = [];
    const bytes = endpoint.wire.encodeRequest(read(anthropic, body), { ...owned, facts: { efforts } }, {}, left);
    const asked = JSON.parse(bytes.toString()) as Json;
    expect(asked["reasoning"]).toEqual(effort && { effort, summary: "auto" });
    expect(asked["include"]).toEqual(effort && ["reasoning.encrypted_content"]);
    expect(left).toEqual(dropped);
  });
});

const PDF = "https://files.test/a.pdf";
const TAKES_ADDRESSES = new Set(["anthropic", "gemini", "openai-responses"]);

describe("a document by its address", () => {
  test.each([
    { name: "document_url", part: { type: "document_url", document_url: PDF } },
    { name: "document_url in an object", part: { type: "document_url", document_url: { url: PDF } } },
    { name: "file", part: { type: "file", file: { file_url: PDF } } },
  ])("as $name reaches who takes addresses", ({ part }) => {
    for (const { family, endpoint } of targets.filter(({ endpoint: { wire } }) => wire.name !== chat.name)) {
      const asking = (): string => JSON.stringify(ask(read(chat, bodyOf(chat, { part })), endpoint));
      if (TAKES_ADDRESSES.has(family)) expect(asking()).toContain(PDF);
      else expect(asking).toThrow(/messages\[0\]/);
    }
  });

  test.each([
    "gs://bucket/a.pdf",
    "https://generativelanguage.googleapis.com/v1beta/files/a",
    "http://files.test/a.pdf",
  ])("%s is not read for a client of another wire with the gateway's own credential", (address) => {
    const { endpoint } = targets.find((target) => target.family === "gemini")!;
    const part = { type: "document_url", document_url: address };
    expect(() => ask(read(chat, bodyOf(chat, { part })), endpoint)).toThrow(/messages\[0\]/);
  });

  test("of another client reaches Mistral in its own part", () => {
    const part = { type: "document", source: { type: "url", url: PDF }, title: "a" };
    const { endpoint } = targets.find((target) => target.family === "mistral")!;
    expect(JSON.stringify(ask(read(anthropic, bodyOf(anthropic, { part })), endpoint))).toContain(
      `{"type":"document_url","document_url":"${PDF}","document_name":"a"}`,
    );
  });
});
