/** The words by which upstreams say why an answer ended, of every family that is known, and the rule for all others. */
import { FinishReason } from "../../api/index.js";
import type { GatewayError } from "../../base/errors.js";
import { toldName } from "../error/redact.js";
import { upstreamFailed } from "../error/refusals.js";

const {
  FINISH_REASON_END: END,
  FINISH_REASON_STOP_STRING: STOP_STRING,
  FINISH_REASON_LENGTH: LENGTH,
  FINISH_REASON_CONTEXT_FULL: CONTEXT_FULL,
  FINISH_REASON_TOOL_CALLS: TOOL_CALLS,
  FINISH_REASON_BLOCKED: BLOCKED,
  FINISH_REASON_PAUSED: PAUSED,
  FINISH_REASON_MALFORMED: MALFORMED,
  FINISH_REASON_UNSPECIFIED: UNSPECIFIED,
} = FinishReason;

/** What a word says: a reason, or that the upstream failed and the answer before it is cut. */
export type Ending = FinishReason | "failed";

/** By the reason, so that a new word has one place. Upper case counts as lower case. */
const KNOWN_WORDS: readonly (readonly [ending: Ending, words: string])[] = [
  // OpenAI, TGI, Together, Cohere, Baidu, LM Studio, Anthropic.
  [END, "stop eos eos_token end end_turn complete completed normal finished stop_token eosfound"],
  // TGI, Cohere, Anthropic and Bedrock, LM Studio.
  [STOP_STRING, "stop_sequence stopstringfound"],
  // OpenAI and its Responses, Mistral, Gemini, LM Studio.
  [LENGTH, "length max_tokens model_length max_output_tokens max_completion_tokens maxpredictedtokensreached"],
  // Mistral, vLLM, LM Studio, Cohere: the answer was stopped on the way, and what came of it was generated.
  [LENGTH, "error_limit repetition userstopped user_cancel"],
  // Anthropic and Bedrock, GLM, LM Studio.
  [CONTEXT_FULL, "model_context_window_exceeded contextlengthreached"],
  // OpenAI, Anthropic and Bedrock, Cohere.
  [TOOL_CALLS, "tool_calls function_call tool_use tool_call toolcalls"],
  // OpenAI, GLM and Hunyuan, Anthropic, Bedrock, Cohere.
  [BLOCKED, "content_filter sensitive refusal content_filtered guardrail_intervened error_toxic"],
  // Gemini.
  [BLOCKED, "safety recitation language blocklist prohibited_content spii"],
  [BLOCKED, "image_safety image_prohibited_content image_recitation image_other"],
  // Anthropic, Gemini.
  [PAUSED, "pause_turn continuation"],
  // Gemini, Bedrock.
  [MALFORMED, "no_image malformed_function_call unexpected_tool_call too_many_tool_calls malformed_response"],
  [MALFORMED, "missing_thought_signature malformed_model_output malformed_tool_use"],
  // vLLM and SGLang, OpenRouter and Mistral, DeepSeek, GLM, Cohere, LM Studio.
  ["failed", "error abort insufficient_system_resource network_error timeout"],
  ["failed", "failed cancelled modelunloaded"],
  // Gemini: no reason that it has a word for.
  [UNSPECIFIED, "other finish_reason_unspecified"],
];

const ENDINGS: ReadonlyMap<string, Ending> = new Map(
  KNOWN_WORDS.flatMap(([ending, words]) => words.split(" ").map((word): [string, Ending] => [word, ending])),
);

/**
 * The rule for a word that no table has: what it is made of says whether the answer was cut, withheld or failed, in
 * this order. A word that says none of it ends the answer as `unknown` of the wire says.
 */
const STEMS: readonly (readonly [ending: Ending, stems: RegExp])[] = [
  ["failed", /error|fail|abort|cancel|interrupt|timeout|timed_out|unavailable|insufficient|overload|disconnect/],
  [MALFORMED, /malformed|invalid|unexpected/],
  [BLOCKED, /filter|safety|sensitiv|block|refus|moderat|guardrail|prohibit|policy|violat|toxic|censor/],
  [CONTEXT_FULL, /context/],
  [LENGTH, /length|max|limit|exceed|truncat|budget/],
];

/** What the word says. `unknown` is for a word that says nothing that can be understood. */
export function endingOf(word: string, unknown: FinishReason): Ending {
  const known = ENDINGS.get(word) ?? ENDINGS.get(word.toLowerCase());
  if (known !== undefined) return known;
  const lower = word.toLowerCase();
  return STEMS.find(([, stems]) => stems.test(lower))?.[0] ?? unknown;
}

/** The same for a wire that tells failures in another way: there a word of failure makes the answer malformed. */
export function finishReasonOf(word: string, unknown: FinishReason): FinishReason {
  const ending = endingOf(word, unknown);
  return ending === "failed" ? MALFORMED : ending;
}

/** The error of an answer that ended with this word. */
export function failedEnd(word: string): GatewayError {
  return upstreamFailed(`it ended the answer with '${toldName(word) || "a failure"}'`);
}

/** The error of a malformed answer, for a client whose wire has no word for such an end. */
export function malformedAnswer(): GatewayError {
  return upstreamFailed("the model's answer was malformed");
}

/** A reason that fits what came: an answer with calls waits for their results, and no other does. */
export function fittingReason(reason: FinishReason, hasCalls: boolean): FinishReason {
  const isPlain = reason === END || reason === UNSPECIFIED;
  if (isPlain && hasCalls) return TOOL_CALLS;
  return reason === TOOL_CALLS && !hasCalls ? END : reason;
}
