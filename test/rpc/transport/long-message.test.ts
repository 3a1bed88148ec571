/** Long messages: the same is read of them as of short ones, but what was said stays bytes. */
import { fc } from "../../support/seeds.js";
import { expect, test } from "vitest";
import {
  AccountServiceService,
  EmbedRequest,
  EstimateCostRequest,
  Generation,
  InferenceServiceService,
  KeyServiceService,
  Prompt,
  type RerankRequest,
  Role,
  StreamGenerateRequest,
} from "../../../src/api/index.js";
import { TYPED_FORM, TYPED_TEXTS } from "../../../src/api/typed-form.js";
import { GatewayError } from "../../../src/base/errors.js";
import { decodeRequest } from "../../../src/rpc/transport/long-message.js";

const { streamGenerate, embed, rerank, estimateCost, countTokens } = InferenceServiceService;
const LONG = 100_000;

function generation(input: Generation["input"]): Generation {
  return { model: "fake-1", input, outputTokensMax: 9n, clamp: true };
}

function source(bytes: number): { wire: string; body: Buffer; headers: Record<string, string> } {
  return { wire: "openai-chat", body: Buffer.alloc(bytes, "body "), headers: { "anthropic-beta": "a", other: "b" } };
}

function typed(text: string): Generation {
  const part = { kind: { $case: "text" as const, value: { text, citationsJson: undefined } }, cacheMark: undefined };
  const message = { role: Role.ROLE_USER, parts: [part], name: undefined, extraJson: undefined };
  const prompt = { ...Prompt.decode(new Uint8Array()), messages: [message] };
  return generation({ $case: "prompt", value: prompt });
}

test("a client's own body is the same however long it is, and is not copied", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 3 * LONG }), fc.string(), (bytes, acceptWire) => {
      const asked = { generation: generation({ $case: "source", value: source(bytes) }), acceptWire };
      const message = streamGenerate.requestSerialize(asked);
      const read = decodeRequest(streamGenerate, message) as StreamGenerateRequest;
      // Whole bodies are compared as bytes: to walk them costs a second each.
      expect(streamGenerate.requestSerialize(read).equals(message)).toBe(true);
    }),
    { numRuns: 20 },
  );
  const asked = { generation: generation({ $case: "source", value: source(LONG) }), acceptWire: "" };
  const message = streamGenerate.requestSerialize(asked);
  const read = decodeRequest(streamGenerate, message) as StreamGenerateRequest;
  const input = read.generation?.input;
  expect(input?.$case === "source" && input.value.body.buffer).toBe(message.buffer);
});

test("a long typed prompt stays bytes, from which the same is read", () => {
  const asked = { generation: typed("word ".repeat(LONG)), acceptWire: "openai-chat" };
  const read = decodeRequest(streamGenerate, streamGenerate.requestSerialize(asked)) as StreamGenerateRequest;
  expect(read).toMatchObject({ acceptWire: "openai-chat", generation: { model: "fake-1", clamp: true } });
  const input = read.generation?.input;
  expect(input?.$case === "source" && input.value.wire).toBe(TYPED_FORM);
  const told = input?.$case === "source" ? Buffer.from(input.value.body) : undefined;
  expect(told?.equals(Generation.encode(asked.generation).finish())).toBe(true);
  const counted = decodeRequest(countTokens, countTokens.requestSerialize({ generation: asked.generation }));
  expect(counted).toMatchObject({ generation: { input: { value: { wire: TYPED_FORM } } } });
});

