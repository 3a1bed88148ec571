/** What people type after a command, read and checked. */
import { DAY_MS } from "../base/day.js";
import { InvalidArgumentError } from "commander";
import { type CreditLine, CreditPeriod, type ModelLimits } from "../api/index.js";
import { parseUsd } from "../base/money.js";
import { EnumWords } from "./enum-words.js";
import { type TypedNumber, type TypedNumbers, typedNumbers } from "../base/typed-number.js";

/** USD such as 25.00, as nano-USD. */
export function readUsd(text: string): bigint {
  return valueOf(numbers().usd(text), "Write USD such as 25.00, with at most nine decimal places.");
}

/** A whole number of at most 15 digits. */
export function readWhole(text: string): bigint {
  return valueOf(numbers().whole(text), "Write a whole number.");
}

/** A whole number of 1 or more. */
export function readBetween(text: string, most: number): number {
  const rule = `Write a whole number from 1 to ${most}.`;
  const number = valueOf(numbers().whole(text), rule);
  if (number >= 1n && number <= BigInt(most)) return Number(number);
  throw new InvalidArgumentError(rule);
}

/** How many rows to show. */
export function readLimit(text: string): number {
  return readBetween(text, 100_000);
}

/** Seconds, at most 30 days. */
export function readGrace(text: string): number {
  const rule = "Write seconds, at most 2592000, which is 30 days.";
  const seconds = valueOf(numbers().whole(text), rule);
  if (seconds <= 2_592_000n) return Number(seconds);
  throw new InvalidArgumentError(rule);
}

/** The locale is asked for where a number is read, since most commands read none. */
function numbers(): TypedNumbers {
  return typedNumbers(localeOf(process.env));
}

function valueOf(typed: TypedNumber, rule: string): bigint {
  if (typed.kind === "number") return typed.value;
  if (typed.kind === "wrong") throw new InvalidArgumentError(rule);
  throw new InvalidArgumentError(`It may be ${typed.readings.join(" or ")}. Write the one that you mean.`);
}

/** The locale of numbers as a BCP 47 tag: `de_DE.UTF-8` is `de-DE`. Undefined for `C`, and where none is set. */
function localeOf({ LC_ALL, LC_NUMERIC, LANG }: NodeJS.ProcessEnv): string | undefined {
  const [, language, country] =
    /^([a-z]{2,3})(?:_([A-Z]{2}))?(?:[.@]|$)/.exec(LC_ALL || LC_NUMERIC || LANG || "") ?? [];
  return language === undefined || country === undefined ? language : `${language}-${country}`;
}

/** A time such as 2027-01-01T00:00:00Z. */
export function readTime(text: string): Date {
  const time = new Date(text);
  const isWhole = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/.test(text);
  if (isWhole && !Number.isNaN(time.valueOf()) && isDay(text.slice(0, 10))) return time;
  throw new InvalidArgumentError("Write a time such as 2027-01-01T00:00:00Z.");
}

/** A UTC day such as 2026-11-21. */
export function readDay(text: string): string {
  if (isDay(text)) return text;
  throw new InvalidArgumentError("Write a day such as 2026-11-21.");
}

/** The 30th of February is the 2nd of March to `Date`; nobody means that. */
function isDay(text: string): boolean {
  const time = new Date(`${text}T00:00:00Z`);
  return text.length === 10 && !Number.isNaN(time.valueOf()) && time.toISOString().startsWith(text);
}

const SPANS_MS: Readonly<Record<string, number>> = { d: DAY_MS, h: 3_600_000, m: 60_000 };
const SPAN_COUNT_MAX = 99_999n;

/** `7d`, `24h` or `30m`: so long ago. */
export function readSpan(text: string): Date {
  const rule = "Write days, hours or minutes, such as 7d, 24h or 30m.";
  const unitMs = SPANS_MS[text.slice(-1)];
  const count = valueOf(numbers().whole(unitMs === undefined ? "" : text.slice(0, -1)), rule);
  if (unitMs === undefined || count > SPAN_COUNT_MAX) throw new InvalidArgumentError(rule);
  return new Date(Date.now() - Number(count) * unitMs);
}

/** A UTC day such as 2026-11-21, or a time such as 2026-11-21T12:00:00Z; the gateway reads it. */
export function readMoment(text: string): string {
  return text.length === 10 ? readDay(text) : readTime(text).toISOString();
}

/** `name=text`, added to those before it. */
export function readLabel(text: string, earlier: Readonly<Record<string, string>> = {}): Record<string, string> {
  const [, name, value] = /^([^=]{1,64})=(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined) throw new InvalidArgumentError("Write name=text.");
  return { ...earlier, [name]: value };
}

const MODEL_LIMITS = {
  requests_per_minute: "requestsPerMinute",
  tokens_per_minute: "tokensPerMinute",
  concurrency: "concurrency",
} as const satisfies Record<string, keyof ModelLimits>;

/** `gpt-*=requests_per_minute:60,concurrency:4`, added to those before it; `none` for none at all. */
export const LINE_WORDS = new EnumWords(CreditPeriod, "CREDIT_PERIOD_");

/** A credit line such as 100.00/month. */
export function readCreditLine(text: string): CreditLine | "none" {
  if (text === "none") return text;
  const [amount = "", word = ""] = text.split("/");
  const [amountNanos, period] = [parseUsd(amount), LINE_WORDS.find(word)];
  if (amountNanos === undefined || amountNanos === 0n || period === undefined)
    throw new InvalidArgumentError(`Write an amount in USD and one of ${LINE_WORDS.words.join(", ")}: 100.00/month.`);
  return { amountNanos, period };
}

export function readModelLimit(text: string, earlier: readonly ModelLimits[] = []): ModelLimits[] {
  if (text === "none") return [];
  const [, model, parts] = /^([^=]{1,256})=(.+)$/.exec(text) ?? [];
  const limits = { model: model ?? "", requestsPerMinute: 0n, tokensPerMinute: 0n, concurrency: 0n };
  const names = new Map(Object.entries(MODEL_LIMITS));
  for (const part of (parts ?? "").split(",")) {
    const [, name, count] = /^([a-z_]+):(\d{1,15})$/.exec(part) ?? [];
    const field = names.get(name ?? "");
    if (field === undefined || count === undefined)
      throw new InvalidArgumentError(`Write model=${[...names.keys()].join(":N,")}:N, or some of them.`);
    limits[field] = BigInt(count);
  }
  return [...earlier, limits];
}
