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

const text = fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 });
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
const googles = fc.base64String({ minLength: 4, maxLength: 12 }).map((wire) => `gemini:${wire}`);

const plain = (kind: NonNullable<Part["kind"]>): Part => ({ kind, cacheMark: undefined });
const textPart = text.map((value) => plain({ $case: "text", value: { text: value, citationsJson: undefined } }));
const inline = (mediaType: string): fc.Arbitrary<{ $case: "inline"; value: { mediaType: string; data: Buffer } }> =>
  data.map((bytes) => ({ $case: "inline", value: { mediaType, data: bytes } }));
const url = fc.constantFrom("png", "webp", "jpg").map((ending) => ({
  $case: "url" as const,
  value: `https://youtu.be/a.${ending}`,
}));
const imagePart = fc
  .oneof(inline("image/png"), url)
  .map((source) => plain({ $case: "image", value: { source, detail: undefined } }));
const audioPart = inline("audio/wav").map((source) =>
  plain({ $case: "audio", value: { source, transcript: undefined } }),
);
const filePart = fc
  .oneof(inline("application/pdf"), url)
  .map((source) => plain({ $case: "file", value: { source, filename: undefined } }));
const opaquePart = jsonObject.map((json) => plain({ $case: "opaque", value: { wire: "gemini", json } }));
const thinkingPart = fc.oneof(
  fc.record({ text, signature: maybe(googles) }).map((value) => plain({ $case: "thinking", value })),
  // The proof of the text before it.
  googles.map((signature) => plain({ $case: "thinking", value: { text: "", signature } })),
);

const call = fc.record({
  name: text,
  arguments: fc.oneof(jsonObject, fc.constant("{}")),
  signature: maybe(fc.base64String({ minLength: 4, maxLength: 12 })),
});

/** What a tool returned, and a picture beside it. */
const result = fc.record({
  parts: fc.oneof(
    fc.constant([]),
    fc.tuple(
      fc.oneof(
        textPart,
        jsonObject.map((json) => plain({ $case: "text", value: { text: json, citationsJson: undefined } })),
      ),
    ),
    fc.tuple(
      textPart,
      inline("image/png").map((source) => plain({ $case: "image", value: { source, detail: undefined } })),
    ),
  ),
  isError: fc.boolean(),
});

const message = (role: Role, parts: readonly Part[]): Message => ({
  role,
  parts: [...parts],
  name: undefined,
  extraJson: undefined,
});

/** What a user says, and what the model answers, perhaps after calls that are answered in turn. */
const turn = fc
  .tuple(
    fc.array(fc.oneof(textPart, imagePart, audioPart, filePart, opaquePart), { minLength: 1, maxLength: 3 }),
    fc.array(fc.oneof(textPart, thinkingPart, opaquePart), { minLength: 1, maxLength: 3 }).map(withWholeThoughts),
    fc.array(fc.tuple(call, result), { maxLength: 3 }),
    fc.nat(1_000_000),
  )
  .map(([asked, said, called, seed]): Message[] => {
    const ids = called.map((_, place) => `call_${seed}_${place}`);
    const calls = called.map(([value], place) =>
      plain({ $case: "toolCall", value: { ...value, id: ids[place] ?? "", custom: false } }),
    );
    const results = called.map(([, value], place) =>
      plain({ $case: "toolResult", value: { ...value, parts: [...value.parts], callId: ids[place] ?? "" } }),
    );
    const messages = [message(Role.ROLE_USER, asked), message(Role.ROLE_ASSISTANT, said.concat(calls))];
    return results.length === 0 ? messages : messages.concat(message(Role.ROLE_TOOL, results));
  });

const messages = fc
  .tuple(maybe(fc.array(textPart, { minLength: 1, maxLength: 2 })), fc.array(turn, { minLength: 1, maxLength: 3 }))
  .map(([system, turns]) => (system === undefined ? [] : [message(Role.ROLE_SYSTEM, system)]).concat(turns.flat()));

const functionTool = (strict: true | undefined): fc.Arbitrary<Tool> =>
  fc
    .record({ name: text, description: maybe(text), parametersJson: maybe(jsonObject), strict: fc.constant(strict) })
    .map((value) => ({ kind: { $case: "function", value }, cacheMark: undefined }));