test("a body for vectors is read as a short one is, and long texts stay bytes", () => {
  const asked: EmbedRequest = { model: "e", texts: [], dimensions: 3, source: source(LONG), acceptWire: "w" };
  const again = decodeRequest(embed, embed.requestSerialize(asked)) as EmbedRequest;
  expect(embed.requestSerialize(again).equals(embed.requestSerialize(asked))).toBe(true);
  const texts = Array.from({ length: 500 }, () => "x".repeat(1_000));
  const plain = { ...asked, texts, source: undefined };
  const body = embed.requestSerialize(plain);
  const long = decodeRequest(embed, body) as EmbedRequest;
  expect(long).toMatchObject({ ...asked, source: { wire: TYPED_TEXTS } });
  expect(EmbedRequest.decode(Buffer.from(long.source?.body ?? []))).toEqual(plain);
  // A body stands in for texts.
  const both = decodeRequest(embed, embed.requestSerialize({ ...asked, texts }));
  expect(both).toMatchObject({ texts: [], source: { wire: "openai-chat" } });
  const estimated: EstimateCostRequest = { generation: undefined, embedding: asked };
  const bytes = estimateCost.requestSerialize(estimated);
  const read = decodeRequest(estimateCost, bytes) as EstimateCostRequest;
  expect(estimateCost.requestSerialize(read).equals(bytes)).toBe(true);
});

function field(number: number, bytes: Buffer): Buffer {
  const head = [number * 8 + 2];
  let left = bytes.length;
  for (; left > 127; left = Math.floor(left / 128)) head.push((left % 128) + 128);
  return Buffer.concat([Buffer.from([...head, left]), bytes]);
}

const NOTHING = Buffer.alloc(0);
const many = (piece: Buffer): Buffer => Buffer.alloc(piece.length * LONG, piece);

test.each([
  { name: "fields that nobody knows", method: streamGenerate, bytes: many(field(9, NOTHING)) },
  { name: "names of models", method: streamGenerate, bytes: field(1, many(field(1, Buffer.from("m")))) },
  { name: "generations", method: streamGenerate, bytes: many(field(1, NOTHING)) },
  { name: "prompts", method: streamGenerate, bytes: field(1, many(field(2, NOTHING))) },
  { name: "headers", method: streamGenerate, bytes: field(1, field(3, many(field(3, NOTHING)))) },
  { name: "texts for vectors", method: embed, bytes: many(field(2, Buffer.from("a"))) },
  { name: "one long text for vectors", method: embed, bytes: field(2, Buffer.alloc(3_000_000, "a")) },
  { name: "a long key", method: KeyServiceService.createKey, bytes: field(1, Buffer.alloc(300_000, "a")) },
  { name: "a long account", method: AccountServiceService.createAccount, bytes: field(1, Buffer.alloc(300_000, "a")) },
])("$name without end are refused as too large", ({ method, bytes }) => {
  expect(() => decodeRequest(method, bytes)).toThrow(GatewayError);
  expect(() => decodeRequest(method, bytes)).toThrow(/larger/);
});

test.each([
  { name: "10,000 documents", request: { query: "x", documents: Array.from({ length: 10_000 }, () => "a document") } },
  { name: "a body", request: { query: "", documents: [], source: source(3 * LONG) } },
])("a ranking and its estimate of $name are the same however long they are", ({ request }) => {
  const ranking: RerankRequest = { model: "m", resultsMax: 3, source: undefined, ...request };
  const message = rerank.requestSerialize(ranking);
  expect(rerank.requestSerialize(decodeRequest(rerank, message) as RerankRequest).equals(message)).toBe(true);
  const asked = { ...EstimateCostRequest.decode(new Uint8Array()), rerank: ranking };
  const estimate = estimateCost.requestSerialize(asked);
  const read = decodeRequest(estimateCost, estimate) as EstimateCostRequest;
  expect(estimateCost.requestSerialize(read).equals(estimate)).toBe(true);
});

test("an estimate of a long judgement is the same as a short one's", () => {
  const moderation = { model: "", texts: [], source: source(3 * LONG) };
  const asked = { ...EstimateCostRequest.decode(new Uint8Array()), moderation };
  const estimate = estimateCost.requestSerialize(asked);
  const read = decodeRequest(estimateCost, estimate) as EstimateCostRequest;
  expect(estimateCost.requestSerialize(read).equals(estimate)).toBe(true);
});

test("a long message with a group is refused as broken", () => {
  const bytes = Buffer.concat([Buffer.from([0x4b]), many(Buffer.from([0x08, 0])), Buffer.from([0x4c])]);
  expect(() => decodeRequest(streamGenerate, bytes)).toThrow(/group/);
});
