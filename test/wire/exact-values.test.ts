/** Values that are told as text here and as structure there: nothing in them becomes another on the way. */
import { fc } from "../support/seeds.js";
import { describe, expect, test } from "vitest";
import { foldEvents } from "../../src/api/answer-fold.js";
import type { Event } from "../../src/api/index.js";
import { wire as anthropic } from "../../src/wire/anthropic/index.js";
import { createWire as createConverse } from "../../src/wire/bedrock-converse/index.js";
import { wire as gemini } from "../../src/wire/gemini/index.js";
import { wire as chat } from "../../src/wire/openai-chat/index.js";
import { wire as responses } from "../../src/wire/openai-responses/index.js";
import type { AnswerForm, UpstreamWire, Wire } from "../../src/wire/wire.js";
import { frameOf } from "../support/fake-bedrock.js";
import { bySweep } from "../support/sweep.js";

type Json = Readonly<Record<string, unknown>>;

const TOOL_SCHEMA = { type: "object", properties: {} };

/** A conversation with one call and its result, as a client of each wire tells it. */
const CLIENTS: readonly { readonly wire: Wire; body(args: string, result: string): Json }[] = [
  {
    wire: anthropic,
    body: (args, result) => ({
      model: "m",
      max_tokens: 9,
      tools: [{ name: "f", input_schema: TOOL_SCHEMA }],
      messages: [
        { role: "user", content: "go" },
        { role: "assistant", content: [{ type: "tool_use", id: "c", name: "f", input: JSON.parse(args) as unknown }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "c", content: result }] },
      ],
    }),
  },
  {
    wire: chat,
    body: (args, content) => ({
      model: "m",
      tools: [{ type: "function", function: { name: "f", parameters: TOOL_SCHEMA } }],
      messages: [
        { role: "user", content: "go" },
        { role: "assistant", tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: args } }] },
        { role: "tool", tool_call_id: "c", content },
      ],
    }),
  },
  {
    wire: responses,
    body: (args, output) => ({
      model: "m",
      tools: [{ type: "function", name: "f", parameters: TOOL_SCHEMA }],
      input: [
        { role: "user", content: "go" },
        { type: "function_call", call_id: "c", name: "f", arguments: args },
        { type: "function_call_output", call_id: "c", output },
      ],
    }),
  },
];

function sent(client: (typeof CLIENTS)[number], to: UpstreamWire, args: string, result: string): string {
  const source = { wire: client.wire.name, body: Buffer.from(JSON.stringify(client.body(args, result))), headers: {} };
  const owned = { model: "m", facts: {}, outputTokensMax: 9, stream: false, candidateCount: 1 };
  return to.encodeRequest(client.wire.readRequest(source), owned, {}, []).toString();
}

/** Numbers as they stand in JSON, of which not all are doubles. */
const number = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
  fc.constantFrom(
    "1234567890123456789",
    "-9007199254740993",
    "1.0",
    "1e400",
    "-1E-400",
    "0.1000000000000000055",
    "0e9",
  ),
);
const key = fc.constantFrom("a", "b", "$ref", "$schema", "output", "error", "__proto__", "2", "1");

/** JSON as somebody wrote it: with equal keys, spaces, and numbers of any length. */
const { written } = fc.letrec<{ written: string; object: string }>((tie) => ({
  object: fc
    .array(fc.tuple(key, tie("written")), { maxLength: 4 })
    .map((members) => `{${members.map(([name, value]) => `"${name}": ${value}`).join(", ")}}`),
  written: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    number,
    fc.constantFrom('"#/$defs/a"', '"x"', "true", "null", '"{}"'),
    fc.array(tie("written"), { maxLength: 3 }).map((items) => `[${items.join(",")}]`),
    tie("object"),
  ),
}));

/** What Google reads in a response, and what it refuses: doubles, one member of a name, and references to parts. */
function readByGoogle(response: Json): { readonly text?: string; readonly value?: unknown } {
  const own = Object.keys(response).filter((name) => name === "output" || name === "error");
  if (own.length === 0) return { value: response };
  expect(Object.keys(response)).toEqual(["output"]);
  return { text: String(response["output"]) };
}

function holdsReference(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return "$ref" in value || Object.values(value).some(holdsReference);
}

