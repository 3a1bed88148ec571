/** What other units than tokens cost in a settings file, such as `units: { search_unit: "2.00" }`. */
import { z } from "zod";
import type { Rate } from "../api/index.js";
import { isUnit, UNITS } from "../api/meters.js";
import { parseDecimal } from "../base/money.js";
import { block, decimalForm, named, reading, wholeNumber } from "./values.js";

/** A million USD, in pico-USD. */
const PICOS_MAX = 1_000_000_000_000_000_000n;
const QUANTITY_MAX = 1_000_000_000;

const NAME = /^[a-z][a-z0-9_]{0,31}(\/[a-z][a-z0-9_]{0,31})?$/;
const NAME_RULE = "must be named by a unit such as search_unit, or by unit/variant";

const usd = reading(
  'must be USD such as "2.00"',
  (value) => {
    const picos = parseDecimal(value, 12);
    return picos === undefined || picos > PICOS_MAX ? undefined : picos;
  },
  decimalForm,
);

const quantity = wholeNumber(1, QUANTITY_MAX);
const rate = block({
  usd: usd.describe("The price of `per` units"),
  per: quantity.optional().describe("How many units the price is for; default: the usual number for the unit"),
  step: quantity.prefault("1").describe("A quantity is rounded up to a multiple of this"),
  minimum: wholeNumber(0, QUANTITY_MAX).prefault("0").describe("The least quantity that a request is charged for"),
});

/** A price alone, or a block that says more. */
const said = z
  .preprocess((value) => (typeof value === "string" ? { usd: value } : value), rate)
  .meta({ alone: decimalForm });

export const rates = named(NAME, NAME_RULE, said).transform((units, context): Rate[] =>
  Object.entries(units).flatMap(([name, { usd: picos, per, step, minimum }]) => {
    const [unit = "", variant = ""] = name.split("/");
    if (!isUnit(unit)) {
      const message = `is not a unit: must be one of ${Object.keys(UNITS).join(", ")}`;
      context.addIssue({ code: "custom", message, path: [name] });
      return [];
    }
    const paid = per === undefined ? UNITS[unit].pricedPer : BigInt(per);
    return [{ unit, variant, picos, per: paid, step: BigInt(step), minimum: BigInt(minimum) }];
  }),
);
