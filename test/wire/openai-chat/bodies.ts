/** Random requests and prompts of the wire, for the properties that must hold for all of them. */
import { fc } from "../../support/seeds.js";
import { type Message, type Part, type Prompt, Role, type Tool, ToolChoice_Mode } from "../../../src/api/index.js";
import { tabledFacts } from "../../../src/models/facts.js";
import type { OwnedFields, RequestFacts } from "../../../src/wire/wire.js";
import { webAddress } from "../web-address.js";

export const FACTS: RequestFacts = {
  model: "m",
  stream: true,
  includeUsage: false,
  candidateCount: 1,
  outputTokensMax: undefined,
  textBytes: 0,
  imageCount: 0,
  fileCount: 0,
  audioCount: 0,
};

export function owned(changes: Partial<OwnedFields> = {}): OwnedFields {
  const { model = "m" } = changes;
  const facts = tabledFacts(model);
  return { model, facts, outputTokensMax: undefined, stream: false, candidateCount: 1, ...changes };
}

/** JSON as clients may write it: any spaces, escapes where none are needed, and numbers that no double holds. */
export const jsonText: fc.Arbitrary<string> = fc.letrec<{ value: string }>((tie) => {
  const space = fc.constantFrom("", " ", "\n", "\t", "\r\n  ");
  const spaced = (item: fc.Arbitrary<string>): fc.Arbitrary<string> =>
    fc.tuple(space, item, space).map((texts) => texts.join(""));
  const number = fc.constantFrom("0", "-0.0", "1e5", "12345678901234567890", "0.1000", "1E-400", "9007199254740993");
  const string = fc.oneof(
    fc.string({ unit: "grapheme" }).map((text) => JSON.stringify(text)),
    fc.constantFrom('"\\u0061\\/\\b"', '"\\ud83d\\ude00"', '"\\ud800"', '"é漢😀"', '"data:\\"usage\\":null"'),
  );
  const key = fc.oneof(
    fc.string({ maxLength: 8 }).map((text) => JSON.stringify(`x-${text}`)),
    fc.constantFrom('"\\u0078-e"', '"constructor"', '"toString"', '"1"'),
  );
  const list = (item: fc.Arbitrary<string>, open: string, close: string): fc.Arbitrary<string> =>
    fc.array(spaced(item), { maxLength: 4 }).map((texts) => open + texts.join(",") + close);
  const member = fc.tuple(key, space, spaced(tie("value"))).map(([name, gap, value]) => `${name}${gap}:${value}`);
  return {
    value: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      number,
      string,
      fc.constantFrom("true", "false", "null"),
      list(tie("value"), "[", "]"),
      list(member, "{", "}"),
    ),
  };
}).value;

const text = fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 });
const json = fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.stringify(value).replaceAll("__proto__", "proto"));
const jsonObject = fc
  .dictionary(
    fc.string({ maxLength: 6 }).map((key) => `x-${key}`),
    fc.jsonValue({ maxDepth: 1 }),
    { minKeys: 1, maxKeys: 3 },
  )
  .map((value) => JSON.stringify(value).replaceAll("__proto__", "proto"));
const maybe = <Value>(value: fc.Arbitrary<Value>): fc.Arbitrary<Value | undefined> =>
  fc.option(value, { nil: undefined });
const data = fc.uint8Array({ minLength: 1, maxLength: 20 }).map((bytes) => Buffer.from(bytes));
const cacheMark = maybe(fc.record({ ttlSeconds: fc.constantFrom(undefined, 1800, 43_200) }));

function part(kind: fc.Arbitrary<NonNullable<Part["kind"]>>): fc.Arbitrary<Part> {
  return fc.record({ kind, cacheMark });
}

const textPart = part(text.map((value) => ({ $case: "text", value: { text: value, citationsJson: undefined } })));
const imagePart = part(
  fc.record({
    $case: fc.constant("image" as const),
    value: fc.record({
      source: fc.oneof(
        webAddress.map((value) => ({ $case: "url" as const, value })),
        data.map((bytes) => ({ $case: "inline" as const, value: { mediaType: "image/png", data: bytes } })),
      ),
      detail: maybe(fc.constantFrom("auto", "low", "high", "original")),
    }),
  }),
);
const filePart = part(
  fc.record({
    $case: fc.constant("file" as const),
    value: fc.record({
      source: fc.oneof(
        text.map((value) => ({ $case: "fileId" as const, value })),
        data.map((bytes) => ({ $case: "inline" as const, value: { mediaType: "application/pdf", data: bytes } })),
      ),
      filename: maybe(text),
    }),
  }),
);
const audioPart = part(
  fc.tuple(data, fc.constantFrom("audio/wav", "audio/mpeg", "audio/flac")).map(([bytes, mediaType]) => ({
    $case: "audio",
    value: { source: { $case: "inline", value: { mediaType, data: bytes } }, transcript: undefined },
  })),
);
const opaquePart = json.map((value): Part => ({
  kind: { $case: "opaque", value: { wire: "openai-chat", json: `{"type":"x-new","value":${value}}` } },
  cacheMark: undefined,
}));
const plain = (kind: NonNullable<Part["kind"]>): Part => ({ kind, cacheMark: undefined });

