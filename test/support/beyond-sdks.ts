/** What is really sent beside what the official SDKs declare, by the name of the declared object. */
import type { Allowance } from "./shape.js";

/** Thoughts, images and what the next turn needs of them, as families on OpenAI's wire tell them. */
const MESSAGE = { more: ["reasoning_content", "reasoning_details", "images"] };
/** The string that stopped an answer, as vLLM names it. */
const CHOICE = { more: ["stop_reason"] };
/** What Gemini wants back with a call. */
const CALL = { more: ["extra_content"] };
/** So that the length of an event does not tell that of its text. */
const PADDED = { more: ["obfuscation"] };
const DETAILED = { more: ["details"] };

export const ALLOWANCE: Allowance = {
  ChatCompletionMessage: MESSAGE,
  "ChatCompletionChunk.Choice.Delta": MESSAGE,
  "ChatCompletion.Choice": CHOICE,
  "ChatCompletionChunk.Choice": CHOICE,
  ChatCompletionMessageFunctionToolCall: CALL,
  // OpenAI streams calls in free text so; its SDK declares whole ones alone.
  "ChatCompletionChunk.Choice.Delta.ToolCall": { more: [...CALL.more, "custom"] },
  // Required by releases of the SDK before its seventh major version.
  ResponseFunctionCallArgumentsDoneEvent: { more: ["name"] },
  // Perplexity's.
  CompletionUsage: { more: ["num_search_queries"] },
  // What a model can, takes and costs, which clients may show.
  Model: {
    more: [
      "kind",
      "alias_of",
      "context_tokens",
      "output_tokens_max",
      "capabilities",
      "price",
      "retireTime",
      "shutdown_date",
      // Google's API says it; its SDK gives it another name.
      "supportedGenerationMethods",
    ],
  },
  ModelInfo: { more: ["price"] },
  // OpenAI tells these; the SDK makes the text of all messages itself.
  Response: {
    more: ["store", "billing", "presence_penalty", "frequency_penalty", "max_tool_calls"],
    fewer: ["output_text"],
  },
  ResponseCustomToolCall: { more: ["status"] },
  ResponseTextDeltaEvent: PADDED,
  ResponseFunctionCallArgumentsDeltaEvent: PADDED,
  ResponseReasoningSummaryTextDeltaEvent: PADDED,
  ResponseRefusalDeltaEvent: PADDED,
  WebSearchTool: { more: ["external_web_access"] },
  "ResponseUsage.InputTokensDetails": { more: ["image_tokens", "audio_tokens"] },
  "ResponseUsage.OutputTokensDetails": { more: ["audio_tokens"] },
  // The same in the envelope, which some readers know alone.
  ResponseErrorEvent: { more: ["error"] },
  // How long what was written to a cache is kept is known at the end of an answer alone.
  MessageDeltaUsage: { more: ["cache_creation"] },
  BetaMessageDeltaUsage: { more: ["cache_creation"], fewer: ["fallback_credit", "iterations"] },
  BetaUsage: { fewer: ["fallback_credit", "iterations"] },
  // Anthropic tells it where a context was edited.
  BetaMessage: { fewer: ["context_management"] },
  BetaRawMessageDeltaEvent: { fewer: ["context_management"] },
  // A text that cites nothing has none, and some readers refuse null in its place.
  TextBlock: { fewer: ["citations"] },
  BetaTextBlock: { fewer: ["citations"] },
  APIErrorObject: DETAILED,
  AuthenticationErrorObject: DETAILED,
  BillingErrorObject: DETAILED,
  PermissionErrorObject: DETAILED,
  GatewayTimeoutErrorObject: DETAILED,
  InvalidRequestErrorObject: DETAILED,
  NotFoundErrorObject: DETAILED,
  OverloadedErrorObject: DETAILED,
  RateLimitErrorObject: DETAILED,
};

/** Misfits that are right, by what is said of them. */
export const BY_DESIGN: readonly { readonly said: RegExp; readonly why: string }[] = [
  { said: /embeddings, \.data\[\d+\]\.embedding is "/, why: "base64 was asked for, which the SDK itself decodes" },
  {
    said: /completion, .*\.finish_reason is null/,
    why: "the SDK declares events of a stream as if each were the last",
  },
  {
    said: /response(Event)?, (\.response)?\.usage is null/,
    why: "OpenAI tells none until the end; the SDK would have none",
  },
  { said: /response(Event)?, (\.response)?\.user is null/, why: "OpenAI tells so where no user was named" },
  { said: /completion, \.usage is null/, why: "the SDK declares events of a stream as if each were the last" },
  { said: /\.tool_calls\[\d+\]\.type is "custom"/, why: "OpenAI streams calls in free text, and the SDK lacks them" },
  {
    said: /error is \{"type":"(request_too_large|conflict_error)"/,
    why: "a kind of Anthropic's errors that its SDK lacks",
  },
  {
    said: /error\.code is "(context_length_exceeded|insufficient_quota)"/,
    why: "OpenAI sends them and coding agents act on them; the SDK lacks them",
  },
  {
    said: /chatEvent, \.choices\.\d+\.delta\.tool_calls\.\d+\.type must be equal/,
    why: "OpenAI streams calls in free text, and its document lacks them",
  },
  {
    said: /response(Event)?, (\.response)?\.tools\.\d+\.tools must NOT have fewer than 1 items/,
    why: "a namespace without tools is echoed as it was asked",
  },
  { said: /embeddings, the whole lacks usage/, why: "an upstream that reports none is told as it was" },
  { said: /\.usage\.prompt_tokens is "NaN"/, why: "an upstream that lies is told as it was" },
  { said: /completion, \.object is "chat\.completion"/, why: "a fake upstream that has no completions of a text" },
];
