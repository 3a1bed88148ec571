/** Requests: what is read of a body, what is refused, and what goes upstream from another wire. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { GatewayError } from "../../../src/base/errors.js";
import { gemini } from "../../../src/families/gemini.js";
import { wire } from "../../../src/wire/gemini/index.js";
import { wire as openAiChat } from "../../../src/wire/openai-chat/index.js";
import { owned, request } from "./reading.js";

const TESTDATA = new URL("../../../src/wire/gemini/testdata/", import.meta.url);
const golden = (name: string): string => readFileSync(new URL(name, TESTDATA), "utf8");
const HI = { contents: [{ role: "user", parts: [{ text: "Hi" }] }] };

describe("a full request", () => {
  const full = golden("full.request.json");

  test("has its facts, whichever spelling its fields have", () => {
    const { facts } = request(full, "org/m", true);
    expect(facts).toMatchObject({
      model: "org/m",
      stream: true,
      includeUsage: true,
      candidateCount: 2,
      outputTokensMax: 100,
      textBytes: Buffer.byteLength(full) - 3 * '"aGVsbG8="'.length,
      imageCount: 2,
      // Its search brings as much to read as a file could.
      fileCount: 2,
      audioCount: 1,
    });
  });

  test("typed and written again is the golden one", () => {
    const read = request(full);
    const typed = { facts: read.facts, source: undefined, prompt: () => read.prompt() };
    const written = wire.encodeRequest(typed, owned({ candidateCount: 2 }), {}).toString();
    const ids = [...new Set(written.match(/call_[0-9a-f]{24}/g))];
    expect(ids).toHaveLength(2);
    const named = ids.reduce((text, id, place) => text.replaceAll(id, `call_${place + 1}`), written);
    expect(JSON.parse(named)).toEqual(JSON.parse(golden("full.upstream.json")));
  });

  test("of the wire itself goes upstream with what the gateway owns alone changed", () => {
    const body = wire.encodeRequest(request(full), owned({ candidateCount: 1, outputTokensMax: 50 }), {}).toString();
    const wanted = full.replace('"candidate_count": 2', '"candidate_count": 1');
    expect(body).toBe(wanted.replace('"max_output_tokens": "100"', '"max_output_tokens": 50'));
  });
});

test.each([
  {
    name: "no configuration",
    body: '{"contents":[{}]}',
    want: '{"contents":[{}],"generationConfig":{"maxOutputTokens":5}}',
  },
  {
    name: "a configuration that is null",
    body: '{"generation_config": null ,"contents":[{}]}',
    want: '{"generation_config": {"maxOutputTokens":5} ,"contents":[{}]}',
  },
  {
    name: "a configuration without a limit",
    body: '{"generationConfig":{ "topK":1 },"contents":[{}]}',
    want: '{"generationConfig":{ "topK":1,"maxOutputTokens":5 },"contents":[{}]}',
  },
  {
    name: "a model that the path does not name",
    body: '{"model":"models/dear","contents":[{}],"generationConfig":{"maxOutputTokens":5}}',
    want: '{"model":"models/m","contents":[{}],"generationConfig":{"maxOutputTokens":5}}',
  },
])("the limit is written into $name", ({ body, want }) => {
  expect(wire.encodeRequest(request(body), owned({ outputTokensMax: 5 }), {}).toString()).toBe(want);
});

test.each([
  { name: "nothing", body: "", reason: "ERROR_REASON_BODY_INVALID" },
  { name: "a list", body: "[]", reason: "ERROR_REASON_BODY_INVALID" },
  { name: "broken JSON", body: '{"contents":', reason: "ERROR_REASON_BODY_INVALID" },
  { name: "a key twice", body: '{"contents":[{}],"contents":[{}]}', reason: "ERROR_REASON_BODY_INVALID" },
  {
    name: "a key in both spellings",
    body: { ...HI, generationConfig: {}, generation_config: { maxOutputTokens: 1e6 } },
    reason: "ERROR_REASON_BODY_INVALID",
  },
  { name: "no contents", body: {}, reason: "ERROR_REASON_PARAMETER_MISSING", param: "contents" },
  { name: "empty contents", body: '{"contents":[ ]}', reason: "ERROR_REASON_PARAMETER_INVALID", param: "contents" },
  {
    name: "contents that are text",
    body: { contents: "Hi" },
    reason: "ERROR_REASON_PARAMETER_INVALID",
    param: "contents",
  },
  ...[0, -1, 1.5, "many", true, 1e17].map((maxOutputTokens) => ({
    name: `a limit of ${maxOutputTokens}`,
    body: { ...HI, generationConfig: { maxOutputTokens } },
    reason: "ERROR_REASON_PARAMETER_INVALID",
    param: "generationConfig.maxOutputTokens",
  })),
  {
    name: "too many candidates",
    body: { ...HI, generationConfig: { candidateCount: 129 } },
    reason: "ERROR_REASON_PARAMETER_INVALID",
    param: "generationConfig.candidateCount",
  },
])("$name is refused", ({ body, reason, param }: { body: object | string; reason: string; param?: string }) => {
  const refused = (): unknown => request(body);
  expect(refused).toThrow(GatewayError);
  expect(refused).toThrow(expect.objectContaining({ reason, param: param ?? null }));
});

test("a body without a model in its path is refused", () => {
  const source = { wire: wire.name, body: Buffer.from(JSON.stringify(HI)), headers: {} };
  expect(() => wire.readRequest(source)).toThrow(expect.objectContaining({ param: "model" }));
});

test("what a tool took and returned is text, whatever its keys are called", () => {
  const hidden = { inlineData: { mimeType: "image/png", data: "x".repeat(1000) } };
  const parts = [{ functionCall: { name: "f", args: hidden } }, { functionResponse: { name: "f", response: hidden } }];
  const { facts } = request({ contents: [{ parts }] });
  expect(facts.imageCount).toBe(0);
  expect(facts.textBytes).toBeGreaterThan(2000);
});

/** A chat request as a model of Google's receives it. */
function fromChat(body: object, model = "gemini-3-flash"): Record<string, never> {
  const source = { wire: openAiChat.name, headers: {}, body: Buffer.from(JSON.stringify({ model, ...body })) };
  const read = openAiChat.readRequest(source);
  const { candidateCount } = read.facts;
  return JSON.parse(wire.encodeRequest(read, owned({ model, candidateCount }), gemini.dialect).toString()) as never;
}

