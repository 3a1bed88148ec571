/** What a prompt sets beside what it says, as Claude's wires take it: sampling, stop strings, the answer's form. */
import type { OutputFormat, Prompt } from "../../../api/index.js";
import { unsupported } from "../../error/refusals.js";
import { checkedJson, jsonOf } from "../../json/text.js";
import { JSON_HINT } from "../../request/hints.js";
import { answerSchema } from "./encode-schema.js";
import type { ThinkingContext } from "./encode-thinking.js";

const TOP_P_MIN_THINKING = 0.95;

/** Throws PARAMETER_UNSUPPORTED for what would make another answer of it. */
export function checkMeaning(prompt: Prompt, candidateCount: number, context: { readonly model: string }): void {
  if (candidateCount > 1) throw unsupported("n", "only one answer is supported", context);
  if (prompt.logprobs === true) throw unsupported("logprobs", "log probabilities are not supported", context);
  if ((prompt.topLogprobs ?? 0) > 0) throw unsupported("top_logprobs", "log probabilities are not supported", context);
}

/** Names what has no place on these wires and changes no meaning. */
export function dropSettings(prompt: Prompt, hasUser: boolean, drop: (param: string) => void): void {
  if (prompt.seed !== undefined) drop("seed");
  if (prompt.presencePenalty !== undefined && prompt.presencePenalty !== 0) drop("presence_penalty");
  if (prompt.frequencyPenalty !== undefined && prompt.frequencyPenalty !== 0) drop("frequency_penalty");
  if (Object.keys(prompt.logitBias).length > 0) drop("logit_bias");
  if (Object.keys(prompt.metadata).length > 0) drop("metadata");
  if (prompt.user !== undefined && !hasUser) drop("user");
  if (prompt.verbosity !== undefined) drop("verbosity");
  if (prompt.promptCacheKey !== undefined) drop("prompt_cache_key");
}

/** How words are picked, as JSON. */
export interface Sampling {
  readonly temperature: string | undefined;
  readonly topP: string | undefined;
  readonly topK: string | undefined;
}

/** `isThinking` says whether the model thinks: while it does, it takes its own temperature. */
export function encodeSampling(
  { temperature, topP, topK }: Prompt,
  isThinking: boolean,
  { rules, drop }: ThinkingContext,
  takesTopK = true,
): Sampling {
  const mayPick = rules.sampling !== "none";
  const hasTemperature = temperature !== undefined && mayPick && !isThinking;
  const mayHaveBoth = rules.sampling === "both" || !hasTemperature;
  const hasTopP = topP !== undefined && mayPick && mayHaveBoth && (!isThinking || topP >= TOP_P_MIN_THINKING);
  const hasTopK = topK !== undefined && mayPick && takesTopK && !isThinking;
  if (temperature !== undefined && !hasTemperature) drop("temperature");
  if (topP !== undefined && !hasTopP) drop("top_p");
  if (topK !== undefined && !hasTopK) drop("top_k");
  return {
    // That the highest is 1 on every wire is remembered.
    temperature: hasTemperature ? jsonOf(Math.min(1, temperature)) : undefined,
    topP: hasTopP ? jsonOf(topP) : undefined,
    topK: hasTopK ? jsonOf(topK) : undefined,
  };
}

/** Strings that are blank are refused, and end no answer that means anything. */
export function encodeStop(prompt: Prompt, drop: (param: string) => void): string | undefined {
  const stop = prompt.stop.filter((text) => text.trim() !== "");
  if (stop.length < prompt.stop.length) drop("stop");
  return stop.length === 0 ? undefined : JSON.stringify(stop);
}

/** The schema of the answer, as these wires take it; undefined where none is asked for. */
export function schemaOf(format: OutputFormat | undefined): string | undefined {
  if (format?.kind?.$case !== "jsonSchema" || format.kind.value.schemaJson === undefined) return undefined;
  return answerSchema(checkedJson(format.kind.value.schemaJson, "response_format.json_schema.schema") ?? "{}");
}

/** What the model is told in words: that it answers in JSON where no schema binds it, and what its tools want. */
export function hintsOf(
  format: OutputFormat | undefined,
  schema: string | undefined,
  nudge: string | undefined,
): readonly string[] {
  const kind = format?.kind?.$case;
  const isLoose = kind === "jsonObject" || (kind === "jsonSchema" && schema === undefined);
  return [isLoose ? JSON_HINT : undefined, nudge].filter((hint) => hint !== undefined);
}
