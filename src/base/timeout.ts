/** Times that settings and clients give a request. */

/** The longest that settings let a request take, in milliseconds: what waits for one must wait as long. */
export const REQUEST_TOTAL_MS_MAX = 3_600_000;

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** `500ms`, `30s`, `10m` or `1h`, in milliseconds; undefined for anything else. */
export function parseTimeout(text: string): number | undefined {
  const [, number = "", unit = ""] = /^(\d{1,7})(ms|s|m|h)$/.exec(text) ?? [];
  const unitMs = UNITS[unit];
  return unitMs === undefined ? undefined : Number(number) * unitMs;
}
