/** Times that settings and clients give a request. */

/** The longest that settings let a request take, in milliseconds: what waits for one must wait as long. */
export const REQUEST_TOTAL_MS_MAX = 3_600_000;

/** How long an answer may take where settings say nothing, in milliseconds. */
export const DEFAULT_TIMEOUTS = {
  // A model may think for two minutes before its first token.
  firstOutputMs: 120_000,
  // A client that waits in silence gives up soon after; another target may still answer it.
  takeoverMs: 90_000,
  idleMs: 30_000,
  totalMs: 600_000,
} as const;

/** How long a request waits for a place at a full target where settings do not say it, in milliseconds. */
export const DEFAULT_QUEUE_WAIT_MS = 30_000;

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** `500ms`, `30s`, `10m` or `1h`, in milliseconds; undefined for anything else. */
export function parseTimeout(text: string): number | undefined {
  const [, number = "", unit = ""] = /^(\d{1,7})(ms|s|m|h)$/.exec(text) ?? [];
  const unitMs = UNITS[unit];
  return unitMs === undefined ? undefined : Number(number) * unitMs;
}