/** What a reader that loses nothing reads: numbers by their value, and each member, in its order within its name. */
function allOf(text: string): string[] {
  const tokens = text.match(/"(?:[^"\\]|\\.)*"\s*:?|-?\d[^,\]}\s]*|true|false|null/g) ?? [];
  return tokens.map((token) => (/^-?\d/.test(token) ? exactly(token) : token.replace(/\s+/, ""))).sort();
}

/** A decimal number in one spelling. */
function exactly(number: string): string {
  const [, sign, whole = "", fraction = "", exponent = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([-+]?\d+))?$/.exec(number) ?? [];
  const digits = (whole + fraction).replace(/^0+/, "");
  const trimmed = digits.replace(/0+$/, "");
  if (trimmed === "") return "0";
  return `${sign}${trimmed}e${Number(exponent) - fraction.length + digits.length - trimmed.length}`;
}

test.each(CLIENTS)("Google reads all of what a tool returned, and refuses none of it: from $wire.name", (client) => {
  fc.assert(
    fc.property(written, (result) => {
      const body = JSON.parse(sent(client, gemini, "{}", result)) as { readonly contents: readonly Json[] };
      const raw = sent(client, gemini, "{}", result);
      const response = responseIn(body.contents);
      const { text, value } = readByGoogle(response);
      if (text !== undefined) expect(text).toBe(result);
      else {
        expect(holdsReference(value)).toBe(false);
        // Whatever a double or a map loses of the text would be lost to the model.
        expect(allOf(JSON.stringify(value))).toEqual(allOf(result));
        expect(raw).toContain(result);
      }
    }),
    { numRuns: bySweep({ short: 150, long: 1_000, all: 1_000 }) },
  );
});

function responseIn(contents: readonly Json[]): Json {
  const parts = contents.flatMap(({ parts: told }) => told as Json[]);
  const answered = parts.find((part) => "functionResponse" in part)?.["functionResponse"] as { response: Json };
  return answered.response;
}

describe("arguments", () => {
  const TARGETS: readonly UpstreamWire[] = [anthropic, createConverse(() => "id"), gemini];
  const TEXTS = CLIENTS.filter(({ wire }) => wire !== anthropic);
  const nothing = ["", " ", "null", " null\n", "{}"];

  test.each(TEXTS.flatMap((client) => TARGETS.map((to) => ({ client, to }))))(
    "that say nothing are an empty object: $client.wire.name to $to.name",
    ({ client, to }) => {
      for (const text of nothing) expect(sent(client, to, text, "x")).toMatch(/"(input|args)":\{\}/);
    },
  );

  test.each([anthropic, gemini])("that say nothing are an empty object in an answer to $name", (client) => {
    for (const text of nothing) {
      const value = { candidate: 0, index: 0, id: "c", name: "f", custom: false, signature: undefined };
      const events: Event[] = [
        { kind: { $case: "toolCallStart", value } },
        { kind: { $case: "toolCallDelta", value: { candidate: 0, index: 0, arguments: text } } },
      ];
      expect(client.encodeAnswer(foldEvents(events)).toString()).toMatch(/"(input|args)":\{\}/);
    }
  });
});

const ARGS = '{"id":1234567890123456789,"f":1.0,"e":1e400,"2":[0.10],"1":{"a":-0}}';
const HEAD = '"id":"x","created":1,"model":"m"';
const CALL = (args: string): string => `{"id":"c","type":"function","function":{"name":"f","arguments":${args}}}`;
const GEMINI = (call: string): string =>
  `{"candidates":[{"content":{"role":"model","parts":[{"functionCall":${call}}]},"finishReason":"STOP","index":0}]}`;
const GEMINI_CALL = `{"name":"f","args":${ARGS}}`;
const BLOCK = `{"type":"tool_use","id":"c","name":"f","input":${ARGS}}`;
const CLAUDE = `{"id":"m","role":"assistant","model":"m","content":[${BLOCK}],"stop_reason":"tool_use"}`;
const MESSAGE = `{"role":"assistant","tool_calls":[${CALL(ARGS)}]}`;
const TOOL_USE = `{"toolUse":{"toolUseId":"c","name":"f","input":${ARGS}}}`;
const data = (json: string): Buffer => Buffer.from(`data: ${json}\n\n`);
const piece = (path: string, value: string): string =>
  GEMINI(`{"partialArgs":[{"jsonPath":"$.${path}",${value}}],"willContinue":true}`).replace(
    '"finishReason":"STOP",',
    "",
  );

