/** Counting what a request reads and an answer says, where the upstream does not tell. */
import type { Part, Usage } from "../api/index.js";
import { NO_USAGE } from "../api/usage.js";
import { modelTokens } from "../pricing/model-tokens.js";
import { estimateTokens } from "../pricing/text-runs.js";
import { type CountFor, countTokens, countTokensExactly } from "../pricing/tokens.js";
import { templateTokensMax } from "../pricing/input-bound.js";
import type { EmbeddingQuestion, LongBody, LongText, WireRequest } from "../wire/wire.js";

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
  const readable = request.long === undefined ? readableInput(request) : await longText(request.long);
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
  const { encoding, exact } = modelTokens(modelId);
  if (!exact) return undefined;
  const { facts } = request;
  if (facts.imageCount + facts.fileCount + facts.audioCount > 0) return undefined;
  const input = request.long === undefined ? readableInput(request) : await longText(request.long);
  if (input === undefined) return undefined;
  const { messages, text } = input;
  const tokens = await countTokensExactly(text, encoding, countFor);
  if (tokens === undefined) return undefined;
  const frames = 16 * Math.max(messages, facts.inputCount ?? 0);
  return Math.ceil((tokens + input.tokens) * 1.05) + frames + templateTokensMax(facts);
}

/** Undefined also where the thread has no room: a settlement that asks must not fail. */
function longText(long: LongBody): Promise<LongText | undefined> {
  return long.text().catch(() => undefined);
}

/** The request as its client wrote it, or all texts of one that came typed. */
export function textBytesOf(request: WireRequest): Buffer {
  return request.source?.body ?? Buffer.from(readableInput(request)?.text ?? "");
}

interface InputText extends LongText {
  readonly text: string;
}

/** Undefined where the typed form cannot hold the request. */
export function readableInput(request: WireRequest): InputText | undefined {
  try {
    return inputText(request);
  } catch {
    return undefined;
  }
}

function inputText(request: WireRequest): InputText {
  if (request.embedding !== undefined) return embeddingText(request.embedding);
  const prompt = request.prompt();
  const texts: string[] = [];
  for (const message of prompt.messages) for (const part of message.parts) collectText(part, texts);
  for (const tool of prompt.tools) texts.push(JSON.stringify(tool.kind?.value ?? {}));
  if (prompt.outputFormat?.kind?.$case === "jsonSchema") texts.push(prompt.outputFormat.kind.value.schemaJson ?? "");
  return { messages: prompt.messages.length, text: texts.join("\n"), tokens: 0 };
}

function embeddingText(question: EmbeddingQuestion): InputText {
  const texts: string[] = [];
  let tokens = 0;
  for (const input of question.inputs()) {
    if (typeof input === "string") texts.push(input);
    else tokens += input.length;
  }
  return { messages: 0, text: texts.join("\n"), tokens };
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

/** All tokens of a usage. */
export function totalTokens(usage: Usage): number {
  return Number(readTokens(usage) + generatedTokens(usage));
}

/** The tokens that the model read, cached or not. */
export function readTokens(usage: Usage): bigint {
  const cached = usage.cacheReadTokens + usage.cacheWriteTokens + usage.cacheWrite1hTokens;
  return usage.inputTokens + cached + usage.imageTokens + usage.audioInputTokens;
}

/** The tokens that the model generated. */
export function generatedTokens(usage: Usage): bigint {
  return usage.outputTokens + usage.reasoningTokens + usage.audioOutputTokens;
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

// How far back a note looks for a place to cut at.
const WORD_CHARACTERS_MAX = 200;
const LETTER = /\p{L}/u;
// A mark belongs to its letter, and what follows an apostrophe may; half a pair is no character.
const GOES_ON = /[\p{L}\p{M}\p{N}\p{Cs}'\u2019]/u;

/**
 * Where to cut a text that still grows: behind its last whole word, in any script. No token crosses that place, so the
 * counts of the pieces are the count of the whole. Undefined where there is none close by.
 */
export function wordEnd(text: string, start: number): number | undefined {
  const least = Math.max(start + 1, text.length - WORD_CHARACTERS_MAX);
  for (let at = text.length - 1; at >= least; at -= 1) {
    if (!GOES_ON.test(text.charAt(at)) && LETTER.test(text.charAt(at - 1))) return at;
  }
  return undefined;
}

// Every tokenizer of the field splits text first by a pattern like this one and makes at least one token of each piece.
const WORD = String.raw`[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+(?:'(?:[sdmt]|ll|ve|re))?`;
const REST = String.raw`\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`;
const PIECES = new RegExp(`${WORD}|${REST}`, "giu");

/** A number of tokens that the text has at least: for a note that cannot wait for the count. */
export function tokensAtLeast(text: string): number {
  let count = 0;
  PIECES.lastIndex = 0;
  while (PIECES.test(text)) count += 1;
  return count;
}

function collectText(part: Part, texts: string[]): void {
  const kind = part.kind;
  switch (kind?.$case) {
    case "text":
    case "thinking":
    case "refusal":
      texts.push(kind.value.text);
      return;
    case "toolCall":
      texts.push(kind.value.name, kind.value.arguments);
      return;
    case "toolResult":
      for (const inner of kind.value.parts) collectText(inner, texts);
      return;
    case "opaque":
      texts.push(kind.value.json);
      return;
    case "redactedThinking":
    case "image":
    case "file":
    case "audio":
    case undefined:
      return;
    default:
      kind satisfies never;
  }
}
