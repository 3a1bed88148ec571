/** What an upstream of each wire answers, whole and streamed, by the text that it says. */
import { frameOf } from "./fake-bedrock.js";

type Json = Readonly<Record<string, unknown>>;

/** A wire as its upstream answers in it. */
export interface WireAnswers {
  readonly name: string;
  readonly model: string;
  readonly path: RegExp;
  readonly whole: (text: string) => Json;
  /** The events before the end, and those that say it. */
  readonly stream: (text: string) => readonly Buffer[];
  readonly end: readonly Buffer[];
  /** What ends it without a reason, where the wire can. */
  readonly endUntold?: readonly Buffer[];
}

const data = (value: unknown): Buffer =>
  Buffer.from(`data: ${typeof value === "string" ? value : JSON.stringify(value)}\n\n`);
const named = (type: string, rest: object): Buffer =>
  Buffer.from(`event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`);
const USAGE = { prompt_tokens: 5, completion_tokens: 4, total_tokens: 9 };
const OPENAI = { id: "x1", object: "chat.completion", created: 1_700_000_000, model: "m" };
const CHUNK = { ...OPENAI, object: "chat.completion.chunk" };
const MESSAGE = { id: "msg_1", type: "message", role: "assistant", model: "m" };
const ITEM = { id: "msg_1", type: "message", role: "assistant", status: "completed" };
const RESPONSE = { id: "resp_1", object: "response", created_at: 1_700_000_000, model: "m" };
const GEMINI = { modelVersion: "m", responseId: "r1" };
const PLACE = { item_id: "msg_1", output_index: 0, content_index: 0 };
const responseOf = (text: string): Json => ({
  ...RESPONSE,
  status: "completed",
  output: [{ ...ITEM, content: [{ type: "output_text", text, annotations: [] }] }],
  usage: { input_tokens: 5, output_tokens: 4, total_tokens: 9 },
});

export const WIRE_ANSWERS: readonly WireAnswers[] = [
  {
    name: "openai-chat",
    model: "chat-1",
    path: /\/chat\/completions$/,
    whole: (content) => ({
      ...OPENAI,
      choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
      usage: USAGE,
    }),
    stream: (content) => [
      data({ ...CHUNK, choices: [{ index: 0, delta: { role: "assistant", content: "" }, finish_reason: null }] }),
      data({ ...CHUNK, choices: [{ index: 0, delta: { content }, finish_reason: null }] }),
    ],
    end: [data({ ...CHUNK, choices: [{ index: 0, delta: {}, finish_reason: "stop" }], usage: USAGE }), data("[DONE]")],
    endUntold: [data("[DONE]")],
  },
  {
    name: "openai-completions",
    model: "text-1",
    path: /\/completions$/,
    whole: (text) => ({
      ...OPENAI,
      object: "text_completion",
      choices: [{ index: 0, text, logprobs: null, finish_reason: "stop" }],
      usage: USAGE,
    }),
    stream: (text) => [
      data({
        ...OPENAI,
        object: "text_completion",
        choices: [{ index: 0, text, logprobs: null, finish_reason: null }],
      }),
    ],
    end: [
      data({
        ...OPENAI,
        object: "text_completion",
        choices: [{ index: 0, text: "", logprobs: null, finish_reason: "stop" }],
        usage: USAGE,
      }),
      data("[DONE]"),
    ],
    endUntold: [data("[DONE]")],
  },
  {
    name: "anthropic",
    model: "claude-sonnet-4-5",
    path: /\/messages$/,
    whole: (text) => ({
      ...MESSAGE,
      content: [{ type: "text", text }],
      stop_reason: "end_turn",
      stop_sequence: null,
      usage: { input_tokens: 5, output_tokens: 4 },
    }),
    stream: (text) => [
      named("message_start", { message: { ...MESSAGE, content: [], usage: { input_tokens: 5, output_tokens: 1 } } }),
      named("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
      named("content_block_delta", { index: 0, delta: { type: "text_delta", text } }),
      named("content_block_stop", { index: 0 }),
    ],
    end: [
      named("message_delta", { delta: { stop_reason: "end_turn", stop_sequence: null }, usage: { output_tokens: 4 } }),
      named("message_stop", {}),
    ],
  },
  {
    name: "gemini",
    model: "gemini-2.5-flash",
    path: /enerateContent/,
    whole: (text) => ({
      candidates: [{ index: 0, content: { role: "model", parts: [{ text }] }, finishReason: "STOP" }],
      usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 4, totalTokenCount: 9 },
      ...GEMINI,
    }),
    stream: (text) => [data({ candidates: [{ index: 0, content: { role: "model", parts: [{ text }] } }], ...GEMINI })],
    end: [
      data({
        candidates: [{ index: 0, content: { role: "model", parts: [{ text: "" }] }, finishReason: "STOP" }],
        usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 4, totalTokenCount: 9 },
        ...GEMINI,
      }),
    ],
  },
  {
    name: "openai-responses",
    model: "native-1",
    path: /\/responses$/,
    whole: responseOf,
    stream: (delta) => [
      named("response.created", { response: { ...RESPONSE, status: "in_progress", output: [] } }),
      named("response.output_item.added", { output_index: 0, item: { ...ITEM, status: "in_progress", content: [] } }),
      named("response.content_part.added", { ...PLACE, part: { type: "output_text", text: "", annotations: [] } }),
      named("response.output_text.delta", { ...PLACE, delta }),
    ],
    end: [named("response.completed", { response: responseOf("Hello there.") })],
  },
  {
    name: "bedrock-converse",
    model: "bedrock-1",
    path: /\/converse(-stream)?$/,
    whole: (text) => ({
      output: { message: { role: "assistant", content: [{ text }] } },
      stopReason: "end_turn",
      usage: { inputTokens: 5, outputTokens: 4, totalTokens: 9 },
    }),
    stream: (text) => [
      frameOf("messageStart", { role: "assistant" }),
      frameOf("contentBlockDelta", { contentBlockIndex: 0, delta: { text } }),
      frameOf("contentBlockStop", { contentBlockIndex: 0 }),
    ],
    end: [
      frameOf("messageStop", { stopReason: "end_turn" }),
      frameOf("metadata", { usage: { inputTokens: 5, outputTokens: 4, totalTokens: 9 } }),
    ],
  },
];
