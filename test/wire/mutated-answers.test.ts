/**
 * Answers of every wire with some of their members replaced, repeated or moved as no honest upstream does: each is
 * read to an end, told in every client's format, and charged no more than its plan. Nothing throws but a refusal.
 */
import { fc } from "../support/seeds.js";
import { describe, expect, test } from "vitest";
import { StreamGenerateResponse, UsageSource } from "../../src/api/index.js";
import { AnswerFold } from "../../src/api/answer-fold.js";
import { GatewayError } from "../../src/base/errors.js";
import { chargeOf, type Ending } from "../../src/gateway/charge.js";
import { generatedTokens, readTokens } from "../../src/api/usage.js";
import { wire as openAiChat } from "../../src/wire/openai-chat/index.js";
import type { AnswerForm, AnswerReport, Batch, ClientWire, UpstreamWire } from "../../src/wire/wire.js";
import { frameOf } from "../support/fake-bedrock.js";
import { WIRE_ANSWERS } from "../support/wire-answers.js";
import { CLIENT_WIRES, WIRES } from "../gateway/wires.js";
import { answersOf, SHAPES } from "../gateway/random-answers.js";
import { FREE } from "../pricing/prices.js";
import { bySweep } from "../support/sweep.js";

type Wire = Pick<UpstreamWire, "name" | "decodeStream" | "decodeAnswer">;
const UPSTREAMS: readonly Wire[] = Object.values(WIRES);
const CLIENTS: readonly ClientWire[] = Object.values(CLIENT_WIRES);

const request = openAiChat.readRequest({
  wire: "openai-chat",
  body: Buffer.from('{"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]}'),
  headers: {},
});
const OUTPUT_TOKENS_MAX = 50;
const INPUT_TOKENS_MAX = 200;

/** What stands where something else should. */
const HOSTILE: readonly unknown[] = [
  null,
  true,
  "",
  "17",
  "\ud800",
  "a\u2028b\r\n\r\ndata: x\n\n",
  "x".repeat(5_000),
  -1,
  0,
  0.5,
  1e9,
  1e15,
  1e308,
  -1e308,
  Number.MAX_SAFE_INTEGER + 1,
  [],
  [null],
  [[[]]],
  [{}],
  {},
  { type: "text", text: "more" },
  { __proto__: null, constructor: 1, toString: "x", length: 1e9 },
  { index: -1, id: 5, type: [], name: {}, text: 7, content: "x", usage: [] },
];

type Path = readonly (string | number)[];

/** Where all values of a document stand. */
function* pathsOf(value: unknown, path: Path = []): Generator<Path> {
  if (typeof value !== "object" || value === null) return;
  for (const [key, member] of Object.entries(value)) {
    const here = [...path, Array.isArray(value) ? Number(key) : key];
    yield here;
    yield* pathsOf(member, here);
  }
}

interface Mutation {
  readonly pick: number;
  readonly with: number;
  readonly how: "replace" | "remove" | "copy";
}
const mutations = fc.array(
  fc.record({
    pick: fc.nat(10_000),
    with: fc.nat(10_000),
    how: fc.constantFrom<Mutation["how"]>("replace", "replace", "replace", "remove", "copy"),
  }),
  { minLength: 1, maxLength: 3 },
);

/** The document with its members changed. It is changed in place. */
function mutate(document: unknown, changes: readonly Mutation[]): unknown {
  for (const { pick, with: chosen, how } of changes) {
    const paths = [...pathsOf(document)];
    const path = paths[pick % Math.max(1, paths.length)];
    if (path === undefined) continue;
    let parent: unknown = document;
    for (const key of path.slice(0, -1)) parent = Reflect.get(Object(parent), key);
    const last = path.at(-1) ?? "";
    const owner = Object(parent) as object;
    if (how === "remove") Reflect.deleteProperty(owner, last);
    else if (how === "copy" && Array.isArray(parent)) parent.push(structuredClone(parent[Number(last)]));
    else Reflect.set(owner, last, structuredClone(HOSTILE[chosen % HOSTILE.length]));
  }
  return document;
}

