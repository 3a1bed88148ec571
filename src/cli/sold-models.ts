/** What models are sold at, as `config check` and `import` print it. */
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
    formatPricePerMillion(price.inputPicos),
    formatPricePerMillion(price.outputPicos),
    source,
  ]);
  return [formatTable(COLUMNS, rows), ...sold.flatMap(({ losses }) => losses)].join("\n");
}

/** The same for programs: USD per million tokens as decimal texts. */
export function soldJson({ id, price, source, losses }: SoldModel): object {
  const [input, output] = [price.inputPicos, price.outputPicos].map(formatPricePerMillion);
  return { id, input, output, source, losses };
}
