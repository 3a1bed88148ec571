/** Conversations in every order that a client may tell them, as each upstream of another wire takes them. */
import { fc } from "../support/seeds.js";
import { expect, test } from "vitest";
import { tabledFacts } from "../../src/models/facts.js";
import { mistral } from "../../src/families/mistral.js";
import { wire as anthropic } from "../../src/wire/anthropic/index.js";
import { createWire as createConverse } from "../../src/wire/bedrock-converse/index.js";
import { wire as gemini } from "../../src/wire/gemini/index.js";
import { openAiChatDialect } from "../../src/wire/openai-chat/facts-dialect.js";
import { wire as chat } from "../../src/wire/openai-chat/index.js";
import { wire as responses } from "../../src/wire/openai-responses/index.js";
import type { UpstreamWire, Wire } from "../../src/wire/wire.js";
import { anthropicProblem } from "../support/anthropic-rules.js";
import { converseProblem } from "../support/converse-rules.js";
import { geminiProblem } from "../support/gemini-rules.js";
import { mistralProblem } from "../support/mistral-rules.js";
import { openAiProblem } from "../support/openai-rules.js";
import { responsesProblem } from "../support/responses-rules.js";
import { bySweep } from "../support/sweep.js";

type Json = Readonly<Record<string, unknown>>;

/** What somebody says: words, a call of a tool, or what a call returned. */
type Saying =
  | { readonly kind: "text"; readonly by: Speaker }
  | { readonly kind: "call" | "result"; readonly id: string };

/** `system` stands for instructions amid the conversation, which a client of Google's has no word for. */
type Speaker = "user" | "assistant" | "system";

const TOOL_SCHEMA = { type: "object", properties: {} };

interface Client {
  readonly wire: Wire;
  body(sayings: readonly Saying[]): Json;
}

const bySpeaker = ({ kind, ...saying }: Saying): string =>
  kind === "text" && "by" in saying ? saying.by : kind === "call" ? "assistant" : "user";

/** A message for each saying: neighbours of one speaker stay apart, as careless clients leave them. */
const CLIENTS: readonly Client[] = [
  {
    wire: anthropic,
    body: (sayings) => ({
      model: "m",
      max_tokens: 100,
      system: "Be brief.",
      tools: [{ name: "f", input_schema: TOOL_SCHEMA }],
      messages: sayings.map((saying) => ({ role: bySpeaker(saying), content: [anthropicBlock(saying)] })),
    }),
  },
  {
    wire: chat,
    body: (sayings) => ({
      model: "m",
      tools: [{ type: "function", function: { name: "f", parameters: TOOL_SCHEMA } }],
      messages: [{ role: "system", content: "Be brief." }, ...sayings.map(chatMessage)],
    }),
  },
  {
    wire: responses,
    body: (sayings) => ({
      model: "m",
      instructions: "Be brief.",
      tools: [{ type: "function", name: "f", parameters: TOOL_SCHEMA }],
      input: sayings.map(responsesItem),
    }),
  },
  {
    wire: gemini,
    body: (sayings) => ({
      systemInstruction: { parts: [{ text: "Be brief." }] },
      tools: [{ functionDeclarations: [{ name: "f" }] }],
      contents: sayings.map((saying) => ({
        role: bySpeaker(saying) === "assistant" ? "model" : "user",
        parts: [geminiPart(saying)],
      })),
    }),
  },
];

function anthropicBlock(saying: Saying): Json {
  if (saying.kind === "text") return { type: "text", text: "words" };
  if (saying.kind === "call") return { type: "tool_use", id: saying.id, name: "f", input: {} };
  return { type: "tool_result", tool_use_id: saying.id, content: "done" };
}

function chatMessage(saying: Saying): Json {
  if (saying.kind === "text") return { role: saying.by, content: "words" };
  if (saying.kind === "result") return { role: "tool", tool_call_id: saying.id, content: "done" };
  const call = { id: saying.id, type: "function", function: { name: "f", arguments: "{}" } };
  return { role: "assistant", content: null, tool_calls: [call] };
}

function responsesItem(saying: Saying): Json {
  if (saying.kind === "text") return { role: saying.by, content: "words" };
  if (saying.kind === "result") return { type: "function_call_output", call_id: saying.id, output: "done" };
  return { type: "function_call", call_id: saying.id, name: "f", arguments: "{}" };
}

function geminiPart(saying: Saying): Json {
  if (saying.kind === "text") return { text: "words" };
  if (saying.kind === "call") return { functionCall: { id: saying.id, name: "f", args: {} } };
  return { functionResponse: { id: saying.id, name: "f", response: { output: "done" } } };
}

interface Target {
  /** Left out where it is the wire's. */
  readonly name?: string;
  readonly wire: UpstreamWire;
  readonly model: string;
  readonly dialect: object;
  problem(body: Json): unknown;
}