const userMessage = fc.record<Message>({
  role: fc.constantFrom(Role.ROLE_SYSTEM, Role.ROLE_DEVELOPER, Role.ROLE_USER),
  parts: fc.array(fc.oneof(textPart, imagePart, filePart, audioPart, opaquePart), { maxLength: 4 }),
  name: maybe(text),
  extraJson: maybe(jsonObject),
});

const toolCall = fc.record({
  id: text,
  name: text,
  arguments: fc.string({ maxLength: 20 }),
  custom: fc.boolean(),
  signature: maybe(text),
});

const assistantMessage = fc
  .tuple(
    fc.array(fc.record({ text, signature: maybe(text) }), { maxLength: 2 }),
    maybe(text),
    fc.array(textPart, { maxLength: 2 }),
    maybe(text),
    fc.array(toolCall, { maxLength: 3 }),
    maybe(text),
    maybe(jsonObject),
  )
  .map(([thinking, redacted, texts, refusal, calls, audioId, extraJson]): Message => {
    const parts: Part[] = thinking.map((value) => plain({ $case: "thinking", value }));
    if (redacted !== undefined) parts.push(plain({ $case: "redactedThinking", value: { data: redacted } }));
    parts.push(...texts);
    if (refusal !== undefined) parts.push(plain({ $case: "refusal", value: { text: refusal } }));
    parts.push(...calls.map((value) => plain({ $case: "toolCall", value })));
    if (audioId !== undefined) {
      const source = { $case: "fileId" as const, value: audioId };
      parts.push(plain({ $case: "audio", value: { source, transcript: undefined } }));
    }
    return { role: Role.ROLE_ASSISTANT, parts, name: undefined, extraJson };
  });

const toolMessage = fc
  .tuple(text, fc.array(textPart, { maxLength: 2 }), maybe(jsonObject))
  .map(([callId, parts, extraJson]): Message => ({
    role: Role.ROLE_TOOL,
    parts: [plain({ $case: "toolResult", value: { callId, parts, isError: false } })],
    name: undefined,
    extraJson,
  }));

const description = maybe(text);
const strict = maybe(fc.boolean());
const tool = fc
  .oneof(
    fc.record({
      $case: fc.constant("function" as const),
      value: fc.record({ name: text, description, parametersJson: maybe(jsonObject), strict }),
    }),
    fc.record({
      $case: fc.constant("custom" as const),
      value: fc.record({ name: text, description, formatJson: maybe(jsonObject) }),
    }),
    json.map((value) => ({
      $case: "opaque" as const,
      value: { wire: "openai-chat", json: `{"type":"x-hosted","value":${value}}` },
    })),
  )
  .map((kind): Tool => ({ kind, cacheMark: undefined }));

const toolChoice = fc.oneof(
  fc.constantFrom(ToolChoice_Mode.MODE_AUTO, ToolChoice_Mode.MODE_NONE, ToolChoice_Mode.MODE_REQUIRED).map((mode) => ({
    mode,
    names: [],
    custom: false,
  })),
  fc.record({
    mode: fc.constantFrom(ToolChoice_Mode.MODE_AUTO, ToolChoice_Mode.MODE_REQUIRED),
    names: fc.array(text, { minLength: 1, maxLength: 3 }),
    custom: fc.boolean(),
  }),
);

const outputFormat = fc
  .oneof(
    fc.constant({ $case: "text" as const, value: {} }),
    fc.constant({ $case: "jsonObject" as const, value: {} }),
    fc.record({
      $case: fc.constant("jsonSchema" as const),
      value: fc.record({ name: text, description, schemaJson: maybe(jsonObject), strict }),
    }),
  )
  .map((kind) => ({ kind }));

const unit = (min: number, max: number): fc.Arbitrary<number | undefined> =>
  maybe(fc.double({ min, max, noNaN: true }).map((value) => value + 0));

/** Prompts as far as the wire models them. */
export const prompt: fc.Arbitrary<Prompt> = fc.record<Prompt>({
  messages: fc.array(fc.oneof(userMessage, assistantMessage, toolMessage), { minLength: 1, maxLength: 5 }),
  tools: fc.array(tool, { maxLength: 3 }),
  toolChoice: maybe(toolChoice),
  parallelToolCalls: maybe(fc.boolean()),
  outputFormat: maybe(outputFormat),
  reasoning: maybe(text.map((effort) => ({ effort, budgetTokens: undefined, include: undefined }))),
  temperature: unit(0, 2),
  topP: unit(0, 1),
  topK: maybe(fc.nat(1000)),
  presencePenalty: unit(-2, 2),
  frequencyPenalty: unit(-2, 2),
  seed: maybe(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })),
  stop: fc.array(text, { maxLength: 4 }),
  candidateCount: fc.constantFrom(undefined, 3),
  logprobs: maybe(fc.boolean()),
  topLogprobs: maybe(fc.nat(20)),
  logitBias: fc.dictionary(fc.nat(99_999).map(String), fc.integer({ min: -100, max: 100 }), { maxKeys: 3 }),
  user: maybe(text),
  metadata: fc.dictionary(
    text.filter((key) => key !== "__proto__"),
    text,
    { maxKeys: 3 },
  ),
  serviceTier: maybe(text),
  verbosity: maybe(text),
  promptCacheKey: maybe(text),
  extra: maybe(jsonObject.map((value) => ({ wire: "openai-chat", json: value }))),
});
