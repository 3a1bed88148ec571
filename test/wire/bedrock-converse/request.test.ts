/** Requests of Converse: what the prompts of other wires become, and what is refused or left out by name. */
import { fc } from "../../support/seeds.js";
import { describe, expect, test } from "vitest";
import { GatewayError } from "../../../src/base/errors.js";
import { tabledFacts } from "../../../src/models/facts.js";
import { wire as anthropic } from "../../../src/wire/anthropic/index.js";
import { createWire } from "../../../src/wire/bedrock-converse/index.js";
import { wire as openAiChat } from "../../../src/wire/openai-chat/index.js";
import { wire as openAiResponses } from "../../../src/wire/openai-responses/index.js";
import { converseProblem } from "../../support/converse-rules.js";
import { bySweep } from "../../support/sweep.js";

const wire = createWire(() => "answer-1");
const SONNET = "anthropic.claude-sonnet-4-5-20250929-v1:0";
const NEWEST = "anthropic.claude-sonnet-5-5-v1:0";
const NOVA = "amazon.nova-pro-v1:0";

interface Encoded {
  readonly body: Readonly<Record<string, unknown>>;
  readonly dropped: readonly string[];
}

function encoded(from: typeof openAiChat, fields: object, model: string): Encoded {
  const body = Buffer.from(JSON.stringify({ model: "m", messages: [{ role: "user", content: "hi" }], ...fields }));
  const request = from.readRequest({ wire: from.name, body, headers: {} });
  const dropped: string[] = [];
  const owned = { model, facts: tabledFacts(model), outputTokensMax: undefined, stream: false, candidateCount: 1 };
  const written = wire.encodeRequest(request, { ...owned, candidateCount: request.facts.candidateCount }, {}, dropped);
  const said = JSON.parse(written.toString()) as Encoded["body"];
  expect(converseProblem(said)).toBeUndefined();
  return { body: said, dropped: [...new Set(dropped)] };
}

const chat = (fields: object, model = SONNET): Encoded => encoded(openAiChat, fields, model);
const messages = (fields: object, model = SONNET): Encoded =>
  encoded(anthropic, { max_tokens: 9_000, ...fields }, model);

const TOOL = { type: "function", function: { name: "weather", parameters: { type: "object", properties: {} } } };
const SPEC = { toolSpec: { name: "weather", inputSchema: { json: { type: "object", properties: {} } } } };
const CALLED = [
  { role: "user", content: "hi" },
  { role: "assistant", tool_calls: [{ id: "c", type: "function", function: { name: "weather", arguments: "{}" } }] },
  { role: "tool", tool_call_id: "c", content: "rain" },
];

const PDF = "JVBERi0xLjQK";
const title = fc.constantFrom(undefined, "a.pdf", "A.PDF", "a-pdf", "a-pdf-2", "document", "x".repeat(250), "..", "é");
/** A turn of documents by their titles, in words or as what a tool returned. */
const turn = fc.record({ titles: fc.array(title, { minLength: 1, maxLength: 3 }), isResult: fc.boolean() });

test("documents have names of their own, in whatever turns they stand and whichever wire they came in", () => {
  const anthropicDocument = (name: string | undefined): object => ({
    type: "document",
    source: { type: "base64", media_type: "application/pdf", data: PDF },
    ...(name === undefined ? {} : { title: name }),
  });
  const fileData = `data:application/pdf;base64,${PDF}`;
  fc.assert(
    fc.property(fc.array(turn, { minLength: 1, maxLength: 4 }), (turns) => {
      const names = (body: Encoded["body"]): string[] =>
        [...JSON.stringify(body).matchAll(/"document":\{"format":"pdf","name":"([^"]*)"/g)].map(
          ([, name]) => name ?? "",
        );
      const all = turns.flatMap(({ titles }) => titles);
      const claude = messages({
        tools: [{ name: "weather", input_schema: { type: "object" } }],
        messages: turns.flatMap(({ titles, isResult }, place) => {
          const content = titles.map(anthropicDocument);
          if (!isResult) return [{ role: "user", content }];
          const id = `call_${place}`;
          return [
            { role: "assistant", content: [{ type: "tool_use", id, name: "weather", input: {} }] },
            { role: "user", content: [{ type: "tool_result", tool_use_id: id, content }] },
          ];
        }),
      });
      expect(names(claude.body)).toHaveLength(all.length);
      const fileOf = (filename: string | undefined): object => ({ filename, file_data: fileData });
      const files = (type: string, wrap: (file: object) => object): object[] =>
        turns.map(({ titles }) => ({ role: "user", content: titles.map((name) => ({ type, ...wrap(fileOf(name)) })) }));
      const told = [chat({ messages: files("file", (file) => ({ file })) })];
      told.push(encoded(openAiResponses, { messages: undefined, input: files("input_file", (file) => file) }, SONNET));
      for (const { body } of told) expect(names(body)).toHaveLength(all.length);
    }),
    { numRuns: bySweep({ short: 40, long: 150, all: 150 }) },
  );
});

