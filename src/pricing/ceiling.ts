/** The most that a request can cost, and the longest answer that an amount can pay. Pure. */
import type { Meter, Price, ToolUse } from "../api/index.js";
import { greater, picosToNanos } from "../base/money.js";
import { meterPicosMax } from "./meter-price.js";
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
  /** The most of each unit that is no token, of whatever kind. */
  readonly metersMax?: readonly Meter[] | undefined;
}

/**
 * The most that a request within these bounds can cost, in nano-USD: in the dearest tier that its bounds allow, every
 * input token at the dearest input price, every output token at the dearest output price, the price of the request,
 * every call of a tool, and the most of every other unit. Rounded up once: no usage within the bounds costs more.
 */
export function ceilingNanos(bounds: RequestBounds, price: Price): bigint {
  const { ordinary, serviceTiers } = ratesOf(price);
  const outputTokens = BigInt(bounds.outputTokensMax) * BigInt(bounds.candidateCount);
  let most = mostPicos(bounds, outputTokens, ordinary);
  const asked = bounds.serviceTier ? serviceTiers.get(bounds.serviceTier) : undefined;
  if (asked !== undefined) most = greater(most, mostPicos(bounds, outputTokens, asked));
  return picosToNanos(most + otherPicos(bounds, price));
}

/**
 * The longest answer that `amountNanos` can pay: the largest output limit for each candidate, up to the one in
 * `bounds`, whose ceiling is at most that amount. 0 where not even the prompt can be paid.
 */
export function affordableOutputTokens(bounds: RequestBounds, price: Price, amountNanos: bigint): number {
  const { ordinary, serviceTiers } = ratesOf(price);
  // Picos round up to at most the amount exactly while they are at most 1,000 times the amount.
  const leftPicos = amountNanos * 1000n - otherPicos(bounds, price);
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

/** What is no token: calls of tools, and other units. */
function otherPicos({ toolCallsMax, metersMax }: RequestBounds, price: Price): bigint {
  let picos = metersMax === undefined ? 0n : meterPicosMax(metersMax, price);
  if (toolCallsMax === undefined) return picos;
  const { tools } = ratesOf(price);
  for (const { name, calls } of toolCallsMax) picos += calls * (tools.get(name) ?? 0n);
  return picos;
}
