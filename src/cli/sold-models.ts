/** What models are sold at, as `config check` and `import` print it. */
import { rateUsd, ratesWords } from "../api/rate-words.js";
import { formatPricePerMillion } from "../base/money.js";
import type { SoldModel } from "../serve/sold-models.js";
import { type Column, formatTable } from "./print.js";

const COLUMNS: readonly Column[] = [
  "MODEL",
  { title: "USD/M IN", numeric: true },
  { title: "USD/M OUT", numeric: true },
  "PRICE",
];

/** A row for each model, and a line for each target that costs more than its model is sold for. */
export function formatSold(sold: readonly SoldModel[]): string {
  const rows = sold.map(({ id, price, source }) => [
    id,
    price.tokensUnpriced ? "-" : formatPricePerMillion(price.inputPicos),
    price.tokensUnpriced ? "-" : formatPricePerMillion(price.outputPicos),
    [ratesWords(price), source].filter((words) => words !== "").join(", "),
  ]);
  return [formatTable(COLUMNS, rows), ...sold.flatMap(({ losses }) => losses)].join("\n");
}

/** The same for programs: USD per million tokens, or per `per` units, as decimal texts; null without a price. */
export function soldJson({ id, price, source, losses }: SoldModel): object {
  const [input, output] = [price.inputPicos, price.outputPicos].map((picos) =>
    price.tokensUnpriced ? null : formatPricePerMillion(picos),
  );
  const units = price.rates.map((rate) => ({
    unit: rate.unit,
    variant: rate.variant,
    usd: rateUsd(rate),
    per: Number(rate.per),
  }));
  return { id, input, output, ...(units.length === 0 ? {} : { units }), source, losses };
}
