/** What a model costs, in the cells of a table: tokens by the million, and other units beside the price of input. */
import type { Price, Rate } from "../../gen/console/usage.js";
import { modelWords } from "../copy/en-models.ts";
import { count, money, pricePerMillion } from "../format.ts";

export function tokenPrice(price: Price | undefined, part: "inputPicos" | "cacheReadPicos" | "outputPicos"): string {
  if (price === undefined) return modelWords.unknown;
  const units = part === "inputPicos" ? price.rates.map(ratePrice) : [];
  const tokens = price.tokensUnpriced ? [] : [price[part] === 0n ? modelWords.free : pricePerMillion(price[part])];
  return [...tokens, ...units].join(" + ");
}

/** Such as `$2.00 per 1,000 search units`. */
export function ratePrice({ unit, variant, picos, per }: Rate): string {
  const name = modelWords.units[unit] ?? unit;
  return modelWords.perUnits(money(picos / 1_000n), count(per), variant === "" ? name : `${name} (${variant})`);
}
