/** Random prompts and answers, as far as the wire models them. */
import { fc } from "../../support/seeds.js";
import {
  type Answer,
  FinishReason,
  type Message,
  type Part,
  type Prompt,
  type Reasoning,
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
const proof = fc.base64String({ minLength: 4, maxLength: 40 });
const name = fc.stringMatching(/^[A-Za-z0-9_-]{1,12}$/);
const cacheMark = maybe(fc.record({ ttlSeconds: fc.constantFrom(undefined, 300, 3600) }));

const plain = (kind: NonNullable<Part["kind"]>): Part => ({ kind, cacheMark: undefined });
const textPart = text.map((value) => plain({ $case: "text", value: { text: value, citationsJson: undefined } }));
const markedText = fc.tuple(textPart, cacheMark).map(([{ kind }, mark]): Part => ({ kind, cacheMark: mark }));
const inline = (mediaType: string): fc.Arbitrary<{ $case: "inline"; value: { mediaType: string; data: Buffer } }> =>
  data.map((bytes) => ({ $case: "inline", value: { mediaType, data: bytes } }));
const url = webAddress.map((value) => ({ $case: "url" as const, value }));
const fileId = name.map((value) => ({ $case: "fileId" as const, value }));
const imagePart = fc
  .oneof(inline("image/png"), url, fileId)
  .map((source) => plain({ $case: "image", value: { source, detail: undefined } }));
const textFile = text.map((value) => ({
  $case: "inline" as const,
  value: { mediaType: "text/plain", data: Buffer.from(value) },
}));
const filePart = fc
  .tuple(fc.oneof(inline("application/pdf"), textFile, url, fileId), maybe(text))
  .map(([source, filename]) => plain({ $case: "file", value: { source, filename } }));
const opaquePart = jsonObject.map((json) =>
  plain({ $case: "opaque", value: { wire: "anthropic", json: `{"type":"x-new",${json.slice(1)}` } }),
);
const thinkingPart = fc.record({ text, signature: proof }).map((value) => plain({ $case: "thinking", value }));
const redacted = (data: string): Part => plain({ $case: "redactedThinking", value: { data } });
/** As Anthropic seals thoughts. */
const sealedPart = proof.map(redacted);
const redactedPart = text.map(redacted);

const call = fc.record({
  name,
  arguments: fc.oneof(jsonObject, fc.constantFrom("{}", '{"n":12345678901234567890,"x":1.10}')),
});

/** What a tool returned: nothing, words, or a picture beside them. */
const result = fc.record({
  parts: fc.oneof(fc.constant([]), fc.tuple(textPart), fc.tuple(textPart, imagePart)),
  isError: fc.boolean(),
});

const message = (role: Role, parts: readonly Part[]): Message => ({
  role,
  parts: [...parts],
  name: undefined,
  extraJson: undefined,
});

/** What a user says, and what the model answers, perhaps with calls that the user answers in turn. */
const turn = fc
  .tuple(
    fc.array(fc.oneof(textPart, imagePart, filePart, opaquePart), { minLength: 1, maxLength: 3 }),
    fc.array(fc.oneof(thinkingPart, sealedPart), { maxLength: 2 }),
    fc.array(fc.oneof(textPart, opaquePart), { minLength: 1, maxLength: 2 }),
    fc.array(fc.tuple(call, result), { maxLength: 3 }),
    fc.nat(1_000_000),
  )
  .map(([asked, thought, said, called, seed]): Message[] => {
    const idOf = (place: number): string => `toolu_${seed}_${place}`;
    const calls = called.map(([value], place) =>
      plain({ $case: "toolCall", value: { ...value, id: idOf(place), custom: false, signature: undefined } }),
    );
    const results = called.map(([, value], place) =>
      plain({ $case: "toolResult", value: { ...value, parts: [...value.parts], callId: idOf(place) } }),
    );
    const turns = [message(Role.ROLE_USER, asked), message(Role.ROLE_ASSISTANT, [...thought, ...said, ...calls])];
    return results.length === 0 ? turns : turns.concat(message(Role.ROLE_USER, results));
  });

/** A conversation: turns that alternate and end with the user, so that nothing needs to be added. */
const messages = fc
  .tuple(
    maybe(fc.array(markedText, { minLength: 1, maxLength: 2 })),
    fc.array(turn, { minLength: 1, maxLength: 3 }),
    textPart,
  )
  .map(([system, turns, last]) => {
    const spoken: Message[] = [];
    for (const next of [...turns.flat(), message(Role.ROLE_USER, [last])]) {
      const before = spoken.at(-1);
      if (before !== undefined && before.role === next.role) before.parts.push(...next.parts);
      else spoken.push(next);
    }
    return (system === undefined ? [] : [message(Role.ROLE_SYSTEM, system)]).concat(spoken);
  });

const functionTool = fc
  .record({
    name,
    description: maybe(text),
    parametersJson: jsonObject.map((json) => `{"type":"object",${json.slice(1)}`),
    strict: maybe(fc.boolean()),
  })
  .map((value): Tool => ({ kind: { $case: "function", value }, cacheMark: undefined }));
const opaqueTool = jsonObject.map((json): Tool => ({
  kind: { $case: "opaque", value: { wire: "anthropic", json: `{"type":"web_search_20260318",${json.slice(1)}` } },
  cacheMark: undefined,
}));

interface Calling {
  readonly tools: Tool[];
  readonly toolChoice: ToolChoice | undefined;
  readonly parallelToolCalls: boolean | undefined;
}

const calling: fc.Arbitrary<Calling> = fc.oneof(
  fc.constant<Calling>({
    // Calls in the conversation want their tools declared, so there is always one.
    tools: [{ kind: { $case: "function", value: anyTool() }, cacheMark: undefined }],
    toolChoice: undefined,
    parallelToolCalls: undefined,
  }),
  fc
    .tuple(
      fc.array(fc.oneof(functionTool, opaqueTool), { minLength: 1, maxLength: 3 }),
      fc.constantFrom(ToolChoice_Mode.MODE_AUTO, ToolChoice_Mode.MODE_NONE, ToolChoice_Mode.MODE_REQUIRED),
      fc.boolean(),
    )
    .map(([tools, mode, isSerial]) => ({
      tools,
      toolChoice: { mode, names: [], custom: false },
      parallelToolCalls: isSerial && mode !== ToolChoice_Mode.MODE_NONE ? false : undefined,
    })),
  functionTool.map((tool) => ({
    tools: [tool],
    toolChoice: {
      mode: ToolChoice_Mode.MODE_REQUIRED,
      names: tool.kind?.$case === "function" ? [tool.kind.value.name] : [],
      custom: false,
    },
    parallelToolCalls: undefined,
  })),
);

function anyTool(): { name: string; description: undefined; parametersJson: string; strict: undefined } {
  return { name: "any", description: undefined, parametersJson: '{"type":"object"}', strict: undefined };
}

const outputFormat = fc.boolean().map((isWhole) => ({
  kind: {
    $case: "jsonSchema" as const,
    value: {
      name: "response",
      description: undefined,
      schemaJson: JSON.stringify({
        type: "object",
        properties: { a: { type: "string" }, b: { type: "array", items: { anyOf: [{ type: "null" }] } } },
        required: isWhole ? ["b", "a"] : ["a"],
        additionalProperties: false,
      }),
      strict: isWhole || undefined,
    },
  },
}));

const adaptive = fc.oneof(
  fc.record<Reasoning>({
    effort: fc.constantFrom(undefined, "low", "medium", "high", "xhigh", "max"),
    budgetTokens: fc.constant(undefined),
    include: fc.boolean(),
  }),
  fc.constant<Reasoning>({ effort: "none", budgetTokens: undefined, include: undefined }),
);
const budgeted = fc.record<Reasoning>({
  effort: fc.constant(undefined),
  budgetTokens: fc.bigInt({ min: 1024n, max: 8000n }),
  include: fc.boolean(),
});
const unit = maybe(fc.double({ min: 0, max: 1, noNaN: true }).map((value) => value + 0));

/** What depends on the model: the newer think by themselves, the older take sampling and budgets. */
interface OfModel {
  readonly model: string;
  readonly fields: Partial<Prompt>;
}

const ofModel: fc.Arbitrary<OfModel> = fc.oneof(
  fc
    .record({ reasoning: maybe(adaptive), outputFormat: maybe(outputFormat) })
    .map((fields) => ({ model: "claude-opus-5", fields })),
  fc
    .record({ temperature: unit, topP: unit, topK: maybe(fc.nat(500)) })
    .map((fields) => ({ model: "claude-sonnet-4-20250514", fields })),
  fc.record({ reasoning: budgeted }).map((fields) => ({ model: "claude-3-7-sonnet-latest", fields })),
);

export const asked: fc.Arbitrary<{ readonly model: string; readonly prompt: Prompt }> = fc
  .tuple(
    messages,
    calling,
    ofModel,
    fc.record({ stop: fc.array(text, { maxLength: 2 }), user: maybe(text), tier: fc.constantFrom("auto", "default") }),
    maybe(jsonObject),
  )
  .map(([said, { tools, toolChoice, parallelToolCalls }, { model, fields }, { stop, user, tier }, extra]) => {
    const isThinking = fields.reasoning !== undefined && fields.reasoning.effort !== "none";
    const isForced = toolChoice?.mode === ToolChoice_Mode.MODE_REQUIRED;
    const prompt: Prompt = {
      // A budget is taken back where a turn with calls thought nothing; such turns are left to other tests.
      messages: fields.reasoning?.budgetTokens === undefined ? said : said.slice(-1).map(textsOf),
      tools: model.includes("opus-5") ? tools : tools.map(unstrict),
      // What thinks cannot be forced.
      toolChoice: isThinking && isForced ? undefined : toolChoice,
      parallelToolCalls: isThinking && isForced ? undefined : parallelToolCalls,
      outputFormat: undefined,
      reasoning: undefined,
      temperature: undefined,
      topP: undefined,
      topK: undefined,
      presencePenalty: undefined,
      frequencyPenalty: undefined,
      seed: undefined,
      stop,
      candidateCount: undefined,
      logprobs: undefined,
      topLogprobs: undefined,
      logitBias: {},
      user,
      metadata: {},
      serviceTier: tier,
      verbosity: undefined,
      promptCacheKey: undefined,
      extra: extra === undefined ? undefined : { wire: "anthropic", json: extra },
      ...fields,
    };
    return { model, prompt };
  });

function textsOf({ role, parts }: Message): Message {
  return message(
    role,
    parts.filter(({ kind }) => kind?.$case === "text"),
  );
}

function unstrict(tool: Tool): Tool {
  if (tool.kind?.$case !== "function") return tool;
  return { ...tool, kind: { $case: "function", value: { ...tool.kind.value, strict: undefined } } };
}

const count = fc.nat(1_000_000).map(BigInt);

export const usage: fc.Arbitrary<Usage> = fc.record({
  inputTokens: count,
  cacheReadTokens: count,
  cacheWriteTokens: count,
  cacheWrite1hTokens: count,
  outputTokens: count,
  reasoningTokens: count,
  imageTokens: fc.constant(0n),
  audioInputTokens: fc.constant(0n),
  audioOutputTokens: fc.constant(0n),
  meters: fc.constant([]),
});

const answerPart = fc.oneof(
  textPart,
  // A thought of another upstream, with a proof of its own or none.
  fc
    .record({
      text,
      signature: fc.oneof(
        proof,
        fc.constant(undefined),
        text.map((value) => `gemini:${value}`),
      ),
    })
    .map((value) => plain({ $case: "thinking", value })),
  redactedPart,
  opaquePart,
);
const answerCall = fc.record({ call, id: name, signature: maybe(text) });

/** Answers, as far as the wire models them: one candidate, whose end fits what it holds. */
export const answer: fc.Arbitrary<Answer> = fc
  .record({
    id: name,
    model: name,
    parts: fc.array(answerPart, { maxLength: 4 }),
    calls: fc.array(answerCall, { maxLength: 3 }),
    end: fc.constantFrom("plain", "stop", "length", "blocked", "paused"),
    explanation: maybe(text),
    stopString: text,
    usage,
  })
  .map(({ id, model, parts, calls, end, explanation, stopString, usage: used }) => {
    const called = calls.map(({ call: value, id: callId, signature }, place) =>
      plain({ $case: "toolCall", value: { ...value, id: `${callId}_${place}`, custom: false, signature } }),
    );
    const plainEnd = called.length > 0 ? FinishReason.FINISH_REASON_TOOL_CALLS : FinishReason.FINISH_REASON_END;
    const reasons = {
      plain: plainEnd,
      stop: FinishReason.FINISH_REASON_STOP_STRING,
      length: FinishReason.FINISH_REASON_LENGTH,
      blocked: FinishReason.FINISH_REASON_BLOCKED,
      paused: FinishReason.FINISH_REASON_PAUSED,
    };
    const refusals =
      end === "blocked" && explanation !== undefined ? [plain({ $case: "refusal", value: { text: explanation } })] : [];
    return {
      id,
      model,
      createTime: undefined,
      candidates: [
        {
          index: 0,
          message: message(Role.ROLE_ASSISTANT, [...parts, ...called, ...refusals]),
          finishReason: reasons[end],
          stopString: end === "stop" ? stopString : undefined,
          logprobs: undefined,
        },
      ],
      usage: used,
      usageSource: 1,
      costNanos: 0n,
    };
  });
