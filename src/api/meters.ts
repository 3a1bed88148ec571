/** Quantities of other units than tokens: their order, their bounds, and the one text in which they are stored. */
import { lesser } from "../base/money.js";
import type { Meter } from "./index.js";

/** Of nearly every usage. */
export const NO_METERS: Meter[] = [];
Object.freeze(NO_METERS);

/** The units that a request can use beside tokens: the words for one and for many, and how many a price is for. */
export const UNITS = {
  search_unit: { one: "search unit", many: "search units", pricedPer: 1_000n },
  character: { one: "character", many: "characters", pricedPer: 1_000_000n },
} as const satisfies Readonly<Record<string, UnitFacts>>;

interface UnitFacts {
  readonly one: string;
  readonly many: string;
  readonly pricedPer: bigint;
}

export type Unit = keyof typeof UNITS;

/** The most meters of one usage. */
const METERS_MAX = 16;
/** The highest quantity of one meter. */
export const QUANTITY_MAX = 1_000_000_000_000n;
const NAME = /^[a-z][a-z0-9_]{0,31}$/;

export function isUnit(unit: string): unit is Unit {
  return Object.hasOwn(UNITS, unit);
}

/** One quantity of a unit without variants; nothing for zero. */
export function meterOf(unit: Unit, quantity: bigint): Meter[] {
  return quantity === 0n ? NO_METERS : [{ unit, variant: "", quantity }];
}

/** True where each is a valid quantity, and they stand in order, each unit and variant once. */
export function areMeters(meters: readonly Meter[]): boolean {
  if (meters.length > METERS_MAX) return false;
  return meters.every((meter, place) => {
    const before = meters[place - 1];
    return isUsed(meter) && meter.quantity <= QUANTITY_MAX && (before === undefined || inOrder(before, meter) < 0);
  });
}

/** True of a quantity above zero with valid names. */
function isUsed({ unit, variant, quantity }: Meter): boolean {
  return quantity > 0n && NAME.test(unit) && (variant === "" || NAME.test(variant));
}

/** Both together. */
export function addedMeters(sums: Meter[], meters: readonly Meter[]): Meter[] {
  if (meters.length === 0) return sums;
  const added = sums.map((meter) => ({ ...meter }));
  for (const meter of meters) {
    const known = added.find((one) => inOrder(one, meter) === 0);
    if (known === undefined) added.push({ ...meter });
    else known.quantity += meter.quantity;
  }
  return sorted(added);
}

/** What the first have beyond the second; below zero where the second have more. */
export function metersBeyond(meters: Meter[], others: readonly Meter[]): Meter[] {
  return addedMeters(
    meters,
    others.map((meter) => ({ ...meter, quantity: -meter.quantity })),
  );
}

/** The nearest valid meters to some with arbitrary quantities. */
export function boundedMeters(meters: Meter[]): Meter[] {
  if (meters.length === 0 || areMeters(meters)) return meters;
  const sums = addedMeters(NO_METERS, meters.filter(isUsed)).slice(0, METERS_MAX);
  return sums.map(({ unit, variant, quantity }) => ({
    unit,
    variant,
    quantity: lesser(quantity, QUANTITY_MAX),
  }));
}

/** As a JSON list of unit, variant and quantity, such as `[["search_unit","",2]]`; empty for none. */
export function metersText(meters: readonly Meter[]): string {
  if (meters.length === 0) return "";
  return JSON.stringify(meters.map(({ unit, variant, quantity }) => [unit, variant, Number(quantity)]));
}

/** The meters of a stored text; none where it is not valid, as in a database that was modified. */
export function metersIn(text: string | null | undefined): Meter[] {
  if (text === null || text === undefined || text === "") return NO_METERS;
  let rows: unknown;
  try {
    rows = JSON.parse(text);
  } catch {
    return NO_METERS;
  }
  return Array.isArray(rows) && rows.every(isRow) ? rows.map(meterIn) : NO_METERS;
}

type Row = readonly [unit: string, variant: string, quantity: number];

function isRow(row: unknown): row is Row {
  if (!Array.isArray(row) || row.length !== 3) return false;
  const [unit, variant, quantity]: unknown[] = row;
  return typeof unit === "string" && typeof variant === "string" && Number.isSafeInteger(quantity);
}

function meterIn([unit, variant, quantity]: Row): Meter {
  return { unit, variant, quantity: BigInt(quantity) };
}

/** As the cell of a CSV: `search_unit=2`, with a space between several. */
export function metersCell(meters: readonly Meter[]): string {
  return meters
    .map(({ unit, variant, quantity }) => `${unit}${variant === "" ? "" : `/${variant}`}=${quantity}`)
    .join(" ");
}

/** For people: `2 search units`. */
export function metersWords(meters: readonly Meter[]): string {
  return meters.map(({ unit, variant, quantity }) => `${quantity} ${unitWords(unit, variant, quantity)}`).join(", ");
}

/** `search unit` or `search units`, with the variant. */
export function unitWords(unit: string, variant: string, quantity: bigint): string {
  const words = isUnit(unit) ? UNITS[unit] : { one: unit, many: unit };
  return `${quantity === 1n ? words.one : words.many}${variant === "" ? "" : ` (${variant})`}`;
}

function sorted(meters: Meter[]): Meter[] {
  return meters.filter(({ quantity }) => quantity !== 0n).toSorted(inOrder);
}

function inOrder(a: Meter, b: Meter): number {
  if (a.unit !== b.unit) return a.unit < b.unit ? -1 : 1;
  if (a.variant === b.variant) return 0;
  return a.variant < b.variant ? -1 : 1;
}