const opaqueTool = jsonObject.map((json): Tool => ({
  kind: { $case: "opaque", value: { wire: "gemini", json } },
  cacheMark: undefined,
}));

const toolChoice = fc.oneof(
  fc
    .constantFrom(ToolChoice_Mode.MODE_AUTO, ToolChoice_Mode.MODE_NONE)
    .map((mode) => ({ mode, names: [], custom: false })),
  fc.array(text, { maxLength: 2 }).map((names) => ({ mode: ToolChoice_Mode.MODE_REQUIRED, names, custom: false })),
);

interface Calling {
  readonly tools: Tool[];
  readonly toolChoice: ToolChoice | undefined;
}

/** Tools, and how they may be called: no choice stands without them. */
const calling: fc.Arbitrary<Calling> = fc.oneof(
  fc.constant<Calling>({ tools: [], toolChoice: undefined }),
  fc.record<Calling>({
    tools: fc
      .tuple(fc.array(functionTool(undefined), { minLength: 1, maxLength: 3 }), fc.array(opaqueTool, { maxLength: 1 }))
      .map((tools) => tools.flat()),
    toolChoice: maybe(toolChoice),
  }),
  fc.record<Calling>({
    tools: fc.array(functionTool(true), { minLength: 1, maxLength: 2 }),
    toolChoice: fc.constant({ mode: ToolChoice_Mode.MODE_AUTO, names: [], custom: false }),
  }),
);

const outputFormat = fc.oneof(
  fc.constant({ kind: { $case: "text" as const, value: {} } }),
  fc.constant({ kind: { $case: "jsonObject" as const, value: {} } }),
  jsonObject.map((schemaJson) => ({
    kind: {
      $case: "jsonSchema" as const,
      value: { name: "response", description: undefined, schemaJson, strict: undefined },
    },
  })),
);

const reasoning = fc.oneof(
  fc.record({
    effort: fc.constantFrom("minimal", "low", "medium", "high"),
    budgetTokens: fc.constant(undefined),
    include: fc.boolean(),
  }),
  fc.record({
    effort: fc.constant(undefined),
    budgetTokens: maybe(fc.integer({ min: 1, max: 32_768 }).map(BigInt)),
    include: maybe(fc.boolean()),
  }),
);

const unit = (min: number, max: number): fc.Arbitrary<number | undefined> =>
  maybe(fc.double({ min, max, noNaN: true }).map((value) => value + 0));

export const prompt: fc.Arbitrary<Prompt> = fc
  .record({
    messages,
    calling,
    outputFormat: maybe(outputFormat),
    reasoning: maybe(reasoning),
    temperature: unit(0, 2),
    topP: unit(0, 1),
    topK: maybe(fc.nat(1000)),
    presencePenalty: unit(-2, 2),
    frequencyPenalty: unit(-2, 2),
    seed: maybe(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }).map(BigInt)),
    stop: fc.array(text, { maxLength: 4 }),
    candidateCount: fc.constantFrom(undefined, 3),
    logprobs: maybe(fc.boolean()),
    topLogprobs: maybe(fc.nat(20)),
    serviceTier: fc.constantFrom(undefined, "flex", "priority"),
    extra: maybe(jsonObject),
    config: maybe(jsonObject),
  })
  .map(({ calling: { tools, toolChoice: choice }, extra, config, ...rest }): Prompt => {
    const inner = config === undefined ? [] : [`"generationConfig":${config}`];
    const members = (extra === undefined ? [] : [extra.slice(1, -1)]).concat(inner);
    return Object.assign(rest, {
      tools,
      toolChoice: choice,
      parallelToolCalls: undefined,
      logitBias: {},
      user: undefined,
      metadata: {},
      verbosity: undefined,
      promptCacheKey: undefined,
      extra: members.length === 0 ? undefined : { wire: "gemini", json: `{${members.join(",")}}` },
    });
  });

