/** Checks whether an upstream's usage report can be true, before an account is charged by it. */
import type { Usage } from "../api/index.js";
import { generatedTokens, NO_USAGE, totalTokens } from "../api/usage.js";
import type { AnswerReport } from "../wire/wire.js";

/**
 * What is wrong with a report: it is missing from a complete answer, or after its text; a side is zero although
 * something was read and generated; it holds what is not a count; it is beyond what any model can read or write.
 * `above_limit`: more output than was allowed, or more was delivered. Only the limit is charged.
 * `above_input`: more input than the request can have in all rounds that it allows. Only that is charged.
 * `below_count`: less than the text of all choices, or than all prompts. A count is charged.
 * `above_hold`: charged as reported, since rounds of the upstream's own tools explain it. The account pays from its
 * available balance, and the operator pays the rest.
 */
export type UsageDoubt =
  | ("missing" | "zero" | "broken" | "absurd")
  | ("below_count" | "above_limit" | "above_input" | "above_hold");

// An answer in several rounds reads its context in each of them, so one context is no bound.
const CONTEXTS_MAX = 100;
const CONTEXT_TOKENS_UNKNOWN = 10_000_000;
// How far a true report may be below a count of ours.
const TOKENIZERS_DIFFER = 2;
const CERTAIN_DIFFERS = 1.05;
const CERTAIN_TOKENS_DIFFER = 8;
// How far it may be below an estimate before the text is counted.
const ESTIMATES_DIFFER = 1.3;
const ESTIMATED_TOKENS_DIFFER = 8;

/** What is wrong with a report at first sight. `ended`: the answer is complete, so its usage should have arrived. */
export function doubtOf(
  report: AnswerReport,
  contextTokens: number,
  ended: boolean,
  repeatsInput = false,
): UsageDoubt | undefined {
  const { usage, usageBroken, made } = report;
  if (usageBroken === true) return "broken";
  // A cut answer never came to tell its usage: no lie.
  if (usage === undefined) return ended ? "missing" : undefined;
  const generated = generatedTokens(usage);
  const total = totalTokens(usage);
  if (made === "content" && total === 0) return "zero";
  // A stream that was cut may have been told its input alone.
  if (hasText(report) && (total === Number(generated) || (ended && generated === 0n && !repeatsInput))) return "zero";
  const most = CONTEXTS_MAX * (contextTokens > 0 ? contextTokens : CONTEXT_TOKENS_UNKNOWN);
  return total > most ? "absurd" : undefined;
}

/** True if any text was delivered, whether or not it is kept. */
export function hasText({ grown, text }: AnswerReport): boolean {
  return grown === undefined ? text !== "" : grown.length > 0;
}

/** The tokens of a text by our own count, and how many of them are certain. */
export interface TextCount {
  readonly tokens: number;
  readonly certainTokens: number;
}

/**
 * True if the reported tokens are too few for the text: fewer than its certain tokens (with a margin for cuts between
 * pieces), or less than half of our count, since no tokenizer makes less than half of another's tokens.
 */
export function isTooLow(told: bigint, { tokens, certainTokens }: TextCount): boolean {
  const most = Number(told);
  return most * TOKENIZERS_DIFFER < tokens || most * CERTAIN_DIFFERS + CERTAIN_TOKENS_DIFFER < certainTokens;
}

/** True if the text must be counted to decide. */
export function mayBeTooLow(told: bigint, estimatedTokens: number): boolean {
  return Number(told) * ESTIMATES_DIFFER + ESTIMATED_TOKENS_DIFFER < estimatedTokens;
}

/** Input tokens by count, output tokens as reported. */
export function withCountedInput(usage: Usage, tokens: number): Usage {
  return { ...NO_USAGE, ...generatedOf(usage), inputTokens: BigInt(tokens), meters: usage.meters };
}

function generatedOf({ outputTokens, reasoningTokens, audioOutputTokens }: Usage): Partial<Usage> {
  return { outputTokens, reasoningTokens, audioOutputTokens };
}

/** Output tokens by count, input tokens as reported. */
export function withCountedOutput(
  usage: Usage,
  { tokens, audioTokens }: { readonly tokens: number; readonly audioTokens: number },
): Usage {
  return { ...usage, outputTokens: BigInt(tokens), reasoningTokens: 0n, audioOutputTokens: BigInt(audioTokens) };
}
