/** What the readings of all limits of a request come to: the refusal, if any, and how the windows stand. */
import { type AdmissionResult, type Demand, tighter, type WindowState } from "./coordination.js";

/** When a slot comes free nobody knows; a second is a polite guess. */
const SLOT_RETRY_MS = 1_000;

/** How one window stands, and how long until what is asked for would fit. */
export interface WindowReading {
  readonly state: WindowState;
  readonly waitMs: number;
}

/** How the limits of one demand stand; a window is undefined where it is not limited. */
export interface Reading {
  readonly requests: WindowReading | undefined;
  readonly tokens: WindowReading | undefined;
  /** Slots that others have. */
  readonly leased: number;
}

export type Refusal = Extract<AdmissionResult, { admitted: false }>;
export type Reached = Omit<Refusal, "admitted" | "degraded" | "firstTaken" | "requests" | "tokens">;
export type WindowStates = Pick<AdmissionResult, "requests" | "tokens">;

/** The limit of one subject that refuses longest. */
export function reachedOf(demand: Demand, { requests, tokens, leased }: Reading): Reached | undefined {
  const { subject, limits } = demand;
  const requestsWaitMs = requests?.waitMs ?? 0;
  const tokensWaitMs = tokens?.waitMs ?? 0;
  const slotMissing = limits.concurrency > 0 && leased >= limits.concurrency;
  const retryAfterMs = Math.max(requestsWaitMs, tokensWaitMs, slotMissing ? SLOT_RETRY_MS : 0);
  if (retryAfterMs === 0) return undefined;
  const reached = (limit: Reached["limit"], limitValue: number, remaining: number): Reached => {
    return { subject, limit, limitValue, remaining, retryAfterMs };
  };
  if (retryAfterMs === requestsWaitMs)
    return reached("requests_per_minute", limits.requestsPerMinute, requests?.state.remaining ?? 0);
  if (retryAfterMs === tokensWaitMs)
    return reached("tokens_per_minute", limits.tokensPerMinute, tokens?.state.remaining ?? 0);
  return reached("concurrency", limits.concurrency, Math.max(0, limits.concurrency - leased));
}

/** Of all limits that refuse, the one that refuses longest: to wait for another would be in vain. */
export function longestOf(
  demands: readonly Demand[],
  readingOf: (demand: Demand, index: number) => Reading,
): Reached | undefined {
  let longest: Reached | undefined;
  for (const [index, demand] of demands.entries()) {
    const reached = reachedOf(demand, readingOf(demand, index));
    if (reached !== undefined && (longest === undefined || reached.retryAfterMs > longest.retryAfterMs))
      longest = reached;
  }
  return longest;
}

/** Of the windows of all demands, those that leave least. */
export function tightestOf(readings: Iterable<Reading>): WindowStates {
  let requests: WindowState | undefined;
  let tokens: WindowState | undefined;
  for (const reading of readings) {
    requests = tighter(requests, reading.requests?.state);
    tokens = tighter(tokens, reading.tokens?.state);
  }
  return { requests, tokens };
}
