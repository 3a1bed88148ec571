/** Requests of every client's wire and answers of every upstream's, before they are spelled anew. */
import { readFileSync } from "node:fs";
import { fc } from "../support/seeds.js";
import { foldEvents } from "../../src/api/answer-fold.js";
import type { Answer, Prompt } from "../../src/api/index.js";
import { families } from "../../src/families/index.js";
import type { Endpoint } from "../../src/families/family.js";
import { wire as anthropic } from "../../src/wire/anthropic/index.js";
import { wire as gemini } from "../../src/wire/gemini/index.js";
import { wire as chat } from "../../src/wire/openai-chat/index.js";
import { wire as responses } from "../../src/wire/openai-responses/index.js";
import type { RequestFacts, Wire } from "../../src/wire/wire.js";
import { recordedWires } from "../conformance/recorded.js";
import * as anthropics from "../wire/anthropic/bodies.js";
import * as geminis from "../wire/gemini/bodies.js";
import * as chats from "../wire/openai-chat/bodies.js";
import * as responseBodies from "../wire/openai-responses/bodies.js";
import { stepsOf } from "../wire/openai-responses/steps.js";

export const FACTS: RequestFacts = { ...chats.FACTS, includeUsage: true };

/** A request as a client of the wire writes it. */
export interface AskedBody {
  readonly wire: Wire;
  readonly body: string;
}

/** An answer as an upstream of the wire writes it. */
export interface ToldAnswer {
  readonly wire: Wire;
  readonly stream: string | undefined;
  readonly whole: string | undefined;
}

const SAMPLES = 60;
const sampled = <Value>(arbitrary: fc.Arbitrary<Value>): Value[] => fc.sample(arbitrary, { seed: 1, numRuns: SAMPLES });

function written(wire: Wire, prompt: Prompt, model: string): AskedBody[] {
  const owned = { model, outputTokensMax: 900, stream: true, candidateCount: 1 };
  const typed = { facts: { ...FACTS, model }, source: undefined, prompt: () => prompt };
  return [{ wire, body: wire.encodeRequest(typed, owned, {}).toString() }];
}

function golden(wire: Wire): AskedBody {
  const file = new URL(`../../src/wire/${wire.name}/testdata/full.request.json`, import.meta.url);
  return { wire, body: readFileSync(file, "utf8") };
}

/** What a client's own indented request repeats in a response, and what pretty printers make of tools. */
const indented: AskedBody = {
  wire: responses,
  body: JSON.stringify(
    {
      model: "m",
      stream: true,
      input: [{ role: "user", content: [{ type: "input_text", text: "line\u2028break" }] }],
      metadata: { team: "a\u2029b", "key/1": "é" },
      text: { format: { type: "json_schema", name: "n", schema: { type: "object", properties: {} } } },
      tools: [{ type: "function", name: "get", parameters: { type: "object", properties: { a: { type: "string" } } } }],
    },
    undefined,
    4,
  ),
};

export const requests: readonly AskedBody[] = [
  indented,
  ...[chat, anthropic, gemini].map(golden),
  // Numbers that no double holds are not spelled anew.
  ...sampled(chats.prompt).flatMap((prompt) => written(chat, { ...prompt, seed: undefined }, "m")),
  ...sampled(anthropics.asked).flatMap(({ prompt, model }) => written(anthropic, prompt, model)),
  ...sampled(responseBodies.prompt).flatMap((prompt) => written(responses, prompt, "gpt-5.2")),
  ...sampled(geminis.prompt).flatMap((prompt) => written(gemini, prompt, "m")),
];

const PRETTY = '{\n  "city": "Paris\u2028",\r\n\t"days": [ 1,\n 2 ]\n}';

/** The answer with arguments as a model prints them prettily. */
function prettyPrinted(answer: Answer): Answer {
  const made = structuredClone(answer);
  for (const { message } of made.candidates)
    for (const { kind } of message?.parts ?? [])
      if (kind?.$case === "toolCall" && !kind.value.custom) kind.value.arguments = PRETTY;
  return made;
}

function steered(wire: Wire, answer: Answer): ToldAnswer {
  const steps = stepsOf(answer);
  const bytes = wire.encodeStream(FACTS).push(steps);
  return { wire, stream: bytes.toString(), whole: wire.encodeAnswer(foldEvents(steps)).toString() };
}

const made = [anthropics.answer, responseBodies.answer].flatMap(sampled);
const wires = [chat, anthropic, responses, gemini];

export const answers: readonly ToldAnswer[] = [
  ...wires.flatMap((wire) => made.map((answer, place) => steered(wire, place % 2 ? answer : prettyPrinted(answer)))),
  ...recordedWires.flatMap(({ wire, streams }) =>
    streams.map(({ body }) => ({ wire, stream: body, whole: undefined })),
  ),
  ...recordedWires.flatMap(({ wire, answers: all }) =>
    all.map(({ body }) => ({ wire, stream: undefined, whole: body })),
  ),
];

/** Every way in which a family is spoken to, but for the one that takes requests of its own wire alone. */
export const endpoints: readonly { readonly family: string; readonly endpoint: Endpoint }[] = families.flatMap(
  (family) =>
    [family, ...(family.alsoSpeaks ?? [])]
      .filter(({ wire }) => wire.name !== "openai-compaction")
      .map((endpoint) => ({ family: family.name, endpoint })),
);
