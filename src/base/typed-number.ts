/** Reads the numbers that people type: by the signs of their locale where that leaves one reading, else not at all. */
import { AMOUNT_NANOS_MAX, formatUsd, parseDecimal } from "./money.js";

/** What a text says. `readings` are two numbers that it may mean, each written so that every reader reads it alike. */
export type TypedNumber =
  | { readonly kind: "number"; readonly value: bigint }
  | { readonly kind: "ambiguous"; readonly readings: readonly [string, string] }
  | { readonly kind: "wrong" };

/** Reads for one person. Why as it does: docs/decisions/0439-console.md. */
export interface TypedNumbers {
  /** USD as nano-USD. */
  readonly usd: (text: string) => TypedNumber;
  /** A number that is no amount of money, with at most nine decimals, in billionths. */
  readonly decimal: (text: string) => TypedNumber;
  /** A whole number of at most 15 digits. */
  readonly whole: (text: string) => TypedNumber;
}

/** How a locale writes a number. */
interface Signs {
  readonly decimal: string;
  /** What may stand between groups of digits: all but `decimal`, since countries of one language differ in it. */
  readonly groups: string;
  /** Digits of each group but the first and the last, which has three: two in India. */
  readonly groupDigits: number;
  /** The locale's own digits from 0 to 9. */
  readonly digits: readonly string[];
}

/** Of a reader whose locale nothing says: a comma may be either sign. */
const UNKNOWN: Signs = { decimal: ".", groups: "", groupDigits: 3, digits: [] };
const CURRENCY = /^(?:USD|US\$|\$) ?| ?(?:USD|US\$|\$US|\$)$/g;
const INVISIBLE = /\p{Cf}/gu;
const DECIMAL_PLACES = 9;
const WHOLE_DIGITS_MAX = 15;

/**
 * `locale` is a BCP 47 tag; undefined where nothing says it. The English way counts beside it, since the gateway itself
 * writes numbers so: a text that the two read as different numbers is refused, and so is one that neither reads.
 */
export function typedNumbers(locale: string | undefined): TypedNumbers {
  const ways = locale === undefined ? [UNKNOWN] : [signsOf(locale), signsOf("en")];
  const read = (text: string, places: number): TypedNumber => {
    const plain = plainOf(text, ways[0]?.digits ?? []);
    const values = ways.map((signs) => readBy(plain, signs, places)).filter((value) => value !== undefined);
    const [value, other] = new Set(values);
    if (value === undefined) return readLoosely(plain, places);
    return other === undefined ? { kind: "number", value } : ambiguous(value, other, places);
  };
  return {
    usd: (text) => {
      const typed = read(text.trim().replaceAll(CURRENCY, ""), DECIMAL_PLACES);
      return typed.kind === "number" && typed.value > AMOUNT_NANOS_MAX ? { kind: "wrong" } : typed;
    },
    decimal: (text) => read(text, DECIMAL_PLACES),
    whole: (text) => read(text, 0),
  };
}

/** Nano-USD as every reader reads it alike. Three decimals look like a group of digits; a fourth tells them apart. */
export function certainUsd(nanos: bigint): string {
  return formatUsd(nanos).replace(/(\.\d{3})$/, "$10");
}

const LARGE_TIMES = 10n;

/** True where an amount is so far above the last of its kind (0n: there was none) that it may be a slip. */
export function isLargeAmount(nanos: bigint, lastNanos: bigint): boolean {
  return lastNanos > 0n && nanos >= lastNanos * LARGE_TIMES;
}

/** A text with one sign that nobody writes so: it may separate the decimals, or digits of which some are missing. */
function readLoosely(plain: string, places: number): TypedNumber {
  const [, whole, fraction] = /^(\d+)[.,](\d+)$/.exec(plain) ?? [];
  const asDecimal = parseDecimal(`${whole}.${fraction}`, places);
  const asGroups = parseDecimal(`${whole}${fraction}`, places);
  if (asDecimal === undefined || asGroups === undefined) return { kind: "wrong" };
  return ambiguous(asDecimal, asGroups, places);
}

function ambiguous(one: bigint, other: bigint, places: number): TypedNumber {
  return { kind: "ambiguous", readings: [certain(one, places), certain(other, places)] };
}

function certain(units: bigint, places: number): string {
  return places === 0 ? String(units) : certainUsd(units);
}

function readBy(plain: string, { decimal, groups, groupDigits }: Signs, places: number): bigint | undefined {
  const grouped = `[1-9]\\d{0,${groupDigits - 1}}([${groups}])(?:\\d{${groupDigits}}\\1)*\\d{3}`;
  const fraction = places === 0 ? "" : `(?:\\${decimal}\\d+)?`;
  if (!new RegExp(`^(?:\\d+|${grouped})${fraction}$`).test(plain)) return undefined;
  const [whole = "", decimals] = plain.split(decimal);
  const digits = whole.replaceAll(/\D/g, "");
  if (places === 0) return digits.length <= WHOLE_DIGITS_MAX ? BigInt(digits) : undefined;
  return parseDecimal(decimals === undefined ? digits : `${digits}.${decimals}`, places);
}

/** Digits of ASCII, one kind of space and one of apostrophe. */
function plainOf(text: string, digits: readonly string[]): string {
  return Array.from(text.normalize("NFKC").replaceAll(INVISIBLE, "").trim(), (sign) => {
    const digit = digits.indexOf(sign);
    if (digit !== -1) return String(digit);
    if (sign === "’") return "'";
    return /\s/.test(sign) ? " " : sign;
  }).join("");
}

function signsOf(locale: string): Signs {
  const format = new Intl.NumberFormat(locale);
  const parts = format.formatToParts(1_234_567_890.5);
  const valueOf = (type: string): string => parts.find((part) => part.type === type)?.value ?? "";
  const integers = parts.filter(({ type }) => type === "integer").map(({ value }) => Array.from(value).length);
  const decimal = valueOf("decimal");
  return {
    decimal,
    groups: ` '.,٬${valueOf("group")}`.replaceAll(decimal, ""),
    groupDigits: integers.at(-2) ?? 3,
    digits: Array.from({ length: 10 }, (_, digit) => format.format(digit)),
  };
}
