/** The most that a request can cost, and the longest answer that an amount can pay. Pure. */
import type { Price, ToolUse } from "../api/index.js";
import { greater, picosToNanos } from "../base/money.js";
import { type Bracket, ratesOf } from "./rates.js";

/** The most that a request can use. Whole numbers of at least 0. */
export interface RequestBounds {
  /** Tokens of the prompt, of whatever kind. It is charged once, however many candidates there are. */
  readonly inputTokensMax: number;
  /** Output tokens for each candidate: what the upstream is told. */
  readonly outputTokensMax: number;
  readonly candidateCount: number;
  /** The service tier that is asked for, as `serviceTierOf` says it. An upstream may serve the ordinary one instead. */
  readonly serviceTier?: string | undefined;
  /** The most calls of each tool that the upstream runs. */
  readonly toolCallsMax?: readonly ToolUse[] | undefined;
}

/**
 * The most that a request within these bounds can cost, in nano-USD: in the dearest tier that its bounds allow, every
 * input token at the dearest input price, every output token at the dearest output price, the price of the request, and
 * every call of a tool. Rounded up once, so that no usage within the bounds costs more.
 */
export function ceilingNanos(bounds: RequestBounds, price: Price): bigint {
  const { ordinary, serviceTiers } = ratesOf(price);
  const outputTokens = BigInt(bounds.outputTokensMax) * BigInt(bounds.candidateCount);
  let most = mostPicos(bounds, outputTokens, ordinary);
  const asked = bounds.serviceTier ? serviceTiers.get(bounds.serviceTier) : undefined;
  if (asked !== undefined) most = greater(most, mostPicos(bounds, outputTokens, asked));
  return picosToNanos(most + toolPicos(bounds, price));
}

/**
 * The longest answer that `amountNanos` can pay: the largest output limit for each candidate, up to the one in
 * `bounds`, whose ceiling is at most that amount. 0 where not even the prompt can be paid.
 */
export function affordableOutputTokens(bounds: RequestBounds, price: Price, amountNanos: bigint): number {
  const { ordinary, serviceTiers } = ratesOf(price);
  // Picos round up to at most the amount exactly while they are at most 1,000 times the amount.
  const leftPicos = amountNanos * 1000n - toolPicos(bounds, price);
  const affordable = affordableIn(bounds, leftPicos, ordinary);
  const asked = bounds.serviceTier ? serviceTiers.get(bounds.serviceTier) : undefined;
  return asked === undefined ? affordable : Math.min(affordable, affordableIn(bounds, leftPicos, asked));
}

function mostPicos(bounds: RequestBounds, outputTokens: bigint, brackets: readonly Bracket[]): bigint {
  const inputTokens = BigInt(bounds.inputTokensMax);
  let most = 0n;
  for (let at = 0; at < brackets.length; at += 1) {
    const bracket = brackets[at];
    if (bracket === undefined || (at > 0 && inputTokens <= bracket.aboveInputTokens)) break;
    const picos = fixedPicos(bracket, inputTokens, brackets[at + 1]) + outputTokens * bracket.dearestOutputPicos;
    if (picos > most) most = picos;
  }
  return most;
}

function affordableIn(bounds: RequestBounds, amountPicos: bigint, brackets: readonly Bracket[]): number {
  const inputTokens = BigInt(bounds.inputTokensMax);
  let affordable = bounds.outputTokensMax;
  for (let at = 0; at < brackets.length; at += 1) {
    const bracket = brackets[at];
    if (bracket === undefined || (at > 0 && inputTokens <= bracket.aboveInputTokens)) break;
    const leftPicos = amountPicos - fixedPicos(bracket, inputTokens, brackets[at + 1]);
    if (leftPicos < 0n) return 0;
    const picosPerToken = bracket.dearestOutputPicos * BigInt(bounds.candidateCount);
    if (picosPerToken === 0n) continue;
    const tokens = leftPicos / picosPerToken;
    if (tokens < BigInt(affordable)) affordable = Number(tokens);
  }
  return affordable;
}

/** What does not depend on the length of the answer: the longest input of the bracket, and the request. */
function fixedPicos(bracket: Bracket, inputTokensMax: bigint, next: Bracket | undefined): bigint {
  const isCut = next !== undefined && next.aboveInputTokens < inputTokensMax;
  const inputTokens = isCut ? next.aboveInputTokens : inputTokensMax;
  return inputTokens * bracket.dearestInputPicos + bracket.prices.requestPicos;
}

function toolPicos({ toolCallsMax }: RequestBounds, price: Price): bigint {
  if (toolCallsMax === undefined) return 0n;
  const { tools } = ratesOf(price);
  let picos = 0n;
  for (const { name, calls } of toolCallsMax) picos += calls * (tools.get(name) ?? 0n);
  return picos;
}
