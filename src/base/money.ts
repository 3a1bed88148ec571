/** Amounts of money: nano-USD (10^-9) in balances, pico-USD (10^-12) per token in prices; whole numbers, always. */

/** Nano-USD in one USD. */
export const NANOS_PER_USD = 1_000_000_000n;
/** Nano-USD in one cent, which is what cards are charged in. */
export const NANOS_PER_CENT = 10_000_000n;
/** The most that one amount may be, in nano-USD: a billion USD, far inside int64. */
export const AMOUNT_NANOS_MAX = 1_000_000_000n * NANOS_PER_USD;

const ZERO = 0x30;
const DECIMAL = /^(\d{1,12})(?:\.(\d{1,12}))?$/;

/**
 * Reads a decimal such as "25.00" as whole units of 10^-places. Returns undefined where it is no such number or has
 * more places.
 */
export function parseDecimal(text: string, places: number): bigint | undefined {
  const match = DECIMAL.exec(text);
  if (match === null) return undefined;
  const fraction = match[2] ?? "";
  const kept = fraction.slice(0, places).padEnd(places, "0");
  if (/[1-9]/.test(fraction.slice(places))) return undefined;
  return BigInt((match[1] ?? "0") + kept);
}

/** Reads USD such as "25.00" as nano-USD. Undefined where it is no decimal with at most nine decimal places. */
export function parseUsd(text: string): bigint | undefined {
  return parseDecimal(text, 9);
}

/** Reads USD per million tokens such as "0.25" as pico-USD per token. */
export function parsePricePerMillion(text: string): bigint | undefined {
  return parseDecimal(text, 6);
}

/** Nano-USD as USD with at least two places: 1500000000n is "1.50", 1n is "0.000000001". */
export function formatUsd(nanos: bigint): string {
  return formatDecimal(nanos, 9);
}

/** The same with its currency: "1.50 USD". */
export function formatMoney(nanos: bigint): string {
  return `${formatUsd(nanos)} USD`;
}

/** Pico-USD per token as USD per million tokens: 250000n is "0.25". */
export function formatPricePerMillion(picos: bigint): string {
  return formatDecimal(picos, 6);
}

/** About so many USD, for graphs and traces: a floating-point number, never what anybody is charged. */
export function approximateUsd(nanos: bigint | number): number {
  return Number(nanos) / Number(NANOS_PER_USD);
}

/** The lesser of two amounts; Math.min takes no bigint. */
export function lesser(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}

/** The greater of two amounts. */
export function greater(one: bigint, other: bigint): bigint {
  return one > other ? one : other;
}

/** Rounds pico-USD up to nano-USD: the one rounding of a request. */
export function picosToNanos(picos: bigint): bigint {
  return (picos + 999n) / 1000n;
}

export function formatDecimal(units: bigint, places: number): string {
  const sign = units < 0n ? "-" : "";
  const digits = (units < 0n ? -units : units).toString().padStart(places + 1, "0");
  const point = digits.length - places;
  let end = digits.length;
  while (end > point + 2 && digits.charCodeAt(end - 1) === ZERO) end -= 1;
  return `${sign}${digits.slice(0, point)}.${digits.slice(point, end)}`;
}