const tokens = fc.nat(1_000_000).map(BigInt);
export const usage: fc.Arbitrary<Usage> = fc.record({
  inputTokens: tokens,
  cacheReadTokens: tokens,
  cacheWriteTokens: fc.constant(0n),
  cacheWrite1hTokens: fc.constant(0n),
  outputTokens: tokens,
  reasoningTokens: tokens,
  imageTokens: tokens,
  audioInputTokens: tokens,
  audioOutputTokens: tokens,
  meters: fc.constant([]),
});

const logprob = fc.record({
  token: text,
  logprob: fc.double({ max: 0, noNaN: true, noDefaultInfinity: true }).map((value) => value + 0),
  rawBytes: fc.constant(undefined),
});
const logprobs = fc.array(
  fc
    .tuple(logprob, fc.array(logprob, { maxLength: 2 }))
    .map(([token, top]) => Object.assign({}, token, { top: top.map((other) => Object.assign({ top: [] }, other)) })),
  { minLength: 1, maxLength: 3 },
);

const foreign = text.map((value) => `claude:${value}`);
const answered = fc
  .tuple(
    fc.array(
      fc.oneof(
        textPart,
        opaquePart,
        inline("image/png").map((source) => plain({ $case: "image", value: { source, detail: undefined } })),
        fc
          .record({ text, signature: maybe(fc.oneof(googles, foreign)) })
          .map((value) => plain({ $case: "thinking", value })),
        text.map((value) => plain({ $case: "redactedThinking", value: { data: value } })),
      ),
      { maxLength: 4 },
    ),
    fc.array(call, { maxLength: 3 }),
  )
  .map(([said, called]) =>
    joined(said).concat(
      called.map((value, place) =>
        plain({ $case: "toolCall", value: { ...value, id: `call_${place}`, custom: false } }),
      ),
    ),
  );

/** A thought that goes on behind one without a proof is the same thought; a proof alone stands for itself. */
function withWholeThoughts(parts: readonly Part[]): Part[] {
  return parts.filter(({ kind }, place) => {
    const before = parts[place - 1]?.kind;
    const isOpen = before?.$case === "thinking" && before.value.signature === undefined;
    return !(isOpen && kind?.$case === "thinking" && (kind.value.text !== "" || kind.value.signature === undefined));
  });
}

/** Parts that run together where they meet are one. */
function joined(parts: readonly Part[]): Part[] {
  return parts.filter((part, place) => {
    const before = parts[place - 1]?.kind;
    const isOpenThought = before?.$case === "thinking" && before.value.signature === undefined;
    return part.kind?.$case === "text" ? before?.$case !== "text" : !(part.kind?.$case === "thinking" && isOpenThought);
  });
}

/** Answers, finished. */
export const answer: fc.Arbitrary<Answer> = fc
  .record({
    id: text,
    model: text,
    createTime: maybe(fc.date({ min: new Date(0), max: new Date(4e12), noInvalidDate: true })),
    candidates: fc.array(
      fc.record({
        parts: answered,
        reason: fc.constantFrom(
          FinishReason.FINISH_REASON_END,
          FinishReason.FINISH_REASON_LENGTH,
          FinishReason.FINISH_REASON_BLOCKED,
          FinishReason.FINISH_REASON_PAUSED,
          FinishReason.FINISH_REASON_MALFORMED,
          FinishReason.FINISH_REASON_UNSPECIFIED,
        ),
        logprobs: maybe(logprobs),
      }),
      { minLength: 1, maxLength: 3 },
    ),
    usage,
  })
  .map(({ candidates, ...rest }): Answer =>
    Object.assign(rest, {
      usageSource: 1,
      costNanos: 0n,
      candidates: candidates.map(({ parts, reason, logprobs: content }, index) => {
        const hasCalls = parts.some(({ kind }) => kind?.$case === "toolCall");
        const isCalls = hasCalls && reason === FinishReason.FINISH_REASON_END;
        return {
          index,
          message: message(Role.ROLE_ASSISTANT, parts),
          finishReason: isCalls ? FinishReason.FINISH_REASON_TOOL_CALLS : reason,
          stopString: undefined,
          logprobs: content === undefined ? undefined : { candidate: index, content, refusal: [] },
        };
      }),
    }),
  );