const VERSION = { "anthropic-version": "2023-06-01" };
const TARGETS: readonly Target[] = [
  { wire: anthropic, model: "claude-opus-5", dialect: {}, problem: (body) => anthropicProblem("", VERSION, body) },
  {
    wire: createConverse(() => "id"),
    model: "anthropic.claude-sonnet-4-5",
    dialect: {},
    problem: (body) => converseProblem(body),
  },
  { wire: gemini, model: "gemini-3-flash", dialect: {}, problem: (body) => geminiProblem("gemini-3-flash", body) },
  {
    wire: chat,
    model: "gpt-4.1",
    dialect: openAiChatDialect,
    problem: (body) => openAiProblem(body, { isOpenAi: true, needsThinking: "" }),
  },
  { wire: responses, model: "gpt-5.1", dialect: {}, problem: responsesProblem },
];
const MISTRAL: Target = {
  name: "mistral",
  wire: chat,
  model: "mistral-large-latest",
  dialect: mistral.dialect,
  problem: mistralProblem,
};

const pairOf = (client: Client, target: Target) => ({
  client,
  target,
  from: client.wire.name,
  to: target.name ?? target.wire.name,
});
const PAIRS = CLIENTS.flatMap((client) =>
  [...TARGETS, MISTRAL].filter(({ wire }) => wire.name !== client.wire.name).map((target) => pairOf(client, target)),
);

const HEADERS = { "x-tollgate-path-model": "m", ...VERSION };

function sent({ wire, body }: Client, target: Target, sayings: readonly Saying[]): Json {
  const request = wire.readRequest({
    wire: wire.name,
    body: Buffer.from(JSON.stringify(body(sayings))),
    headers: HEADERS,
  });
  const { model } = target;
  const owned = { model, facts: tabledFacts(model), outputTokensMax: 900, stream: false, candidateCount: 1 };
  return JSON.parse(target.wire.encodeRequest(request, owned, { ...target.dialect }, []).toString());
}

const id = fc.constantFrom("call_a", "call_b", "call_c");
const saying: fc.Arbitrary<Saying> = fc.oneof(
  fc.record({ kind: fc.constant("text" as const), by: fc.constantFrom<Speaker>("user", "assistant", "system") }),
  fc.record({ kind: fc.constant("call" as const), id }),
  fc.record({ kind: fc.constant("result" as const), id }),
);

/** How often something stands in what is sent. */
const count = (body: Json, word: string): number => JSON.stringify(body).split(word).length - 1;

test.each(PAIRS)("whatever order $from tells it in, $to takes it, and nothing said is lost", ({ client, target }) => {
  fc.assert(
    fc.property(fc.array(saying, { minLength: 1, maxLength: 8 }), (sayings) => {
      const body = sent(client, target, [...sayings, { kind: "text", by: "user" }]);
      expect(target.problem(body)).toBeUndefined();
      expect(count(body, "words")).toBe(sayings.filter(({ kind }) => kind === "text").length + 1);
      // Google's own names results by their tools, so one of an unknown call may be told otherwise.
      if (client.wire !== gemini)
        expect(count(body, "done")).toBe(sayings.filter(({ kind }) => kind === "result").length);
    }),
    { numRuns: bySweep({ short: 60, long: 150, all: 150 }) },
  );
});

/** What a careful client tells: each call has its result right behind it. Anything may be said between such steps. */
const careful: fc.Arbitrary<readonly Saying[]> = fc
  .array(
    fc.oneof(
      saying.filter(({ kind }) => kind === "text").map((said) => [said]),
      id.map((called): Saying[] => [
        { kind: "call", id: called },
        { kind: "result", id: called },
      ]),
    ),
    { minLength: 1, maxLength: 6 },
  )
  .map((steps) => steps.flat());

test.each(CLIENTS.map((client) => pairOf(client, MISTRAL)))(
  "who may speak after whom: $from to $to, whoever speaks last",
  ({ client, target }) => {
    fc.assert(
      fc.property(careful, (sayings) => {
        const body = sent(client, target, sayings);
        expect(target.problem(body)).toBeUndefined();
        const texts = sayings.filter(({ kind }) => kind === "text");
        expect(count(body, "words")).toBe(texts.length);
      }),
      { numRuns: bySweep({ short: 60, long: 150, all: 150 }) },
    );
  },
);

test.each(PAIRS)(
  "two turns with calls, one after the other, and then both results: $from to $to",
  ({ client, target }) => {
    const body = sent(client, target, [
      { kind: "text", by: "user" },
      { kind: "call", id: "call_a" },
      { kind: "call", id: "call_b" },
      { kind: "result", id: "call_b" },
      { kind: "result", id: "call_a" },
    ]);
    expect(target.problem(body)).toBeUndefined();
    expect(JSON.stringify(body)).not.toContain("No result came.");
  },
);

test.each(PAIRS)("instructions alone: $from to $to", ({ client, target }) => {
  if (client.wire === gemini || client.wire === anthropic || client.wire === responses) return;
  expect(target.problem(sent(client, target, []))).toBeUndefined();
});
