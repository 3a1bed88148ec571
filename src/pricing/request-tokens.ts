/** How many tokens a request reads, by count or by estimate, where its upstream does not tell. */
import type { Usage } from "../api/index.js";
import { generatedTokens, NO_USAGE, totalTokens } from "../api/usage.js";
import type { LongText, WireRequest } from "../wire/wire.js";
import { templateTokensMax } from "./input-bound.js";
import { modelTokens } from "./model-tokens.js";
import { inputText, readableInput, textOf } from "./request-text.js";
import { estimateTokens } from "./text-runs.js";
import { tokensAtLeast } from "./text-pieces.js";
import { type CountFor, countOrEstimate, countTokens, countTokensExactly } from "./tokens.js";

// A picture of common size at common detail; where it matters, the upstream reports.
const IMAGE_TOKENS = 765;
// What stands around one message: its start, its role, its text's start and its end.
const MESSAGE_TOKENS = 4;
// Behind the last message: the start of the answer, and its role.
const REPLY_TOKENS = 2;

/**
 * Tokens of the request's input, as a model's tokenizer counts its text, or near that. Throws PARAMETER_* where the
 * typed form cannot hold the request.
 */
export async function countInput(request: WireRequest, modelId: string, countFor?: CountFor): Promise<number> {
  const long = await request.long?.text();
  return countText(long ?? inputText(request), request.facts.imageCount, modelId, countFor);
}

/**
 * The same, and undefined in place of a refusal: an upstream of the request's own wire may take what our typed form
 * cannot hold.
 */
export async function countReadable(
  request: WireRequest,
  modelId: string,
  countFor?: CountFor,
): Promise<number | undefined> {
  const readable = await textOf(request);
  return readable === undefined ? undefined : countText(readable, request.facts.imageCount, modelId, countFor);
}

/** How much of a body is looked at for an estimate; the rest is taken to be like it. */
const ESTIMATED_BYTES_MAX = 262_144;

/** The input by its bytes alone. */
export function estimateInput(request: WireRequest): number {
  const body = request.source?.body;
  if (body === undefined) return 0;
  const text = body.toString("utf8", 0, ESTIMATED_BYTES_MAX);
  return body.length <= ESTIMATED_BYTES_MAX
    ? estimateTokens(text)
    : Math.ceil((estimateTokens(text) * body.length) / ESTIMATED_BYTES_MAX);
}

async function countText(
  input: LongText,
  imageCount: number,
  modelId: string,
  countFor: CountFor | undefined,
): Promise<number> {
  return inputTokens(input, await countTokens(input.text, modelId, countFor), imageCount);
}

/** All that is read, of whose text the tokens are known. */
function inputTokens(input: LongText, textTokens: number, imageCount: number): number {
  const frame = input.messages === 0 ? 0 : input.messages * MESSAGE_TOKENS + REPLY_TOKENS;
  return input.tokens + textTokens + imageCount * IMAGE_TOKENS + frame;
}

/** True where our count of the request is that of each of the models, and no estimate. */
export function isCountExact({ facts }: WireRequest, modelIds: readonly string[]): boolean {
  const hasMedia = facts.imageCount + facts.fileCount + facts.audioCount > 0;
  return !hasMedia && modelIds.every((id) => modelTokens(id).exact);
}

/**
 * An upper bound of the input by counting, for a hold that the cheap bound is too dear for; undefined where media or
 * its length make it impossible, or where the model's tokenizer is not ours. A twentieth and sixteen tokens for each
 * message cover what a chat template adds to it.
 */
export async function boundInput(
  request: WireRequest,
  modelId: string,
  countFor?: CountFor,
): Promise<number | undefined> {
  if (!isCountExact(request, [modelId])) return undefined;
  const { facts } = request;
  const input = await textOf(request);
  if (input === undefined) return undefined;
  const { messages, text } = input;
  const tokens = await countTokensExactly(text, modelTokens(modelId).encoding, countFor);
  if (tokens === undefined) return undefined;
  const frames = 16 * Math.max(messages, facts.inputCount ?? 0);
  return Math.ceil((tokens + input.tokens) * 1.05) + frames + templateTokensMax(facts);
}

/**
 * A usage by count. Never rejects, since a settlement depends on it: a request that an upstream of its own wire took
 * although our typed form cannot hold it is estimated from its bytes.
 */
export async function countUsage(
  request: WireRequest,
  outputTokens: number | Promise<number>,
  modelId: string,
  inputTokensMax: number,
  account: string,
): Promise<Usage> {
  const lane = "settlement";
  const [counted, output] = await Promise.all([
    countReadable(request, modelId, { account, lane, tokensMax: inputTokensMax }),
    outputTokens,
  ]);
  const input = counted ?? estimateInput(request);
  return { ...NO_USAGE, inputTokens: BigInt(Math.min(input, inputTokensMax)), outputTokens: BigInt(output) };
}

/**
 * The tokens of the prompts of a request, without what a template adds; undefined where no text of it can be read.
 * Never rejects.
 */
export async function countPrompts(
  request: WireRequest,
  modelId: string,
  account: string,
): Promise<{ readonly tokens: number; readonly certainTokens: number } | undefined> {
  const readable = await textOf(request);
  if (readable === undefined) return undefined;
  const { tokens, certainTokens } = await countOrEstimate(readable.text, modelId, { account, lane: "settlement" });
  // A line end stands between two prompts, and a token is one for certain.
  const more = readable.tokens - Math.max(0, readable.messages - 1);
  return { tokens: Math.max(0, tokens + more), certainTokens: Math.max(0, certainTokens + more) };
}

// Of a longer text the fewest tokens leave too much open, and looking for them takes too long.
const SHORT_CHARACTERS_MAX = 4_000;
const OPEN_TOKENS_MAX = 1_000;

/**
 * What a request read, for a note: as its upstream told so far, else the fewest tokens that a short text can be.
 * Undefined where that may be more than a thousand tokens too few, and only a count will do.
 */
export function readAtLeast(told: Usage | undefined, request: WireRequest, inputTokensMax: number): Usage | undefined {
  const isTold = told !== undefined && totalTokens(told) > Number(generatedTokens(told));
  if (isTold) return { ...told, outputTokens: 0n, reasoningTokens: 0n, audioOutputTokens: 0n };
  const input = request.long === undefined ? readableInput(request) : undefined;
  if (input === undefined || input.text.length > SHORT_CHARACTERS_MAX) return undefined;
  const least = tokensAtLeast(input.text);
  if (Buffer.byteLength(input.text) - least > OPEN_TOKENS_MAX) return undefined;
  const tokens = inputTokens(input, least, request.facts.imageCount);
  return { ...NO_USAGE, inputTokens: BigInt(Math.min(tokens, inputTokensMax)) };
}
