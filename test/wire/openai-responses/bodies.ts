/** Random prompts and answers, as far as the wire models them. */
import { fc } from "../../support/seeds.js";
import {
  type Answer,
  FinishReason,
  type Message,
  type Part,
  type Prompt,
  Role,
  type Tool,
  type ToolChoice,
  ToolChoice_Mode,
  type Usage,
} from "../../../src/api/index.js";
import { webAddress } from "../web-address.js";

const text = fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 }).map((value) => `${value}.`);
const maybe = <Value>(value: fc.Arbitrary<Value>): fc.Arbitrary<Value | undefined> =>
  fc.option(value, { nil: undefined });
const data = fc.uint8Array({ minLength: 1, maxLength: 20 }).map((bytes) => Buffer.from(bytes));
const jsonObject = fc
  .dictionary(
    fc.string({ maxLength: 6 }).map((key) => `x-${key}`),
    fc.jsonValue({ maxDepth: 1 }),
    { minKeys: 1, maxKeys: 3 },
  )
  .map((value) => JSON.stringify(value).replaceAll("__proto__", "proto"));
const name = fc.stringMatching(/^[A-Za-z0-9_-]{1,12}$/);
const cacheMark = maybe(fc.record({ ttlSeconds: fc.constantFrom(undefined, 1800, 43_200) }));

const plain = (kind: NonNullable<Part["kind"]>): Part => ({ kind, cacheMark: undefined });
const textPart = text.map((value) => plain({ $case: "text", value: { text: value, citationsJson: undefined } }));
const inline = (mediaType: string): fc.Arbitrary<{ $case: "inline"; value: { mediaType: string; data: Buffer } }> =>
  data.map((bytes) => ({ $case: "inline", value: { mediaType, data: bytes } }));
const url = webAddress.map((value) => ({ $case: "url" as const, value }));
const fileId = name.map((value) => ({ $case: "fileId" as const, value }));
const imagePart = fc
  .tuple(fc.oneof(inline("image/png"), url, fileId), maybe(fc.constantFrom("low", "high", "auto")))
  .map(([source, detail]) => plain({ $case: "image", value: { source, detail } }));
const filePart = fc
  .tuple(fc.oneof(inline("application/pdf"), url, fileId), maybe(text))
  .map(([source, filename]) => plain({ $case: "file", value: { source, filename } }));
const audioPart = inline("audio/wav").map((source) =>
  plain({ $case: "audio", value: { source, transcript: undefined } }),
);
const refusalPart = text.map((value) => plain({ $case: "refusal", value: { text: value } }));
const opaqueItem = jsonObject.map((json) =>
  plain({ $case: "opaque", value: { wire: "openai-responses", json: `{"type":"web_search_call",${json.slice(1)}` } }),
);
/** A thought of OpenAI's own, bound to its item. */
const ownThought = fc
  .tuple(maybe(text), fc.stringMatching(/^rs_[a-f0-9]{4}$/), fc.base64String({ minLength: 4, maxLength: 40 }))
  .map(([thought, id, blob]) =>
    plain({ $case: "thinking", value: { text: thought ?? "", signature: `openai:${id}:${blob}` } }),
  );
const marked = fc
  .tuple(fc.oneof(textPart, imagePart, filePart, audioPart), cacheMark)
  .map(([{ kind }, mark]): Part => ({ kind, cacheMark: mark }));

const call = fc.record({
  name,
  arguments: fc.oneof(jsonObject, fc.constantFrom("{}", '{"n":12345678901234567890,"x":1.10}', "{broken")),
  custom: fc.boolean(),
});
const result = fc.oneof(fc.constant([]), fc.tuple(textPart), fc.tuple(textPart, imagePart));

const message = (role: Role, parts: readonly Part[]): Message => ({
  role,
  parts: [...parts],
  name: undefined,
  extraJson: undefined,
});