const asks = (content: unknown = "Hi"): object => ({ messages: [{ role: "user", content }] });

test.each([
  { effort: "none", model: "gemini-3-flash", want: { thinkingLevel: "MINIMAL" } },
  { effort: "minimal", model: "gemini-3-pro-preview", want: { thinkingLevel: "LOW", includeThoughts: true } },
  { effort: "medium", model: "gemini-3-pro-preview", want: { thinkingLevel: "HIGH", includeThoughts: true } },
  { effort: "xhigh", model: "gemini-9-new", want: { thinkingLevel: "HIGH", includeThoughts: true } },
  { effort: "none", model: "gemini-2.5-flash", want: { thinkingBudget: 0 } },
  { effort: "none", model: "gemini-2.5-pro", want: { thinkingBudget: 128 } },
  { effort: "low", model: "gemini-2.5-flash", want: { thinkingBudget: 1024, includeThoughts: true } },
  { effort: "high", model: "gemini-2.0-flash", want: undefined },
])("effort $effort on $model", ({ effort, model, want }) => {
  const { generationConfig } = fromChat({ ...asks(), reasoning_effort: effort }, model);
  expect((generationConfig as { thinkingConfig?: object } | undefined)?.thinkingConfig).toEqual(want);
});

const TOOL = { type: "function", function: { name: "f", strict: true } };

test.each([
  { name: "any", choice: "required", want: { mode: "ANY" } },
  {
    name: "one",
    choice: { type: "function", function: { name: "f" } },
    want: { mode: "ANY", allowedFunctionNames: ["f"] },
  },
  { name: "none", choice: "none", want: { mode: "NONE" } },
  { name: "strict ones", choice: "auto", want: { mode: "VALIDATED" } },
  {
    name: "some",
    choice: { type: "allowed_tools", allowed_tools: { mode: "auto", tools: [TOOL] } },
    want: { mode: "VALIDATED", allowedFunctionNames: ["f"] },
  },
])("the choice of $name", ({ choice, want }) => {
  const { toolConfig } = fromChat({ ...asks(), tools: [TOOL], tool_choice: choice });
  expect(toolConfig).toEqual({ functionCallingConfig: want });
});

