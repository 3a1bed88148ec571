/** What settings say of a target: each value by the narrowest settings that say it. */
import type { Labels } from "../base/demands.js";
import { DEFAULT_RETRIES, type Retries } from "../base/retries.js";
import type { RetrySettings, TimeoutSettings } from "../config/settings.js";
import { REQUEST_TIMEOUTS, type RequestTimeouts } from "./deadline.js";

/** The narrowest settings come last. */
export function timeoutsOf(...said: readonly (TimeoutSettings | undefined)[]): RequestTimeouts {
  const { firstOutputMs, idleMs, totalMs }: TimeoutSettings = Object.assign({}, ...said);
  const all = totalMs ?? REQUEST_TIMEOUTS.totalMs;
  return {
    ...REQUEST_TIMEOUTS,
    totalMs: all,
    wholeMs: all,
    firstTokenMs: firstOutputMs ?? REQUEST_TIMEOUTS.firstTokenMs,
    // What the settings say holds, whether another target is left or not.
    takeoverMs: firstOutputMs ?? REQUEST_TIMEOUTS.takeoverMs,
    idleMs: idleMs ?? REQUEST_TIMEOUTS.idleMs,
  };
}

/** Of an upstream and of a target there, whose labels come first. */
export function labelsOf(...said: readonly (Labels | undefined)[]): Labels | undefined {
  return said.every((labels) => labels === undefined) ? undefined : Object.assign({}, ...said);
}

/** The narrowest settings come last. */
export function retriesOf(...said: readonly (RetrySettings | undefined)[]): Retries {
  return Object.assign({}, DEFAULT_RETRIES, ...said) as Retries;
}
