/** Prices of units as people and programs read them. */
import { formatDecimal } from "../base/money.js";
import type { Price, Rate } from "./index.js";
import { unitWords } from "./meters.js";

/** A price with its unit, such as `2.00 USD per 1000 search units`; with what a request is rounded up to. */
function rateWords(rate: Rate): string {
  const { unit, variant, per, step, minimum } = rate;
  const count = per === 1n ? "" : `${per} `;
  const rounding = step > 1n ? `, in steps of ${step}` : "";
  const least = minimum > 0n ? `, at least ${minimum}` : "";
  return `${rateUsd(rate)} USD per ${count}${unitWords(unit, variant, per)}${rounding}${least}`;
}

/** All that a model costs beside tokens; empty for nothing. */
export function ratesWords({ rates }: Pick<Price, "rates">): string {
  return rates.map(rateWords).join("; ");
}

/** The price of `per` units as a decimal text. */
export function rateUsd({ picos }: Rate): string {
  return formatDecimal(picos, 12);
}
