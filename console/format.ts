/** How dates, numbers and money are written, everywhere in the console. Money stays whole nano-USD until it is text. */

const NANOS_PER_USD = 1_000_000_000n;
const LOCALE = "en-US";
const wholeNumber = new Intl.NumberFormat(LOCALE);
const shortNumber = new Intl.NumberFormat(LOCALE, { notation: "compact", maximumFractionDigits: 1 });
const day = new Intl.DateTimeFormat(LOCALE, { dateStyle: "medium", timeZone: "UTC" });
const shortDay = new Intl.DateTimeFormat(LOCALE, { month: "short", day: "numeric", timeZone: "UTC" });
const moment = new Intl.DateTimeFormat(LOCALE, { dateStyle: "medium", timeStyle: "medium" });
const clock = new Intl.DateTimeFormat(LOCALE, {
  month: "short",
  day: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hourCycle: "h23",
});
const relative = new Intl.RelativeTimeFormat(LOCALE, { numeric: "auto" });

/** An amount in two parts: the first ends with the cents, the second holds what is smaller. */
export interface MoneyParts {
  readonly main: string;
  readonly fine: string;
}

export function moneyParts(nanos: bigint): MoneyParts {
  const size = nanos < 0n ? -nanos : nanos;
  const decimals = (size % NANOS_PER_USD).toString().padStart(9, "0");
  const sign = nanos < 0n ? "−" : "";
  return {
    main: `${sign}$${wholeNumber.format(size / NANOS_PER_USD)}.${decimals.slice(0, 2)}`,
    fine: decimals.slice(2).replace(/0+$/, ""),
  };
}

/** An amount to the last nano-dollar, such as $12.50 or $0.000013. */
export function money(nanos: bigint): string {
  const { main, fine } = moneyParts(nanos);
  return main + fine;
}

/** Below a cent people read so many significant digits. */
const FINE_FIGURES = 4;
const NANOS_PER_CENT = 10_000_000n;

/**
 * An amount as people scan it: rounded to cents, and below a cent to four significant digits. What is rounded is shown
 * in full beside it: see `Money`.
 */
export function scannedNanos(nanos: bigint): bigint {
  const size = nanos < 0n ? -nanos : nanos;
  const digits = size.toString().length;
  const unit = size >= NANOS_PER_CENT ? NANOS_PER_CENT : 10n ** BigInt(Math.max(digits - FINE_FIGURES, 0));
  const rounded = ((size + unit / 2n) / unit) * unit;
  return nanos < 0n ? -rounded : rounded;
}

/** An amount for an axis, where the exact one is said elsewhere. */
export function roughMoney(nanos: bigint): string {
  const usd = Number(nanos) / 1e9;
  if (usd === 0) return "$0";
  if (Math.abs(usd) < 0.01) return `$${usd.toPrecision(1)}`;
  return `$${Math.abs(usd) >= 1_000 ? shortNumber.format(usd) : usd.toFixed(2)}`;
}

/** Pico-USD a token as USD per million tokens. */
export function pricePerMillion(picos: bigint): string {
  return money(picos * 1_000n);
}

export function count(value: bigint | number): string {
  return wholeNumber.format(value);
}

export function roughCount(value: bigint | number): string {
  return shortNumber.format(value);
}

export function percent(share: number): string {
  return `${(share * 100).toFixed(share > 0 && share < 0.1 ? 1 : 0)}%`;
}

export function milliseconds(value: number | bigint): string {
  const ms = Number(value);
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  return ms < 60_000
    ? `${(ms / 1_000).toFixed(2)} s`
    : `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1_000)} s`;
}

/** A UTC day such as 2026-11-22 for people. */
export function utcDay(text: string): string {
  return day.format(new Date(`${text}T00:00:00Z`));
}

export function shortUtcDay(text: string): string {
  return shortDay.format(new Date(`${text}T00:00:00Z`));
}

/** The UTC day of a moment, as the API writes it. */
export function dayText(time: Date): string {
  return time.toISOString().slice(0, 10);
}

/** The UTC hour of a moment, as the API writes it. */
export function hourText(time: Date): string {
  return `${time.toISOString().slice(0, 13)}:00Z`;
}

export function shortUtcHour(text: string): string {
  return text.slice(11, 16);
}

/** A moment in the reader's own time zone, as a field for one holds it. */
export function localMoment(time: Date): string {
  const two = (value: number): string => String(value).padStart(2, "0");
  const day = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  return `${day}T${two(time.getHours())}:${two(time.getMinutes())}`;
}

/** A moment in the reader's own time zone. */
export function dateTime(time: Date): string {
  return moment.format(time);
}

/** The same in a table, where the year is plain. */
export function clockTime(time: Date): string {
  return clock.format(time);
}

/** How long ago, or in how long. */
export function fromNow(time: Date, now: Date): string {
  const seconds = Math.round((time.getTime() - now.getTime()) / 1_000);
  const size = Math.abs(seconds);
  if (size < 60) return relative.format(Math.trunc(seconds), "second");
  if (size < 3_600) return relative.format(Math.trunc(seconds / 60), "minute");
  if (size < 86_400) return relative.format(Math.trunc(seconds / 3_600), "hour");
  return relative.format(Math.trunc(seconds / 86_400), "day");
}