/** Answers of one call, by how they come; `want` are the arguments where they are not all of `ARGS`. */
const ANSWERS: readonly {
  readonly name: string;
  readonly wire: UpstreamWire;
  readonly whole?: string;
  readonly stream?: readonly Buffer[];
  readonly want?: string;
}[] = [
  { name: "Gemini, whole", wire: gemini, whole: GEMINI(GEMINI_CALL) },
  { name: "Gemini, a list", wire: gemini, whole: `[\n${GEMINI(GEMINI_CALL)}\n]` },
  { name: "Gemini, streamed", wire: gemini, stream: [data(GEMINI(GEMINI_CALL))] },
  { name: "Gemini, whole where a stream was asked", wire: gemini, stream: [Buffer.from(`[${GEMINI(GEMINI_CALL)}]`)] },
  {
    name: "Gemini, in pieces",
    wire: gemini,
    stream: [
      data(GEMINI('{"name":"f","willContinue":true}').replace('"finishReason":"STOP",', "")),
      data(piece("id", '"numberValue":1234567890123456789')),
      data(piece("e", '"numberValue":1e400')),
      data(GEMINI("{}")),
    ],
    want: '{"id":1234567890123456789,"e":1e400}',
  },
  {
    name: "chat with an object, whole",
    wire: chat,
    whole: `{${HEAD},"choices":[{"index":0,"message":${MESSAGE},"finish_reason":"tool_calls"}]}`,
  },
  {
    name: "chat with an object, streamed",
    wire: chat,
    stream: [
      data(`{${HEAD},"choices":[{"index":0,"delta":{"tool_calls":[${CALL(ARGS)}]},"finish_reason":null}]}`),
      data(`{${HEAD},"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`),
    ],
  },
  { name: "Claude, whole", wire: anthropic, whole: CLAUDE },
  {
    name: "Converse, whole",
    wire: createConverse(() => "id"),
    whole: `{"output":{"message":{"role":"assistant","content":[${TOOL_USE}]}},"stopReason":"tool_use"}`,
  },
  {
    name: "Converse, streamed",
    wire: createConverse(() => "id"),
    stream: [
      frameOf("contentBlockStart", { contentBlockIndex: 0, start: { toolUse: { toolUseId: "c", name: "f" } } }),
      frameOf("contentBlockDelta", { contentBlockIndex: 0, delta: { toolUse: { input: ARGS } } }),
      frameOf("contentBlockStop", { contentBlockIndex: 0 }),
      frameOf("messageStop", { stopReason: "tool_use" }),
    ],
  },
];

const FACTS = chat.readRequest({
  wire: chat.name,
  body: Buffer.from('{"model":"m","stream":true,"messages":[{"role":"user","content":"go"}]}'),
  headers: {},
}).facts;

function eventsOf({ wire, whole, stream = [] }: (typeof ANSWERS)[number]): Event[] {
  if (whole !== undefined) return wire.decodeAnswer(Buffer.from(whole)).events();
  const decoder = wire.decodeStream(FACTS, "events");
  return [...stream.map((chunk) => decoder.push(chunk)), decoder.end()].flatMap(({ events, error }) => {
    expect(error).toBeUndefined();
    return events;
  });
}

test.each(ANSWERS)("the arguments of an answer are as they came: $name", (answer) => {
  const { want = ARGS } = answer;
  const events = eventsOf(answer);
  const told = events.flatMap(({ kind }) => (kind?.$case === "toolCallDelta" ? [kind.value.arguments] : []));
  expect(told.join("")).toBe(want);
  for (const client of [anthropic, gemini]) expect(client.encodeAnswer(foldEvents(events)).toString()).toContain(want);
  for (const client of [chat, responses])
    expect(client.encodeAnswer(foldEvents(events)).toString()).toContain(JSON.stringify(want));
});

test.each(ANSWERS.filter(({ wire }) => wire === chat))(
  "and where they are fitted for a chat client: $name",
  (answer) => {
    const form: AnswerForm = "fitted";
    const decoder = chat.decodeStream(FACTS, form);
    const told =
      answer.whole === undefined
        ? Buffer.concat([...(answer.stream ?? []).map((chunk) => decoder.push(chunk).source), decoder.end().source])
        : chat.decodeAnswer(Buffer.from(answer.whole), undefined, form).source;
    expect(told?.toString()).toContain(JSON.stringify(ARGS));
  },
);
