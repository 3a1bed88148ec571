/** Usage times price, in whole units. */
import type { Price, TokenPrices, ToolUse, Usage } from "../api/index.js";
import { picosToNanos } from "../money.js";
import { bracketFor, ratesOf } from "./rates.js";

/** How an answer was served, where that changes its price. */
export interface Served {
  /** As `serviceTierOf` says it: empty for the ordinary tier. */
  readonly serviceTier: string;
  /** Calls of tools that the upstream ran. */
  readonly toolUses: readonly ToolUse[];
}

export const PLAINLY_SERVED: Served = { serviceTier: "", toolUses: [] };

/**
 * What a usage costs at a price, in nano-USD, rounded up once. The length of the input picks the tier for all of it. A
 * service tier without a price costs what the ordinary one does, and a tool without a price nothing.
 */
export function costNanos(usage: Usage, price: Price, served: Served = PLAINLY_SERVED): bigint {
  const { ordinary, serviceTiers, tools } = ratesOf(price);
  const brackets = served.serviceTier === "" ? ordinary : (serviceTiers.get(served.serviceTier) ?? ordinary);
  let picos = tokenPicos(usage, bracketFor(brackets, inputTokens(usage)).prices);
  for (const { name, calls } of served.toolUses) picos += calls * (tools.get(name) ?? 0n);
  return picosToNanos(picos);
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
    usage.audioOutputTokens * prices.audioOutputPicos +
    prices.requestPicos
  );
}

/** All that was read, cached or not. */
function inputTokens(usage: Usage): bigint {
  const cached = usage.cacheReadTokens + usage.cacheWriteTokens + usage.cacheWrite1hTokens;
  return usage.inputTokens + cached + usage.imageTokens + usage.audioInputTokens;
}