/** What somebody says, and what the model answers, perhaps with calls whose results follow. */
const turn = fc
  .tuple(
    fc.constantFrom(Role.ROLE_USER, Role.ROLE_USER, Role.ROLE_SYSTEM, Role.ROLE_DEVELOPER),
    fc.array(marked, { maxLength: 3 }),
    fc.array(fc.oneof(ownThought, textPart, refusalPart, opaqueItem), { maxLength: 4 }),
    fc.array(fc.tuple(call, result), { maxLength: 3 }),
    fc.nat(1_000_000),
  )
  .map(([role, asked, said, called, seed]): Message[] => {
    const idOf = (place: number): string => `call_${seed}_${place}`;
    const calls = called.map(([value], place) =>
      plain({ $case: "toolCall", value: { ...value, id: idOf(place), signature: undefined } }),
    );
    const results = called.map(([, parts], place) =>
      plain({ $case: "toolResult", value: { callId: idOf(place), parts: [...parts], isError: false } }),
    );
    const turns = [message(role, asked)];
    if (said.length + calls.length > 0) turns.push(message(Role.ROLE_ASSISTANT, [...said, ...calls]));
    if (results.length > 0) turns.push(message(Role.ROLE_TOOL, results));
    return turns;
  });

const functionTool = fc
  // Not strict is how every other wire takes a tool that does not say.
  .record({
    name,
    description: maybe(text),
    parametersJson: maybe(jsonObject),
    strict: fc.constantFrom(undefined, true),
  })
  .map((value): Tool => ({ kind: { $case: "function", value }, cacheMark: undefined }));
const customTool = fc
  .record({ name, description: maybe(text), formatJson: maybe(jsonObject) })
  .map((value): Tool => ({ kind: { $case: "custom", value }, cacheMark: undefined }));
const opaqueTool = jsonObject.map((json): Tool => ({
  kind: { $case: "opaque", value: { wire: "openai-responses", json: `{"type":"web_search",${json.slice(1)}` } },
  cacheMark: undefined,
}));

const mode = fc.constantFrom(ToolChoice_Mode.MODE_AUTO, ToolChoice_Mode.MODE_NONE, ToolChoice_Mode.MODE_REQUIRED);
const toolChoice: fc.Arbitrary<ToolChoice> = fc.oneof(
  mode.map((chosen) => ({ mode: chosen, names: [], custom: false })),
  fc.record({
    mode: fc.constantFrom(ToolChoice_Mode.MODE_AUTO, ToolChoice_Mode.MODE_REQUIRED),
    names: fc.uniqueArray(name, { minLength: 1, maxLength: 3 }),
    custom: fc.boolean(),
  }),
);

const outputFormat = fc.oneof(
  fc.constant({ kind: { $case: "text" as const, value: {} } }),
  fc.constant({ kind: { $case: "jsonObject" as const, value: {} } }),
  fc
    .record({ name, description: maybe(text), schemaJson: maybe(jsonObject), strict: maybe(fc.boolean()) })
    .map((value) => ({ kind: { $case: "jsonSchema" as const, value } })),
);

const extra = jsonObject.map((json) => ({ wire: "openai-responses", json }));

