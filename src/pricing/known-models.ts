/** Prices and facts of models that the world knows, from a package of published prices. */
import type { Provider } from "@pydantic/genai-prices";
import type { Price } from "../api/index.js";
import { knownFacts, loadFacts } from "../models/facts.js";
import type { ModelFacts } from "../wire/wire.js";
import { readListedPrice, type ListedPrices } from "./listed-price.js";
import { type FindModel, PRICE_LIST, type PriceList, type PriceSource } from "./price-list.js";

/** What is known of a model. */
export interface KnownModel {
  readonly price: Price;
  readonly contextTokens: number | undefined;
  readonly outputTokensMax: number | undefined;
  /** The list that has the price. */
  readonly source: PriceSource;
}

/**
 * What is known of models, by their names as they were asked for; `pricedAs` is how the package names who serves them.
 * `list` is the list in force where that is not the program's own. Left out is what the list does not know, or prices
 * by something that a usage does not tell (pages, hours): of those the settings must say it.
 */
export async function knownModels(
  pricedAs: string,
  modelIds: readonly string[],
  nowMs: number,
  list?: PriceList,
): Promise<ReadonlyMap<string, KnownModel>> {
  const prices = await load();
  const known = new Map<string, KnownModel>();
  for (const id of modelIds) {
    const found = find(prices, { pricedAs, id, nowMs, list });
    if (found !== undefined) known.set(id, withLimits(found, await knownFacts(id)));
  }
  return known;
}

/** What is published, loaded so that any model is looked up at once. */
export interface Published {
  /**
   * What is known of one model; undefined where the list does not have it. `listedAs` is its name in the list, which
   * may only begin like the one that was asked for.
   */
  known(pricedAs: string, modelId: string): (KnownModel & { readonly listedAs: string }) | undefined;
  facts(modelId: string): ModelFacts;
}

/** Loads what is published. `nowMs` is the time of day, since prices have dates. */
export async function loadPublished(nowMs: () => number, list?: PriceList): Promise<Published> {
  const prices = await load();
  const facts = await loadFacts();
  return {
    known: (pricedAs, id) => {
      const found = find(prices, { pricedAs, id, nowMs: nowMs(), list });
      return found && { ...withLimits(found, facts(id)), listedAs: found.id };
    },
    facts,
  };
}

/** What the program's own list is made of. */
export async function bundledPrices(): Promise<{ readonly providers: readonly Provider[]; readonly find: FindModel }> {
  const { calcPrice, waitForUpdate } = await load();
  const find: FindModel = (provider, name) => calcPrice({}, name, { provider })?.model;
  // The package offers its list by the name of what would bring a newer one, which nothing here asks it for.
  return { providers: (await waitForUpdate()) ?? [], find };
}

function withLimits({ price, contextTokens, source }: Found, limits: ModelFacts): KnownModel {
  const { outputTokensMax } = limits;
  return { price, contextTokens: longer(contextTokens, limits.contextTokens), outputTokensMax, source };
}

/**
 * What the package says of a model, at once; undefined also where nothing was asked of it yet. Its `id` is one for all
 * names that mean the same model.
 */
export function listedModel(
  pricedAs: string,
  modelId: string,
  nowMs: number,
  list?: PriceList,
): { readonly id: string; readonly price: Price } | undefined {
  return loaded === undefined ? undefined : find(loaded, { pricedAs, id: modelId, nowMs, list });
}

type Package = typeof import("@pydantic/genai-prices");
let loaded: Package | undefined;

/** Loaded when first asked: 40 ms and 15 MB that a gateway with its own prices never spends. */
async function load(): Promise<Package> {
  return (loaded ??= await import("@pydantic/genai-prices"));
}

interface Found {
  readonly id: string;
  readonly price: Price;
  readonly contextTokens: number | undefined;
  readonly source: PriceSource;
}

interface ListQuery {
  readonly pricedAs: string;
  readonly id: string;
  readonly nowMs: number;
  readonly list: PriceList | undefined;
}

function find({ calcPrice }: Package, { pricedAs, id: name, nowMs, list }: ListQuery): Found | undefined {
  const newer = list?.providers.get(pricedAs);
  const provider = newer === undefined ? { providerId: pricedAs } : { provider: newer };
  // The package matches names loosely (dates, aliases) in this one function; the cost of no usage is of no interest.
  const found = calcPrice({}, name, { ...provider, timestamp: new Date(nowMs) });
  if (found === null) return undefined;
  const { id, prices, context_window: contextTokens } = found.model;
  const listed: ListedPrices[] = Array.isArray(prices) ? prices : [{ prices }];
  const price = readListedPrice(listed, nowMs);
  const source = list?.sourceOf(pricedAs, id) ?? PRICE_LIST;
  return price === undefined ? undefined : { id, price, contextTokens, source };
}

/** Where two sources differ on a context, the longer one keeps a hold high enough. */
function longer(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || (b !== undefined && b > a) ? b : a;
}