describe("from chat", () => {
  test.each([
    { name: "the least", fields: {}, want: { messages: [{ role: "user", content: [{ text: "hi" }] }] } },
    {
      name: "instructions",
      fields: {
        messages: [
          { role: "developer", content: "Be brief." },
          { role: "user", content: "hi" },
        ],
      },
      want: { system: [{ text: "Be brief." }] },
    },
    {
      name: "limits and sampling",
      fields: { max_tokens: 5, temperature: 1.7, stop: ["END", " "] },
      want: { inferenceConfig: { temperature: 1, stopSequences: ["END"] } },
      dropped: ["stop"],
    },
    {
      name: "a choice that is open",
      fields: { tools: [TOOL], tool_choice: "auto" },
      want: { toolConfig: { tools: [SPEC], toolChoice: { auto: {} } } },
    },
    {
      name: "a call of any tool",
      fields: { tools: [TOOL], tool_choice: "required" },
      want: { toolConfig: { toolChoice: { any: {} } } },
    },
    {
      name: "a call of one tool",
      fields: { tools: [TOOL], tool_choice: { type: "function", function: { name: "weather" } } },
      want: { toolConfig: { toolChoice: { tool: { name: "weather" } } } },
    },
    {
      name: "no call, and none before",
      fields: { tools: [TOOL], tool_choice: "none" },
      want: { toolConfig: undefined },
    },
    {
      name: "no call, and one before",
      fields: { messages: CALLED, tools: [TOOL], tool_choice: "none" },
      want: { toolConfig: { tools: [SPEC] }, system: [{ text: "Do not call any tool." }] },
    },
    {
      name: "calls whose tools are gone",
      fields: { messages: CALLED },
      want: { toolConfig: { tools: [SPEC] }, system: [{ text: "Do not call any tool." }] },
    },
    {
      name: "an id that is illegal, the same in call and result",
      fields: JSON.parse(JSON.stringify({ messages: CALLED, tools: [TOOL] }).replaceAll('"c"', '"call:1"')) as object,
      want: {
        messages: [{}, { content: [{ toolUse: { toolUseId: expect.stringMatching(/^tooluse_[0-9a-f]{24}$/) } }] }, {}],
      },
    },
    { name: "a tier", fields: { service_tier: "flex" }, want: { serviceTier: { type: "flex" } } },
    {
      name: "what has no place",
      fields: { seed: 7, user: "u", logit_bias: { "5": 1 }, parallel_tool_calls: false, tools: [TOOL] },
      want: {},
      dropped: ["logit_bias", "parallel_tool_calls", "seed", "user"],
    },
    {
      name: "an effort, for a model with a budget",
      fields: { reasoning_effort: "low", max_tokens: 4_000, temperature: 0.5 },
      want: { additionalModelRequestFields: { thinking: { type: "enabled", budget_tokens: 1_024 } } },
      dropped: ["temperature"],
    },
    {
      name: "an effort, for a model that thinks by itself",
      model: NEWEST,
      fields: { reasoning_effort: "low" },
      want: { additionalModelRequestFields: { thinking: { type: "adaptive" } }, outputConfig: { effort: "low" } },
    },
    {
      name: "an effort, for a model that nobody knows",
      model: NOVA,
      fields: { reasoning_effort: "low", temperature: 0.5 },
      want: { inferenceConfig: { temperature: 0.5 }, additionalModelRequestFields: undefined },
      dropped: ["reasoning_effort"],
    },
    {
      name: "any JSON",
      fields: { response_format: { type: "json_object" } },
      want: { system: [{ text: expect.stringContaining("JSON") }] },
    },
    {
      name: "a call that must come, from a model that cannot be made to",
      model: NEWEST,
      fields: { tools: [TOOL], tool_choice: "required" },
      want: {
        toolConfig: { toolChoice: { auto: {} } },
        system: [{ text: expect.stringContaining("must answer by calling") }],
      },
      dropped: ["tool_choice"],
    },
  ])("$name", ({ fields, want, dropped = [], model }) => {
    const made = chat(fields, model);
    for (const [key, value] of Object.entries(want)) {
      if (value === undefined) expect(made.body).not.toHaveProperty(key);
      else expect(made.body[key]).toMatchObject(value);
    }
    expect([...made.dropped].toSorted()).toEqual(dropped);
  });

  test.each([
    { name: "several answers", fields: { n: 2 }, param: "n" },
    { name: "probabilities", fields: { logprobs: true }, param: "logprobs" },
    {
      name: "sound",
      fields: {
        messages: [{ role: "user", content: [{ type: "input_audio", input_audio: { data: "aGk=", format: "wav" } }] }],
      },
      param: "messages[0].content[0]",
    },
    {
      name: "a picture of another kind",
      fields: {
        messages: [
          { role: "user", content: [{ type: "image_url", image_url: { url: "data:image/bmp;base64,aGk=" } }] },
        ],
      },
      param: "messages[0].content[0]",
    },
  ])("$name is refused by its parameter", ({ fields, param }) => {
    let refusal: unknown;
    try {
      chat(fields);
    } catch (error) {
      refusal = error;
    }
    expect(refusal).toBeInstanceOf(GatewayError);
    expect(refusal).toMatchObject({ reason: "ERROR_REASON_PARAMETER_UNSUPPORTED", metadata: { param } });
  });
});