test("what only other upstreams understand is left out", () => {
  const messages = [
    { role: "system", content: "x-anthropic-billing-header: cc_version=1" },
    { role: "user", content: "Hi" },
    { role: "assistant", content: "Yes.", reasoning_content: "Hmm.", reasoning_details: [] },
    { role: "user", content: "Go on." },
  ];
  const dropped = {
    service_tier: "auto",
    logit_bias: { 5: 1 },
    verbosity: "low",
    user: "u",
    metadata: { a: "b" },
    x: 1,
  };
  expect(fromChat({ messages, ...dropped, seed: 2 ** 40 })).toEqual({
    contents: [
      { role: "user", parts: [{ text: "Hi" }] },
      { role: "model", parts: [{ text: "Yes." }] },
      { role: "user", parts: [{ text: "Go on." }] },
    ],
  });
});

test("calls without arguments, with broken ones, and results of all kinds keep their meaning", () => {
  const call = (id: string, text: string): object => ({
    id,
    type: "function",
    function: { name: `f-${id}`, arguments: text },
  });
  const results = { a: "", b: "plain", c: '{"k":1.50}', d: '{"output":2}', x: "orphan" };
  const { contents } = fromChat({
    messages: [
      { role: "user", content: "Hi" },
      {
        role: "assistant",
        content: "",
        tool_calls: [call("a", ""), call("b", "{oops"), call("c", "[1]"), call("d", "{}")],
      },
      ...Object.entries(results).map(([id, content]) => ({ role: "tool", tool_call_id: id, content })),
    ],
  });
  const [, called, answered, said] = contents as unknown as { role: string; parts: Record<string, object>[] }[];
  expect(called?.parts.map(({ functionCall }) => functionCall)).toMatchObject([
    { id: "a", args: {} },
    { id: "b", args: { _raw: "{oops" } },
    { id: "c", args: { _raw: "[1]" } },
    { id: "d", args: {} },
  ]);
  expect(answered?.parts.map(({ functionResponse, text }) => functionResponse ?? text)).toMatchObject([
    { name: "f-a", response: { output: "" } },
    { name: "f-b", response: { output: "plain" } },
    { name: "f-c", response: { k: 1.5 } },
    { name: "f-d", response: { output: '{"output":2}' } },
  ]);
  expect(said?.parts).toEqual([{ text: "The tool call x returned: orphan" }]);
});

test.each([
  {
    name: "a picture by an open address",
    body: asks([{ type: "image_url", image_url: { url: "http://a.example/b" } }]),
  },
  { name: "a file that OpenAI holds", body: asks([{ type: "file", file: { file_id: "file-1" } }]) },
])("$name is refused by its param", ({ body }) => {
  expect(() => fromChat(body)).toThrow(expect.objectContaining({ reason: "ERROR_REASON_PARAMETER_UNSUPPORTED" }));
});

describe("an answer that comes back chunk by chunk", () => {
  const PROOF = `dG9sbGdhdGU6${Buffer.from("proof").toString("base64")}`;
  const thinking = (text: string, signature?: string): object => ({ $case: "thinking", value: { text, signature } });
  const text = (told: string): object => ({ $case: "text", value: { text: told } });

  test.each([
    { name: "text", chunks: [[{ text: "Hel" }], [{ text: "lo" }], [{ text: "" }]], want: [text("Hello")] },
    {
      name: "a thought with its proof behind it",
      chunks: [
        [{ text: "a", thought: true }],
        [
          { text: "b", thought: true },
          { text: "", thoughtSignature: PROOF },
        ],
      ],
      want: [thinking("ab", "proof")],
    },
    {
      name: "two thoughts",
      chunks: [
        [{ text: "a", thought: true }],
        [{ text: "b", thought: true, thoughtSignature: PROOF }],
        [{ text: "c", thought: true }],
      ],
      want: [thinking("ab", "proof"), thinking("c")],
    },
    {
      name: "texts that stood apart in one chunk",
      chunks: [[{ text: "a" }, { text: "b" }], [{ text: "c" }]],
      want: [text("a"), text("bc")],
    },
  ])("is one answer: $name", ({ chunks, want }) => {
    const contents = [...HI.contents, ...chunks.map((parts) => ({ role: "model", parts }))];
    const [, answered, ...others] = request({ contents }).prompt().messages;
    expect(others).toEqual([]);
    expect(answered?.parts.map(({ kind }) => kind)).toMatchObject(want);
  });
});
