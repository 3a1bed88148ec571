/** Random answers of every wire, streamed and whole, with what they report and whether they deliver anything. */
import { fc } from "../support/seeds.js";
import { messagesOf } from "../support/fake-bedrock.js";

type Json = Readonly<Record<string, unknown>>;

/** What a piece of an answer is to its reader: text, something else that was delivered, or nothing to see. */
type Kind = "text" | "other" | "hidden";

/** The counts that the answer reports; the wire says how. */
export interface Counts {
  readonly input: number;
  readonly output: number;
}

export interface RandomAnswer {
  readonly whole: Buffer;
  /** Undefined where the wire has no streams. */
  readonly stream: Buffer | undefined;
  readonly counts: Counts;
  /** True where it delivers anything, of whatever kind. */
  readonly delivers: boolean;
}

interface Shape {
  /** What a model may say on this wire, by a name that a failure prints. */
  readonly pieces: Readonly<Record<string, readonly [Kind, Json]>>;
  readonly ends: readonly string[];
  write(pieces: readonly Json[], end: string, counts: Counts): Pick<RandomAnswer, "whole" | "stream">;
}

const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
const sse = (events: readonly Json[], mark = ""): Buffer =>
  Buffer.from(
    events.map((event) => `event: ${String(event["type"])}\ndata: ${JSON.stringify(event)}\n\n`).join("") + mark,
  );

