/** The wait that an upstream names is told as it is, on whichever wire; what is no plan is not. */
import { describe, expect, test } from "vitest";
import { families } from "../../../src/families/index.js";
import { WAIT_MS_MAX } from "../../../src/wire/error/retry-after.js";

const NOW = "Mon, 23 Nov 2026 05:00:00 GMT";

const ASKED: readonly { readonly name: string; readonly headers: Record<string, string>; readonly want?: number }[] = [
  { name: "five seconds", headers: { "retry-after": "5" }, want: 5_000 },
  { name: "half a second", headers: { "retry-after": "0.5" }, want: 500 },
  { name: "milliseconds", headers: { "retry-after-ms": "250", "retry-after": "1" }, want: 250 },
  { name: "a date soon", headers: { "retry-after": "Mon, 23 Nov 2026 05:00:07 GMT", date: NOW }, want: 7_000 },
  { name: "a date that is over", headers: { "retry-after": "Sun, 22 Nov 2026 05:00:00 GMT", date: NOW }, want: 0 },
  { name: "an hour", headers: { "retry-after": "3600" }, want: 3_600_000 },
  { name: "a day, in milliseconds", headers: { "retry-after-ms": "86400000" }, want: 86_400_000 },
  { name: "years", headers: { "retry-after": "999999999999" }, want: WAIT_MS_MAX },
  {
    name: "a date in years",
    headers: { "retry-after": "Wed, 23 Nov 2050 05:00:00 GMT", date: NOW },
    want: WAIT_MS_MAX,
  },
  { name: "a date without the upstream's own", headers: { "retry-after": "Wed, 23 Nov 2050 05:00:00 GMT" } },
  { name: "less than nothing", headers: { "retry-after": "-5", date: NOW } },
  { name: "a year alone", headers: { "retry-after": "2050-01-01", date: NOW } },
  { name: "a number with an exponent", headers: { "retry-after": "1e9", date: NOW } },
  { name: "twenty digits", headers: { "retry-after": "99999999999999999999", date: NOW } },
  { name: "no number", headers: { "retry-after": "soon, NaN, Infinity", date: NOW } },
  { name: "nothing", headers: { "retry-after": "" } },
  { name: "two of them", headers: { "retry-after": "5, 7", date: NOW } },
];

/** In the words of a refusal, where no header says it. */
const SAID: readonly { readonly words: string; readonly headers?: Record<string, string>; readonly want?: number }[] = [
  { words: "Rate limit reached. Please try again in 250ms.", want: 250 },
  { words: "Rate limit reached. Please try again in 1.5s. Contact us if you continue to have issues.", want: 1_500 },
  { words: "Please try again in 2m", want: 120_000 },
  { words: "Please try again in 7m12.5s.", want: 432_500 },
  { words: "Please try again in 1h2m3s.", want: 3_723_000 },
  { words: "Please try again in 3d", want: 3 * 86_400_000 },
  { words: "Please try again in 20s.", headers: { "retry-after": "5" }, want: 5_000 },
  { words: "Please try again in a while." },
  { words: "Too many requests." },
];

describe.each(families.map((family) => ({ name: family.name, family })))("$name", ({ family }) => {
  test.each(ASKED)("that asks for $name", ({ headers, want }) => {
    const { wire, refusals } = family;
    for (const status of [429, 503]) {
      const error = wire.decodeError(status, headers, Buffer.from("{}"), refusals);
      expect(error.retryAfterMs).toBe(want);
    }
  });

  test.each(SAID)("that says $words", ({ words, headers = {}, want }) => {
    const body = Buffer.from(JSON.stringify({ error: { message: words } }));
    expect(family.wire.decodeError(429, headers, body, family.refusals).retryAfterMs).toBe(want);
  });

  test.each(["try again in 999999999s", '"retryDelay": "999999999s"'])("that says %s", (words) => {
    const body = Buffer.from(JSON.stringify({ error: { message: words, details: [{ retryDelay: "999999999s" }] } }));
    const error = family.wire.decodeError(429, {}, body, family.refusals);
    expect(error.retryAfterMs ?? 0).toBeLessThanOrEqual(WAIT_MS_MAX);
  });
});
