/** Usage times price, in whole units. */
import { USAGE_FIELDS } from "../api/usage.js";
import type { Price, TokenPrices, ToolUse, Usage } from "../api/index.js";
import { greater, picosToNanos } from "../base/money.js";
import { meterPicos } from "./meter-price.js";
import { type Bracket, bracketFor, ratesOf } from "./rates.js";

/** How an answer was served, where that changes its price. */
export interface Served {
  /** As `serviceTierOf` says it: empty for the ordinary tier. */
  readonly serviceTier: string;
  /** Calls of tools that the upstream ran. */
  readonly toolUses: readonly ToolUse[];
  /** The rounds whose sum the usage is. Absent: it is of one. */
  readonly rounds?: Rounds | undefined;
}

/** The rounds of an answer that went on behind calls of tools that the upstream ran: each read an input of its own. */
export interface Rounds {
  /** How many there can have been; at least 2. */
  readonly countMax: number;
  /** Absent where only their sum was told. */
  readonly usages?: readonly Usage[] | undefined;
}

const PLAINLY_SERVED: Served = { serviceTier: "", toolUses: [] };

/**
 * What a usage costs at a price, in nano-USD, rounded up once. The length of the input picks the tier for all of it; of
 * several rounds each has its own, or, where only their sum is known, the cheapest that it allows. A service tier
 * without a price costs what the ordinary one does, and a tool or a meter without a price nothing.
 */
export function costNanos(usage: Usage, price: Price, served: Served = PLAINLY_SERVED): bigint {
  const { ordinary, serviceTiers, tools } = ratesOf(price);
  const brackets = served.serviceTier === "" ? ordinary : (serviceTiers.get(served.serviceTier) ?? ordinary);
  let picos = roundPicos(usage, brackets, served.rounds);
  for (const { name, calls } of served.toolUses) picos += calls * (tools.get(name) ?? 0n);
  if (usage.meters.length > 0) picos += meterPicos(usage.meters, price);
  return picosToNanos(picos);
}

function roundPicos(usage: Usage, brackets: readonly Bracket[], rounds: Rounds | undefined): bigint {
  const input = inputTokens(usage);
  if (rounds === undefined) return usagePicos(usage, bracketFor(brackets, input).prices);
  const { usages, countMax } = rounds;
  if (usages === undefined || !isSumOf(usage, usages)) {
    // Each round may have read as much as any other.
    const count = BigInt(countMax);
    return usagePicos(usage, bracketFor(brackets, (input + count - 1n) / count).prices);
  }
  let picos = 0n;
  let requestPicos = 0n;
  for (const round of usages) {
    const { prices } = bracketFor(brackets, inputTokens(round));
    picos += tokenPicos(round, prices);
    // Asked once, however many rounds it took.
    requestPicos = greater(requestPicos, prices.requestPicos);
  }
  return picos + requestPicos;
}

/** False where the usage is another than the rounds', as one by count. */
function isSumOf(usage: Usage, rounds: readonly Usage[]): boolean {
  return USAGE_FIELDS.every((kind) => usage[kind] === rounds.reduce((sum, round) => sum + round[kind], 0n));
}

function usagePicos(usage: Usage, prices: TokenPrices): bigint {
  return tokenPicos(usage, prices) + prices.requestPicos;
}

function tokenPicos(usage: Usage, prices: TokenPrices): bigint {
  return (
    usage.inputTokens * prices.inputPicos +
    usage.cacheReadTokens * prices.cacheReadPicos +
    usage.cacheWriteTokens * prices.cacheWritePicos +
    usage.cacheWrite1hTokens * prices.cacheWrite1hPicos +
    usage.outputTokens * prices.outputPicos +
    usage.reasoningTokens * prices.reasoningPicos +
    usage.imageTokens * prices.imagePicos +
    usage.audioInputTokens * prices.audioInputPicos +
    usage.audioOutputTokens * prices.audioOutputPicos
  );
}

/** All that was read, cached or not. */
function inputTokens(usage: Usage): bigint {
  const cached = usage.cacheReadTokens + usage.cacheWriteTokens + usage.cacheWrite1hTokens;
  return usage.inputTokens + cached + usage.imageTokens + usage.audioInputTokens;
}
