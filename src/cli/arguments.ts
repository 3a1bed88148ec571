/** What people type after a command, read and checked. */
import { DAY_MS } from "../api/day.js";
import { InvalidArgumentError } from "commander";
import type { ModelLimits } from "../api/index.js";
import { AMOUNT_NANOS_MAX, parseUsd } from "../money.js";

/** USD such as 25.00, as nano-USD. */
export function readUsd(text: string): bigint {
  const nanos = parseUsd(text);
  if (nanos !== undefined && nanos <= AMOUNT_NANOS_MAX) return nanos;
  throw new InvalidArgumentError("Write USD such as 25.00, with at most nine places.");
}

/** A whole number of at most 15 digits. */
export function readWhole(text: string): bigint {
  if (/^\d{1,15}$/.test(text)) return BigInt(text);
  throw new InvalidArgumentError("Write a whole number.");
}

/** How many rows to show. */
export function readLimit(text: string): number {
  const limit = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= 100_000) return limit;
  throw new InvalidArgumentError("Write a whole number from 1 to 100000.");
}

/** Seconds, at most 30 days. */
export function readGrace(text: string): number {
  const seconds = /^\d{1,7}$/.test(text) ? Number(text) : -1;
  if (seconds >= 0 && seconds <= 2_592_000) return seconds;
  throw new InvalidArgumentError("Write seconds, at most 2592000, which is 30 days.");
}

/** A time such as 2027-01-01T00:00:00Z. */
export function readTime(text: string): Date {
  const time = new Date(text);
  if (/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/.test(text) && !Number.isNaN(time.valueOf()))
    return time;
  throw new InvalidArgumentError("Write a time such as 2027-01-01T00:00:00Z.");
}

/** A UTC day such as 2026-11-21. */
export function readDay(text: string): string {
  const time = new Date(`${text}T00:00:00Z`);
  if (!Number.isNaN(time.valueOf()) && time.toISOString().startsWith(text) && text.length === 10) return text;
  throw new InvalidArgumentError("Write a day such as 2026-11-21.");
}

const SPANS_MS: Readonly<Record<string, number>> = { d: DAY_MS, h: 3_600_000, m: 60_000 };

/** `7d`, `24h` or `30m`: so long ago. */
export function readSpan(text: string): Date {
  const [, count, unit = ""] = /^(\d{1,5})([dhm])$/.exec(text) ?? [];
  const unitMs = SPANS_MS[unit];
  if (count === undefined || unitMs === undefined)
    throw new InvalidArgumentError("Write days, hours or minutes, such as 7d, 24h or 30m.");
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