describe("from Anthropic's wire", () => {
  const marked = { type: "text", text: "Long.", cache_control: { type: "ephemeral", ttl: "1h" } };

  test("marks of the cache stand behind what they are for, in all three places", () => {
    const { body, dropped } = messages({
      system: [marked],
      messages: [{ role: "user", content: [{ ...marked, cache_control: { type: "ephemeral" } }] }],
      tools: [{ name: "weather", input_schema: { type: "object" }, cache_control: { type: "ephemeral", ttl: "5m" } }],
    });
    const point = (ttl?: string): object => ({
      cachePoint: { type: "default", ...(ttl === undefined ? {} : { ttl }) },
    });
    expect(body["system"]).toEqual([{ text: "Long." }, point("1h")]);
    expect(body["messages"]).toEqual([{ role: "user", content: [{ text: "Long." }, point()] }]);
    expect(body["toolConfig"]).toMatchObject({ tools: [{ toolSpec: { name: "weather" } }, point("5m")] });
    expect(dropped).toEqual([]);
  });

  test("they are left out by name for a model that is not known to have any", () => {
    const { body, dropped } = messages({ system: [marked] }, NOVA);
    expect(body["system"]).toEqual([{ text: "Long." }]);
    expect(dropped).toEqual(["cache_control"]);
  });

  test("thoughts go back with Anthropic's proof, and none of another's", () => {
    const thinking = (signature: string): object => ({ type: "thinking", thinking: "Hm.", signature });
    const said = (signature: string): unknown =>
      messages({
        messages: [
          { role: "user", content: "hi" },
          { role: "assistant", content: [thinking(signature), { type: "text", text: "Yes." }] },
          { role: "user", content: "go on" },
        ],
      }).body["messages"];
    expect(said("c2ln")).toMatchObject([
      {},
      { content: [{ reasoningContent: { reasoningText: { text: "Hm.", signature: "c2ln" } } }, { text: "Yes." }] },
      {},
    ]);
    expect(said("tollgate.thought")).toMatchObject([{}, { content: [{ text: "Yes." }] }, {}]);
  });
});
