/** How long an upstream asks to wait. What clients are told is `retryAfterMs` of a refusal, in `errors.ts`. */

/** The most that is passed on: 30 days. Nobody plans for longer. */
export const WAIT_MS_MAX = 30 * 24 * 3_600_000;

const HTTP_DATE = /^\s*[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT\s*$/;

const UNIT_MS: ReadonlyMap<string, number> = new Map([
  ["ms", 1],
  ["s", 1000],
  ["m", 60_000],
  ["h", 3_600_000],
  ["d", 86_400_000],
]);

/** In milliseconds, at most `WAIT_MS_MAX`; undefined where the upstream does not say, or says what is no time. */
export function retryAfterMs(headers: Readonly<Record<string, string>>, text: string): number | undefined {
  const wait = ofHeaders(headers) ?? ofText(text);
  return wait === undefined || !(wait >= 0) ? undefined : Math.min(Math.ceil(wait), WAIT_MS_MAX);
}

function ofHeaders(headers: Readonly<Record<string, string>>): number | undefined {
  const ms = numberOf(headers["retry-after-ms"]);
  if (ms !== undefined) return ms;
  const after = headers["retry-after"];
  const seconds = numberOf(after);
  if (seconds !== undefined) return seconds * 1000;
  // A date is told by the upstream's own clock, so it is measured against that.
  const wait = dateOf(after) - dateOf(headers["date"]);
  return Number.isNaN(wait) ? undefined : Math.max(0, wait);
}

/** NaN of all but the one form that HTTP has for dates: what reads dates takes nearly any number for one. */
function dateOf(text: string | undefined): number {
  return text !== undefined && HTTP_DATE.test(text) ? Date.parse(text) : NaN;
}

const SPAN = "(?:\\d{1,9}(?:\\.\\d{1,9})?(?:ms|[dhms])){1,4}";
const IN_TEXT = new RegExp(`(?:try again in |"retryDelay":\\s*")(${SPAN})`, "i");

/** OpenAI says it in words, such as `6m0s`, and Google's servers in a detail of the error. */
function ofText(text: string): number | undefined {
  const span = IN_TEXT.exec(text.slice(0, 16_384))?.[1];
  return span === undefined ? undefined : spanMs(span);
}

/** The milliseconds of a span as `1h2m3.5s` has it. */
export function spanMs(span: string): number {
  let sumMs = 0;
  for (const [, number, unit = ""] of span.toLowerCase().matchAll(/([\d.]+)(ms|[dhms])/g))
    sumMs += Number(number) * (UNIT_MS.get(unit) ?? 0);
  return sumMs;
}

function numberOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\s*\d{1,12}(\.\d+)?\s*$/.test(text) ? Number(text) : undefined;
}