const chat: Shape = {
  pieces: {
    text: ["text", { content: "Grüße." }],
    emptyThought: ["hidden", { reasoning: "" }],
    refusal: ["text", { refusal: "No." }],
    thought: ["text", { reasoning_content: "Hm." }],
    sealedThought: ["other", { reasoning_details: [{ type: "reasoning.encrypted", data: "c2VhbGVk" }] }],
    call: ["text", { tool_calls: [{ index: 0, id: "c", function: { name: "f", arguments: "{}" } }] }],
    sound: ["other", { audio: { id: "a", data: "aGk=" } }],
    picture: ["other", { images: [{ type: "image_url", image_url: { url: "data:image/png;base64,aGk=" } }] }],
    strange: ["other", { content: [{ type: "of_tomorrow", body: 1 }] }],
  },
  ends: ["stop", "length", "tool_calls", "content_filter"],
  write(pieces, end, { input, output }) {
    const usage = { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
    const chunk = (delta: Json, reason: string | null): Json => ({
      id: "x",
      choices: [{ index: 0, delta, finish_reason: reason }],
    });
    const message: Json = Object.assign({ role: "assistant", content: null }, ...pieces);
    const deltas = [{ role: "assistant", content: "" }, ...pieces].map((delta) => chunk(delta, null));
    return {
      whole: json({ id: "x", choices: [{ index: 0, message, finish_reason: end }], usage }),
      stream: sse([...deltas, chunk({}, end), { id: "x", choices: [], usage }], "data: [DONE]\n\n"),
    };
  },
};

const completions: Shape = {
  pieces: { text: ["text", { text: "Grüße." }], nothing: ["hidden", { text: "" }] },
  ends: ["stop", "length"],
  write(pieces, end, { input, output }) {
    const usage = { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
    const choice = (text: unknown, reason: string | null): Json => ({
      id: "x",
      choices: [{ index: 0, text, finish_reason: reason }],
    });
    const texts = pieces.map((piece) => choice(piece["text"], null));
    return {
      whole: json({ ...choice(pieces.map((piece) => piece["text"]).join(""), end), usage }),
      stream: sse([...texts, choice("", end), { id: "x", choices: [], usage }], "data: [DONE]\n\n"),
    };
  },
};

const responses: Shape = {
  pieces: {
    text: ["text", { type: "message", content: [{ type: "output_text", text: "Grüße.", annotations: [] }] }],
    cited: ["text", { type: "message", content: [{ type: "output_text", text: "A", annotations: [{ url: "u" }] }] }],
    thought: ["text", { type: "reasoning", summary: [{ type: "summary_text", text: "Hm." }] }],
    hiddenThought: ["hidden", { type: "reasoning", summary: [] }],
    call: ["text", { type: "function_call", call_id: "c", name: "f", arguments: "{}" }],
    search: ["other", { type: "web_search_call", status: "completed" }],
    shell: ["other", { type: "shell_call", call_id: "c", action: { commands: ["ls"] } }],
    computer: ["other", { type: "computer_call", call_id: "c", action: { type: "screenshot" } }],
    picture: ["other", { type: "image_generation_call", result: "aGk=", output_format: "png" }],
    pictureAway: ["other", { type: "image_generation_call", result: null }],
    code: ["other", { type: "code_interpreter_call", code: "1+1", outputs: [] }],
    strange: ["other", { type: "of_tomorrow" }],
  },
  ends: ["completed", "incomplete"],
  write(pieces, status, { input, output }) {
    const items = pieces.map((piece, place) => ({ id: `i${place}`, ...piece }));
    const usage = { input_tokens: input, output_tokens: output, total_tokens: input + output };
    const response = { id: "x", object: "response", status, output: items, usage };
    const opened = { ...response, status: "in_progress", output: [], usage: null };
    const events = items.flatMap((item, place) => [
      { type: "response.output_item.added", output_index: place, item: { id: item.id, type: pieces[place]?.["type"] } },
      { type: "response.output_item.done", output_index: place, item },
    ]);
    const end = { type: `response.${status}`, response };
    return { whole: json(response), stream: sse([{ type: "response.created", response: opened }, ...events, end]) };
  },
};

const anthropic: Shape = {
  pieces: {
    text: ["text", { type: "text", text: "Grüße." }],
    emptyText: ["hidden", { type: "text", text: "" }],
    thought: ["text", { type: "thinking", thinking: "Hm.", signature: "c2ln" }],
    omittedThought: ["hidden", { type: "thinking", thinking: "", signature: "c2ln" }],
    sealedThought: ["other", { type: "redacted_thinking", data: "c2VhbGVk" }],
    call: ["text", { type: "tool_use", id: "t", name: "f", input: {} }],
    hostedCall: ["other", { type: "server_tool_use", id: "s", name: "web_search", input: {} }],
    hostedResult: ["other", { type: "web_search_tool_result", tool_use_id: "s", content: [] }],
    strange: ["other", { type: "of_tomorrow" }],
  },
  ends: ["end_turn", "max_tokens", "stop_sequence", "pause_turn", "tool_use", "refusal"],
  write(pieces, end, { input, output }) {
    const message = { id: "m", type: "message", role: "assistant", model: "m" };
    const told = { stop_reason: end, stop_sequence: end === "stop_sequence" ? "END" : null };
    const early = { input_tokens: input, output_tokens: Math.min(output, 1) };
    const blocks = pieces.flatMap((block, index) => [
      { type: "content_block_start", index, content_block: block },
      { type: "content_block_stop", index },
    ]);
    return {
      whole: json({ ...message, content: pieces, ...told, usage: { input_tokens: input, output_tokens: output } }),
      stream: sse([
        { type: "message_start", message: { ...message, content: [], usage: early } },
        ...blocks,
        { type: "message_delta", delta: told, usage: { output_tokens: output } },
        { type: "message_stop" },
      ]),
    };
  },
};

const gemini: Shape = {
  pieces: {
    text: ["text", { text: "Grüße." }],
    emptyText: ["hidden", { text: "" }],
    thought: ["text", { text: "Hm.", thought: true }],
    proof: ["hidden", { text: "", thoughtSignature: "c2ln" }],
    call: ["text", { functionCall: { name: "f", args: {} } }],
    picture: ["other", { inlineData: { mimeType: "image/png", data: "aGk=" } }],
    code: ["text", { executableCode: { language: "PYTHON", code: "1+1" } }],
  },
  ends: ["STOP", "MAX_TOKENS", "SAFETY"],
  write(pieces, end, { input, output }) {
    const usageMetadata = {
      promptTokenCount: input,
      candidatesTokenCount: output,
      totalTokenCount: input + output,
    };
    const chunk = (parts: readonly Json[], rest: Json): Json => ({
      candidates: [{ index: 0, content: { role: "model", parts }, ...rest }],
    });
    const stream = [
      ...pieces.map((piece) => chunk([piece], {})),
      { ...chunk([], { finishReason: end }), usageMetadata },
    ];
    return { whole: json({ ...chunk(pieces, { finishReason: end }), usageMetadata }), stream: sse(stream) };
  },
};

const bedrock: Shape = {
  pieces: {
    text: ["text", { text: "Grüße." }],
    thought: ["text", { reasoningContent: { reasoningText: { text: "Hm.", signature: "c2ln" } } }],
    sealedThought: ["other", { reasoningContent: { redactedContent: "c2VhbGVk" } }],
    call: ["text", { toolUse: { toolUseId: "t", name: "f", input: {} } }],
  },
  ends: ["end_turn", "max_tokens", "stop_sequence", "guardrail_intervened"],
  write(content, stopReason, { input, output }) {
    const usage = { inputTokens: input, outputTokens: output, totalTokens: input + output };
    return {
      whole: json({ output: { message: { role: "assistant", content } }, stopReason, usage }),
      stream: Buffer.concat(messagesOf({ content, stopReason, usage })),
    };
  },
};

const embeddings: Shape = {
  pieces: { vector: ["other", { object: "embedding", embedding: [0.5] }] },
  ends: [""],
  write(pieces, _end, { input }) {
    const vectors = [{ embedding: [0.25] }, ...pieces];
    const data = vectors.map(({ embedding }, index) => ({ object: "embedding", index, embedding }));
    const usage = { prompt_tokens: input, total_tokens: input };
    return { whole: json({ object: "list", model: "m", data, usage }), stream: undefined };
  },
};

export const SHAPES = {
  "openai-chat": chat,
  "openai-completions": completions,
  "openai-responses": responses,
  anthropic,
  gemini,
  "bedrock-converse": bedrock,
  "openai-embeddings": embeddings,
} as const;

const TOKENS_MAX = 100_000;

/** More than four pieces of text have. */
const TEXT_TOKENS_MAX = 100;

/** Random answers of one wire, each with a report that can be true: whoever said a word generated as much at least. */
export function answersOf({ pieces, ends, write }: Shape): fc.Arbitrary<RandomAnswer> {
  const said = fc.uniqueArray(fc.constantFrom(...Object.values(pieces)), { maxLength: 4 });
  const input = fc.integer({ min: 1, max: TOKENS_MAX });
  const output = fc.oneof(fc.constant(0), fc.integer({ min: 1, max: TOKENS_MAX }));
  return fc.tuple(said, fc.constantFrom(...ends), input, output).map(([chosen, end, inputTokens, outputTokens]) => {
    const kinds = chosen.map(([kind]) => kind);
    const generated = kinds.includes("text") ? Math.max(outputTokens, TEXT_TOKENS_MAX) : outputTokens;
    const counts = { input: inputTokens, output: write === embeddings.write ? 0 : generated };
    const told = chosen.map(([, piece]) => piece);
    const delivers = write === embeddings.write || kinds.some((kind) => kind !== "hidden");
    const { whole, stream } = write(told, end, counts);
    return { whole, stream, counts, delivers };
  });
}
