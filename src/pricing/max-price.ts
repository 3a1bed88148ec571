/** The dearest of the prices of all targets that may answer for one model. Pure. */
import assert from "node:assert/strict";
import type { Price, PriceTier, ServiceTierPrice, TokenPrices, ToolPrice } from "../api/index.js";
import { type Bracket, bracketFor, rateOf, ratesOf } from "./rates.js";
import { dearerRate } from "./meter-price.js";
import { greater } from "../base/money.js";

/**
 * Component by component and tier by tier, so that it covers each of the prices. A service tier, a tool or a unit that
 * one of them does not price is left out: nobody knows what it costs there. At least one price.
 */
export function maxPrice(prices: readonly Price[]): Price {
  const [first, ...others] = prices;
  assert(first !== undefined, "a model has at least one target, and each has a price");
  return others.reduce(dearer, first);
}

function dearer(a: Price, b: Price): Price {
  const [ratesA, ratesB] = [ratesOf(a), ratesOf(b)];
  const serviceTiers: ServiceTierPrice[] = [];
  for (const [name, brackets] of ratesA.serviceTiers) {
    const others = ratesB.serviceTiers.get(name);
    if (others !== undefined) serviceTiers.push({ name, ...dearerBrackets(brackets, others) });
  }
  const tools: ToolPrice[] = [];
  for (const [name, callPicos] of ratesA.tools) {
    const other = ratesB.tools.get(name);
    if (other !== undefined) tools.push({ name, callPicos: greater(callPicos, other) });
  }
  const { prices, tiers } = dearerBrackets(ratesA.ordinary, ratesB.ordinary);
  const rates = [...a.rates, ...b.rates].flatMap(({ unit, variant }, place, all) => {
    if (all.findIndex((rate) => rate.unit === unit && rate.variant === variant) !== place) return [];
    const [one, other] = [rateOf(a, { unit, variant }), rateOf(b, { unit, variant })];
    return one === undefined || other === undefined ? [] : [{ ...dearerRate(one, other), unit, variant }];
  });
  const tokensUnpriced = a.tokensUnpriced || b.tokensUnpriced;
  return { ...prices, tiers, serviceTiers, tools, rates, tokensUnpriced };
}

/** Wherever one of them begins a tier, a tier begins. */
function dearerBrackets(
  a: readonly Bracket[],
  b: readonly Bracket[],
): { readonly prices: TokenPrices; readonly tiers: PriceTier[] } {
  const starts = new Set([...a, ...b].map((bracket) => bracket.aboveInputTokens));
  starts.delete(0n);
  const at = (inputTokens: bigint): TokenPrices =>
    dearerPrices(bracketFor(a, inputTokens).prices, bracketFor(b, inputTokens).prices);
  const tiers = [...starts].toSorted((one, other) => (one < other ? -1 : 1));
  return {
    prices: at(0n),
    tiers: tiers.map((aboveInputTokens) => ({ aboveInputTokens, prices: at(aboveInputTokens + 1n) })),
  };
}

function dearerPrices(a: TokenPrices, b: TokenPrices): TokenPrices {
  return {
    inputPicos: greater(a.inputPicos, b.inputPicos),
    cacheReadPicos: greater(a.cacheReadPicos, b.cacheReadPicos),
    cacheWritePicos: greater(a.cacheWritePicos, b.cacheWritePicos),
    cacheWrite1hPicos: greater(a.cacheWrite1hPicos, b.cacheWrite1hPicos),
    outputPicos: greater(a.outputPicos, b.outputPicos),
    reasoningPicos: greater(a.reasoningPicos, b.reasoningPicos),
    imagePicos: greater(a.imagePicos, b.imagePicos),
    audioInputPicos: greater(a.audioInputPicos, b.audioInputPicos),
    audioOutputPicos: greater(a.audioOutputPicos, b.audioOutputPicos),
    requestPicos: greater(a.requestPicos, b.requestPicos),
  };
}
