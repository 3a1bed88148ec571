/** What models are sold at, who says so, and which of their targets cost more: told by a start, a check, an import. */
import type { Price } from "../api/index.js";
import { ratesWords } from "../api/rate-words.js";
import type { Settings } from "../config/settings.js";
import { formatPricePerMillion } from "../base/money.js";
import { maxPrice } from "../pricing/max-price.js";
import { bracketFor, ratesOf } from "../pricing/rates.js";
import type { ServedModel, Target } from "../routing/model.js";
import type { RouteTable } from "../routing/routing.js";

export interface SoldModel {
  readonly id: string;
  readonly price: Price;
  /** Who says the price, such as `published for openai 'gpt-4o'`. */
  readonly source: string;
  /** A line for each target that costs whoever runs the gateway more than the model is sold for. */
  readonly losses: string[];
}

/** Of the models that the settings name, in their order. */
export function soldModels({ models }: Settings, table: RouteTable): readonly SoldModel[] {
  return models.flatMap(({ id }) => {
    const served = table.models.get(id);
    return served === undefined ? [] : [soldModel(served)];
  });
}

function soldModel(model: ServedModel): SoldModel {
  const [first] = model.targets;
  const isPublished = model.isListPriced && first !== undefined;
  return {
    id: model.id,
    price: model.price,
    source: isPublished ? `published for ${nameOf(first)}` : "of the settings",
    losses: model.targets.flatMap((target) => {
      const parts = target.cost === undefined ? [] : dearerParts(target.cost, model.price);
      const told = `costs more than '${model.id}' is sold for, in USD per million tokens: ${parts.join(", ")}`;
      return parts.length === 0 ? [] : [`models.${model.id}: its target ${nameOf(target)} ${told}`];
    }),
  };
}

/** The price of input and output, and of other units, for people. */
export function soldAt({ price, source }: SoldModel): string {
  const [input, output] = [price.inputPicos, price.outputPicos].map(formatPricePerMillion);
  const tokens = price.tokensUnpriced ? "" : `${input} in, ${output} out`;
  return [tokens, ratesWords(price), source].filter((words) => words !== "").join(", ");
}

function nameOf({ served, model }: Target): string {
  return `${served.id} '${model}'`;
}

/** What of the cost is above the price, such as `output 15.00 over 10.00`, at the shortest input where anything is. */
function dearerParts(cost: Price, price: Price): readonly string[] {
  const own = ratesOf(price).ordinary;
  for (const { aboveInputTokens, prices } of ratesOf(maxPrice([price, cost])).ordinary) {
    const sold = bracketFor(own, aboveInputTokens + 1n).prices;
    const parts = PARTS.filter(([part]) => prices[part] > sold[part]);
    if (parts.length === 0) continue;
    const above = aboveInputTokens === 0n ? "" : ` above ${aboveInputTokens} input tokens`;
    return parts.map(([part, name]) => {
      const [paid, taken] = [prices[part], sold[part]].map(formatPricePerMillion);
      return `${name} ${paid} over ${taken}${above}`;
    });
  }
  return [];
}

/** The parts of a price that every model has, as the settings name them. */
const PARTS = [
  ["inputPicos", "input"],
  ["outputPicos", "output"],
  ["cacheReadPicos", "cache_read"],
  ["cacheWritePicos", "cache_write"],
] as const;