export const prompt: fc.Arbitrary<Prompt> = fc.record({
  messages: fc.array(turn, { minLength: 1, maxLength: 3 }).map((turns) => turns.flat()),
  // Of two tools of one name the last holds.
  tools: fc.uniqueArray(fc.oneof(functionTool, customTool, opaqueTool), {
    maxLength: 4,
    selector: ({ kind }) => (kind?.$case === "opaque" ? {} : kind?.value.name),
  }),
  toolChoice: maybe(toolChoice),
  parallelToolCalls: maybe(fc.boolean()),
  outputFormat: maybe(outputFormat),
  reasoning: maybe(
    fc
      .record({
        effort: maybe(fc.constantFrom("none", "minimal", "low", "high")),
        budgetTokens: fc.constant(undefined),
        include: fc.constantFrom(undefined, true),
      })
      .filter(({ effort, include }) => effort !== undefined || include === true),
  ),
  temperature: maybe(fc.double({ min: 0, max: 2, noNaN: true }).map((value) => value + 0)),
  topP: maybe(fc.double({ min: 0, max: 1, noNaN: true }).map((value) => value + 0)),
  topK: fc.constant(undefined),
  presencePenalty: fc.constant(undefined),
  frequencyPenalty: fc.constant(undefined),
  seed: fc.constant(undefined),
  stop: fc.constant([]),
  candidateCount: fc.constant(undefined),
  logprobs: fc.constantFrom(undefined, true),
  topLogprobs: maybe(fc.nat(20)),
  logitBias: fc.constant({}),
  user: maybe(name),
  metadata: fc.dictionary(
    name.filter((key) => key !== "__proto__"),
    text,
    { maxKeys: 3 },
  ),
  serviceTier: maybe(fc.constantFrom("auto", "flex")),
  verbosity: maybe(fc.constantFrom("low", "high")),
  promptCacheKey: maybe(name),
  extra: maybe(extra),
});

const count = fc.nat(1_000_000).map(BigInt);

const usage: fc.Arbitrary<Usage> = fc.record({
  inputTokens: count,
  cacheReadTokens: count,
  cacheWriteTokens: count,
  cacheWrite1hTokens: fc.constant(0n),
  outputTokens: count,
  reasoningTokens: count,
  imageTokens: count,
  audioInputTokens: count,
  audioOutputTokens: count,
  meters: fc.constant([]),
});

/** Thoughts of any upstream's: with a proof, without, or such as only it can read. */
const answerThought = fc
  .tuple(
    text,
    maybe(
      fc.oneof(
        fc.base64String({ minLength: 4 }),
        text.map((value) => `gemini:${value}`),
      ),
    ),
  )
  .map(([thought, signature]) => plain({ $case: "thinking", value: { text: thought, signature } }));
const redactedPart = text.map((value) => plain({ $case: "redactedThinking", value: { data: value } }));
const pictureMade = inline("image/png").map((source) =>
  plain({ $case: "image", value: { source, detail: undefined } }),
);
const answerPart = fc.oneof(textPart, refusalPart, answerThought, ownThought, redactedPart, opaqueItem, pictureMade);
const answerCall = fc.record({ call, id: name, signature: maybe(text) });

/** Answers, as far as the wire models them: one candidate, whose end fits what it holds. */
export const answer: fc.Arbitrary<Answer> = fc
  .record({
    id: name,
    model: name,
    created: maybe(fc.integer({ min: 1, max: 4_000_000_000 })),
    parts: fc.array(answerPart, { maxLength: 5 }),
    calls: fc.array(answerCall, { maxLength: 3 }),
    more: fc.array(textPart, { maxLength: 1 }),
    end: fc.constantFrom("plain", "length", "blocked"),
    usage,
  })
  .map(({ id, model, created, parts, calls, more, end, usage: used }) => {
    const called = calls.map(({ call: value, id: callId, signature }, place) =>
      plain({ $case: "toolCall", value: { ...value, id: `${callId}_${place}`, signature } }),
    );
    const reasons = {
      plain: called.length > 0 ? FinishReason.FINISH_REASON_TOOL_CALLS : FinishReason.FINISH_REASON_END,
      length: FinishReason.FINISH_REASON_LENGTH,
      blocked: FinishReason.FINISH_REASON_BLOCKED,
    };
    return {
      id,
      model,
      createTime: created === undefined ? undefined : new Date(created * 1000),
      candidates: [
        {
          index: 0,
          message: message(Role.ROLE_ASSISTANT, [...parts, ...called, ...more]),
          finishReason: reasons[end],
          stopString: undefined,
          logprobs: undefined,
        },
      ],
      usage: used,
      usageSource: 1,
      costNanos: 0n,
    };
  });
