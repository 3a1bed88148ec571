/** What a published list says of a model at one moment, as components that can be compared one by one. Pure. */
import type { ConditionalPrice, ModelInfo } from "@pydantic/genai-prices";
import { pricesInForce } from "../pricing/listed-price.js";

/**
 * Prices by component, such as `input_mtok`: USD per million tokens, or per thousand of what a `_kcount` counts. A tier
 * is `input_mtok>200000`; a price for hours of the day is `input_mtok@16:30:00Z`.
 */
export type Components = ReadonlyMap<string, number>;

/** Lists write the same threshold as 271999 or 272000. */
const TIER_STEP = 1_000;

/** The components in force at a time. */
export function componentsOf({ prices }: Pick<ModelInfo, "prices">, nowMs: number): Components {
  const found = new Map<string, number>();
  for (const { constraint, prices: listed } of inForce(prices, nowMs)) {
    const hours = constraint !== undefined && "start_time" in constraint ? `@${constraint.start_time}` : "";
    for (const [name, component] of Object.entries(listed)) {
      if (component === undefined) continue;
      if (typeof component === "number") {
        found.set(name + hours, component);
        continue;
      }
      found.set(name + hours, component.base);
      for (const { start, price } of component.tiers) found.set(tierName(name, start) + hours, price);
    }
  }
  return found;
}

export function tierName(name: string, start: number): string {
  return `${name}>${Math.round(start / TIER_STEP) * TIER_STEP}`;
}

/** The model with the prices of now alone: a price of a later date is a change of its own once its date has come. */
export function modelAt(model: ModelInfo, nowMs: number): ModelInfo {
  const [base, ...hours] = inForce(model.prices, nowMs).toReversed();
  if (base === undefined) return { ...model, prices: {} };
  return { ...model, prices: hours.length === 0 ? base.prices : [{ prices: base.prices }, ...hours] };
}

function inForce(prices: ModelInfo["prices"], nowMs: number): readonly ConditionalPrice[] {
  return pricesInForce<ConditionalPrice>(Array.isArray(prices) ? prices : [{ prices }], nowMs);
}
