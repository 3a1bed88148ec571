/** The most that a request can cost, and the longest answer that an amount can pay. Pure. */
import assert from "node:assert/strict";
import type { Price } from "../api/index.js";
import { picosToNanos } from "../money.js";

/** The most that a request can use. Whole numbers of at least 0. */
export interface RequestBounds {
  /** Tokens of the prompt, of whatever kind. It is charged once, however many candidates there are. */
  readonly inputTokensMax: number;
  /** Output tokens for each candidate: what the upstream is told. */
  readonly outputTokensMax: number;
  readonly candidateCount: number;
}

/**
 * The most that a request within these bounds can cost, in nano-USD: every input token at the dearest input price,
 * every output token at the dearest output price, and the price of the request. Rounded up once, so that no usage
 * within the bounds costs more.
 */
export function ceilingNanos(bounds: RequestBounds, price: Price): bigint {
  const outputTokens = BigInt(bounds.outputTokensMax) * BigInt(bounds.candidateCount);
  return picosToNanos(fixedPicos(bounds, price) + outputTokens * dearestOutputPicos(price));
}

/**
 * The longest answer that `amountNanos` can pay: the largest output limit for each candidate, up to the one in
 * `bounds`, whose ceiling is at most that amount. 0 where not even the prompt can be paid.
 */
export function affordableOutputTokens(bounds: RequestBounds, price: Price, amountNanos: bigint): number {
  // Picos round up to at most the amount exactly while they are at most 1,000 times the amount.
  const leftPicos = amountNanos * 1000n - fixedPicos(bounds, price);
  if (leftPicos < 0n) return 0;
  const picosPerToken = dearestOutputPicos(price) * BigInt(bounds.candidateCount);
  if (picosPerToken === 0n) return bounds.outputTokensMax;
  const affordable = leftPicos / picosPerToken;
  return affordable < BigInt(bounds.outputTokensMax) ? Number(affordable) : bounds.outputTokensMax;
}

/** The dearest of the prices of all targets that may answer, component by component. At least one price. */
export function dearest(prices: readonly Price[]): Price {
  const [first, ...others] = prices;
  assert(first !== undefined, "a model has at least one target, and each has a price");
  return others.reduce(dearer, first);
}

function dearer(a: Price, b: Price): Price {
  return {
    inputPicos: max(a.inputPicos, b.inputPicos),
    cacheReadPicos: max(a.cacheReadPicos, b.cacheReadPicos),
    cacheWritePicos: max(a.cacheWritePicos, b.cacheWritePicos),
    cacheWrite1hPicos: max(a.cacheWrite1hPicos, b.cacheWrite1hPicos),
    outputPicos: max(a.outputPicos, b.outputPicos),
    reasoningPicos: max(a.reasoningPicos, b.reasoningPicos),
    imagePicos: max(a.imagePicos, b.imagePicos),
    audioInputPicos: max(a.audioInputPicos, b.audioInputPicos),
    audioOutputPicos: max(a.audioOutputPicos, b.audioOutputPicos),
    requestPicos: max(a.requestPicos, b.requestPicos),
  };
}

/** What does not depend on the length of the answer. */
function fixedPicos(bounds: RequestBounds, price: Price): bigint {
  return BigInt(bounds.inputTokensMax) * dearestInputPicos(price) + price.requestPicos;
}

function dearestInputPicos(price: Price): bigint {
  // Whether a cache is read or written is the upstream's choice, so a hold must cover all of them.
  const { inputPicos, cacheReadPicos, cacheWritePicos, cacheWrite1hPicos, imagePicos, audioInputPicos } = price;
  return [cacheReadPicos, cacheWritePicos, cacheWrite1hPicos, imagePicos, audioInputPicos].reduce(max, inputPicos);
}

function dearestOutputPicos(price: Price): bigint {
  return max(max(price.outputPicos, price.reasoningPicos), price.audioOutputPicos);
}

function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