/** The events of a stream as documents. */
function documentsOf(name: string, stream: Buffer): unknown[] {
  if (name === "bedrock-converse") return [];
  return stream
    .toString()
    .split("\n\n")
    .flatMap((event) => /^data: (\{.*)$/m.exec(event)?.[1] ?? [])
    .map((json): unknown => JSON.parse(json));
}

function bytesOf(name: string, documents: readonly unknown[]): Buffer {
  if (name === "bedrock-converse")
    return Buffer.concat(documents.map((one) => frameOf(...(one as [type: string, body: object]))));
  const events = documents.map((one) => {
    const type: unknown = Object(one)["type"];
    const named = typeof type === "string" ? `event: ${type.replace(/[\r\n]/g, "")}\n` : "";
    return `${named}data: ${JSON.stringify(one)}\n\n`;
  });
  return Buffer.from(`${events.join("")}${name.startsWith("openai-c") ? "data: [DONE]\n\n" : ""}`);
}

/** A stream of Converse's, as its events' names and bodies. */
const CONVERSE: readonly (readonly [string, object])[] = [
  ["messageStart", { role: "assistant" }],
  ["contentBlockStart", { contentBlockIndex: 0, start: { toolUse: { toolUseId: "t", name: "f" } } }],
  ["contentBlockDelta", { contentBlockIndex: 0, delta: { toolUse: { input: '{"a":1}' } } }],
  ["contentBlockStop", { contentBlockIndex: 0 }],
  ["contentBlockDelta", { contentBlockIndex: 1, delta: { text: "Hello" } }],
  ["contentBlockDelta", { contentBlockIndex: 2, delta: { reasoningContent: { text: "Hm" } } }],
  ["messageStop", { stopReason: "end_turn", additionalModelResponseFields: { stop_sequence: "x" } }],
  ["metadata", { usage: { inputTokens: 5, outputTokens: 4, totalTokens: 9 }, serviceTier: { type: "default" } }],
];

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Tells the events in every client's format, streamed and whole, and over gRPC. */
function tellAll(batches: readonly Pick<Batch, "events">[], report: AnswerReport): void {
  const usage = report.usage;
  const finish = { usage, usageSource: UsageSource.USAGE_SOURCE_REPORTED, costNanos: 0n };
  const events = [...batches.flatMap((batch) => batch.events), { kind: { $case: "finish" as const, value: finish } }];
  for (const batch of batches)
    StreamGenerateResponse.encode({ events: batch.events, source: Buffer.alloc(0) }).finish();
  for (const client of CLIENTS) {
    const encoder = client.encodeStream(request.facts, request);
    const told = Buffer.concat([...batches.map((batch) => encoder.push(batch.events)), encoder.push(events.slice(-1))]);
    // Looked at by hand: an expectation for each of so many lines costs more than the telling.
    for (const line of told.toString().split("\n"))
      if (line.startsWith("data: {") && !isJson(line.slice(6))) expect.unreachable(line);
    const fold = new AnswerFold();
    fold.push(events);
    const whole = client.encodeAnswer(fold.answer(), () => request).toString();
    if (!isJson(whole)) expect.unreachable(whole);
  }
}

async function expectCharge(report: AnswerReport): Promise<void> {
  for (const ending of ["finished", "left", "failed"] as readonly Ending[]) {
    const { usage } = await chargeOf(report, ending, {
      request,
      modelId: "gpt-4o",
      contextTokens: 1_000,
      price: FREE,
      accountId: "acme",
      inputTokensMax: INPUT_TOKENS_MAX,
      outputTokensMax: OUTPUT_TOKENS_MAX,
    });
    const [read, generated] = [readTokens(usage), generatedTokens(usage)];
    const isBounded = read <= BigInt(INPUT_TOKENS_MAX) && generated <= BigInt(OUTPUT_TOKENS_MAX);
    if (!isBounded || read < 0n || generated < 0n)
      expect.unreachable(`${ending}: ${read} read, ${generated} generated`);
  }
}

const RUNS = bySweep({ short: 100, long: 1_000, all: 10_000 });
const FORMS: readonly AnswerForm[] = ["events", "source", "fitted"];

describe.each(UPSTREAMS)("answers of $name", (wire) => {
  const answers = answersOf(SHAPES[wire.name as keyof typeof SHAPES]);
  const plain = WIRE_ANSWERS.find(({ name }) => name === wire.name);

  test.each(FORMS)("streamed, with hostile members, read as %s", async (form) => {
    const run = fc.asyncProperty(answers, mutations, fc.boolean(), async ({ stream }, changes, isPlain) => {
      const plainStream = plain === undefined ? Buffer.alloc(0) : Buffer.concat([...plain.stream("Hi."), ...plain.end]);
      const documents: unknown[] =
        wire.name === "bedrock-converse"
          ? (structuredClone(CONVERSE) as unknown[])
          : documentsOf(wire.name, isPlain ? plainStream : (stream ?? plainStream));
      if (wire.name === "bedrock-converse") for (const one of documents) mutate(Object(one)[1], changes.slice(0, 1));
      else mutate(documents, changes);
      const bytes = bytesOf(
        wire.name,
        documents.filter((one) => one !== undefined),
      );
      const decoder = wire.decodeStream(request.facts, form, request);
      const batches = [decoder.push(bytes.subarray(0, 40)), decoder.push(bytes.subarray(40)), decoder.end()];
      for (const { error } of batches) if (error !== undefined) expect(error).toBeInstanceOf(GatewayError);
      if (form === "events") tellAll(batches, decoder.report);
      await expectCharge(decoder.report);
    });
    await fc.assert(run, { numRuns: RUNS });
  });

  test("whole, with hostile members", async () => {
    const run = fc.asyncProperty(answers, mutations, async ({ whole }, changes) => {
      const body = Buffer.from(JSON.stringify(mutate(JSON.parse(whole.toString()), changes)));
      let answer;
      try {
        answer = wire.decodeAnswer(body, request);
      } catch (error) {
        expect(error).toBeInstanceOf(GatewayError);
        return;
      }
      tellAll([{ events: answer.events() }], answer.report);
      await expectCharge(answer.report);
    });
    await fc.assert(run, { numRuns: RUNS });
  });
});
