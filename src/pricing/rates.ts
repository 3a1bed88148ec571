/**
 * A price as it is computed with: what tokens cost by the length of the input, for each service tier. What a component
 * costs that a price does not name is in `token-prices.ts`. Pure.
 */
import type { Meter, Price, PriceTier, Rate, TokenPrices } from "../api/index.js";
import { serviceTierOf } from "../api/service-tier.js";
import { greater } from "../base/money.js";

/** What a request costs whose input has more than so many tokens, up to the next bracket's. */
export interface Bracket {
  readonly aboveInputTokens: bigint;
  readonly prices: TokenPrices;
  /** Of what an input token can be: whether a cache is read or written is the upstream's choice. */
  readonly dearestInputPicos: bigint;
  readonly dearestOutputPicos: bigint;
}

export interface Rates {
  /** Of the ordinary service tier, from the shortest input; at least one. */
  readonly ordinary: readonly Bracket[];
  readonly serviceTiers: ReadonlyMap<string, readonly Bracket[]>;
  /** Pico-USD for each call of a tool that the upstream runs. */
  readonly tools: ReadonlyMap<string, bigint>;
}

/** A price is one object for all requests that are admitted at it, so its rates are made once. */
const made = new WeakMap<Price, Rates>();

export function ratesOf(price: Price): Rates {
  const known = made.get(price);
  if (known !== undefined) return known;
  const tiers = price.serviceTiers.flatMap(({ name, prices, tiers }): [string, Bracket[]][] =>
    prices === undefined ? [] : [[name, bracketsOf(prices, tiers)]],
  );
  const rates: Rates = {
    ordinary: bracketsOf(price, price.tiers),
    serviceTiers: new Map(tiers),
    tools: new Map(price.tools.map(({ name, callPicos }) => [name, callPicos])),
  };
  made.set(price, rates);
  return rates;
}

/** The bracket of an input of so many tokens, cached ones counted. */
export function bracketFor(brackets: readonly Bracket[], inputTokens: bigint): Bracket {
  for (let at = brackets.length - 1; at > 0; at -= 1) {
    const bracket = brackets[at];
    if (bracket !== undefined && inputTokens > bracket.aboveInputTokens) return bracket;
  }
  const [first] = brackets;
  if (first === undefined) throw new Error("a price has at least one bracket");
  return first;
}

/** Pico-USD for each call of a hosted tool; undefined where the price says none, so that nobody may sell it. */
export function priceOfTool(price: Price, name: string): bigint | undefined {
  return ratesOf(price).tools.get(name);
}

/** True where the price says what a service tier costs; the ordinary one always has a price. */
export function hasServiceTier(price: Price, said: string): boolean {
  const tier = serviceTierOf(said);
  return tier === "" || ratesOf(price).serviceTiers.has(tier);
}

/** The rate of a unit and variant; undefined where the price says none, so that nobody may sell it. */
export function rateOf(
  { rates }: Pick<Price, "rates">,
  { unit, variant }: Pick<Meter, "unit" | "variant">,
): Rate | undefined {
  const ofUnit = rates.filter((rate) => rate.unit === unit);
  return ofUnit.find((rate) => rate.variant === variant) ?? ofUnit.find((rate) => rate.variant === "");
}

/**
 * True where a model at this price may be asked for something that uses the unit: a rate of one variant alone would
 * leave the others without a price. A free price has all units.
 */
export function isUnitPriced(price: Price, unit: string): boolean {
  if (unit === TOKEN) return !price.tokensUnpriced;
  return rateOf(price, { unit, variant: "" }) !== undefined || isFree(price);
}

/** How tokens are called where units are named: their quantities are the fields of a usage. */
const TOKEN = "token";

/** A model that costs nothing costs nothing in any tier, with any tool, and by any unit. */
export function isFree(price: Price): boolean {
  const { inputPicos, outputPicos, requestPicos, tiers, serviceTiers, tools, rates, tokensUnpriced } = price;
  const hasOthers = tokensUnpriced || tiers.length + serviceTiers.length + tools.length + rates.length > 0;
  return !hasOthers && inputPicos === 0n && outputPicos === 0n && requestPicos === 0n;
}

function bracketsOf(prices: TokenPrices, tiers: readonly PriceTier[]): Bracket[] {
  const brackets = [bracketOf(0n, prices)];
  for (const tier of tiers) if (tier.prices !== undefined) brackets.push(bracketOf(tier.aboveInputTokens, tier.prices));
  return brackets;
}

function bracketOf(aboveInputTokens: bigint, prices: TokenPrices): Bracket {
  const { cacheReadPicos, cacheWritePicos, cacheWrite1hPicos, imagePicos, audioInputPicos } = prices;
  return {
    aboveInputTokens,
    prices,
    dearestInputPicos: [cacheReadPicos, cacheWritePicos, cacheWrite1hPicos, imagePicos, audioInputPicos].reduce(
      greater,
      prices.inputPicos,
    ),
    dearestOutputPicos: greater(greater(prices.outputPicos, prices.reasoningPicos), prices.audioOutputPicos),
  };
}
