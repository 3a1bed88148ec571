/** Reads a published price list, which is in floats, tiers and dates, as one exact price. Pure. */
import type { Price, TokenPrices, ToolPrice } from "../api/index.js";
import { maxPrice } from "./max-price.js";
import { tokenPrices } from "./token-prices.js";

/** One component: USD per million tokens, or tiers of it for prompts of more than `start` tokens. */
export type ListedComponent =
  | number
  | { readonly base: number; readonly tiers: readonly { readonly start: number; readonly price: number }[] };

/** The components of one list, by the package's names. */
export type ListedComponents = Readonly<Record<string, ListedComponent | undefined>>;

/** Prices that hold always, from a date on, or at a time of the day. Later ones come later. */
export interface ListedPrices {
  readonly constraint?: { readonly start_date: string } | { readonly start_time: string } | undefined;
  readonly prices: ListedComponents;
}

/** What is charged by something that no usage tells, so that a price by tokens would be too low. */
const NOT_BY_TOKENS = /_(?:hours|seconds|kpages|messages_kcount)$/;

/** Tools that upstreams run, by the package's names of their prices for a thousand calls. */
const TOOLS: ReadonlyMap<string, string> = new Map([
  ["web_searches_kcount", "web_search"],
  ["storage_searches_kcount", "file_search"],
]);

/**
 * The price that holds at a time, with its tiers by length. Of hours of the day it is the dearest, so that a hold
 * covers whatever the upstream charges. Undefined where the list has no price by tokens.
 */
export function readListedPrice(listed: readonly ListedPrices[], nowMs: number): Price | undefined {
  const prices: Price[] = [];
  for (const { prices: components } of pricesInForce(listed, nowMs)) {
    const price = readComponents(components);
    if (price === undefined) return undefined;
    prices.push(price);
  }
  return prices.length === 0 ? undefined : maxPrice(prices);
}

/** The newest list that has begun, as the last one, and each of its lists for hours of the day. */
export function pricesInForce<Listed extends ListedPrices>(listed: readonly Listed[], nowMs: number): Listed[] {
  const found: Listed[] = [];
  for (const entry of listed.toReversed()) {
    const { constraint } = entry;
    if (constraint !== undefined && "start_date" in constraint && Date.parse(constraint.start_date) > nowMs) continue;
    found.push(entry);
    if (constraint === undefined || "start_date" in constraint) break;
  }
  return found;
}

function readComponents(listed: ListedComponents): Price | undefined {
  if (Object.keys(listed).some((name) => NOT_BY_TOKENS.test(name))) return undefined;
  const prices = readPrices(listed, 0);
  if (prices === undefined) return undefined;
  const tiers: Price["tiers"] = [];
  for (const start of startsOf(listed)) {
    const longer = readPrices(listed, start);
    if (longer === undefined) return undefined;
    tiers.push({ aboveInputTokens: BigInt(start), prices: longer });
  }
  const tools: ToolPrice[] = [];
  for (const [listedAs, name] of TOOLS) {
    const callPicos = picosOf(listed[listedAs], 0, USD_PER_THOUSAND_PLACES);
    if (callPicos !== undefined) tools.push({ name, callPicos });
  }
  return { ...prices, tiers, serviceTiers: [], tools, rates: [], tokensUnpriced: false };
}

/** Where the tiers of any component begin, from the shortest prompt. */
function startsOf(listed: ListedComponents): number[] {
  const starts = new Set<number>();
  for (const component of Object.values(listed)) {
    if (typeof component !== "object") continue;
    for (const { start } of component.tiers) starts.add(Math.max(1, Math.floor(start)));
  }
  return [...starts].toSorted((one, other) => one - other);
}

/** The components for prompts of more than `above` tokens. */
function readPrices(listed: ListedComponents, above: number): TokenPrices | undefined {
  const read = (name: string): bigint | undefined => picosOf(listed[name], above, USD_PER_MILLION_PLACES);
  const input = read("input_mtok");
  if (input === undefined) return undefined;
  return tokenPrices({
    inputPicos: input,
    cacheReadPicos: read("cache_read_mtok"),
    cacheWritePicos: read("cache_write_mtok"),
    cacheWrite1hPicos: read("cache_write_1h_mtok"),
    // A usage does not tell pictures and films that were made from text, so the dearest holds for all output.
    outputPicos: dearestOf([read("output_mtok"), read("output_image_mtok"), read("output_video_mtok")]) ?? 0n,
    reasoningPicos: read("output_reasoning_mtok"),
    imagePicos: dearestOf([read("input_image_mtok"), read("input_video_mtok")]),
    audioInputPicos: read("input_audio_mtok"),
    audioOutputPicos: read("output_audio_mtok"),
    requestPicos: picosOf(listed["requests_kcount"], above, USD_PER_THOUSAND_PLACES) ?? 0n,
  });
}

/** One USD per million tokens is 10^6 pico-USD per token. */
const USD_PER_MILLION_PLACES = 6;
/** One USD per thousand requests is 10^9 pico-USD per request. */
const USD_PER_THOUSAND_PLACES = 9;
/** More decimals than any published price has; what follows is a float's own error. */
const FLOAT_PLACES = 12;

function picosOf(component: ListedComponent | undefined, above: number, places: number): bigint | undefined {
  if (component === undefined) return undefined;
  if (typeof component === "number") return floatToUnits(component, places);
  let value = component.base;
  let start = -1;
  for (const tier of component.tiers) {
    if (tier.start > above || tier.start < start) continue;
    value = tier.price;
    start = tier.start;
  }
  return floatToUnits(value, places);
}

/**
 * A published float as whole units of 10^-places, rounded up. It goes through its decimal text, since 0.075 times a
 * million is no whole number in floats. Undefined for what is no price.
 */
export function floatToUnits(value: number, places: number): bigint | undefined {
  if (!Number.isFinite(value) || value < 0 || value >= 1e6) return undefined;
  // The shortest text that reads as the same float is the price as it was published; below 10^-6 it has an exponent.
  const [whole = "0", decimals = ""] = (value < 1e-6 ? value.toFixed(FLOAT_PLACES) : String(value)).split(".");
  const units = BigInt(whole + decimals.slice(0, places).padEnd(places, "0"));
  return /[1-9]/.test(decimals.slice(places, FLOAT_PLACES)) ? units + 1n : units;
}

function dearestOf(values: readonly (bigint | undefined)[]): bigint | undefined {
  return values.reduce((a, b) => (a === undefined || (b !== undefined && b > a) ? b : a), undefined);
}
