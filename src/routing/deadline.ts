/** How long a request may take, in all and in each of its phases. Times are of the monotonic clock. */

import { DEFAULT_TIMEOUTS, REQUEST_TOTAL_MS_MAX } from "../base/timeout.js";

/** In milliseconds. */
export interface RequestTimeouts {
  /** All of it: admission, every attempt and the pauses between them. No attempt takes longer either. */
  readonly totalMs: number;
  /** From the beginning of an attempt to the first output of a streamed answer. */
  readonly firstTokenMs: number;
  /** The same for an attempt that another target can take over. Absent: no shorter. */
  readonly takeoverMs?: number | undefined;
  /** From the beginning of an attempt to the first byte of a whole answer, which comes when all is generated. */
  readonly wholeMs: number;
  /** Between two reads, once there was output. */
  readonly idleMs: number;
  /** How long a connection may stay silent and open behind an answer that is whole. */
  readonly lingerMs: number;
  /** How long an answer is read on for its usage after its caller left, be it at the last moment. */
  readonly readOnMs: number;
}

export const REQUEST_TIMEOUTS: RequestTimeouts = {
  totalMs: DEFAULT_TIMEOUTS.totalMs,
  firstTokenMs: DEFAULT_TIMEOUTS.firstOutputMs,
  takeoverMs: DEFAULT_TIMEOUTS.takeoverMs,
  // A whole answer has its first byte when it is whole.
  wholeMs: DEFAULT_TIMEOUTS.totalMs,
  idleMs: DEFAULT_TIMEOUTS.idleMs,
  lingerMs: 5_000,
  readOnMs: 60_000,
};
/** The longest that a request can be at work: what a client left is read on for a while. */
export const REQUEST_MS_MAX = REQUEST_TOTAL_MS_MAX + REQUEST_TIMEOUTS.readOnMs;

/** When one request must be over. Made once, when it is admitted: attempts, pauses and the hold's life follow it. */
export class Deadline {
  /** When the gateway ends the request. */
  readonly endMs: number;
  /** When its caller is gone at the latest: at its own deadline where that is earlier. */
  readonly callerEndMs: number;
  readonly #readOnMs: number;

  /** `callerEndMs` is Infinity where the caller set no deadline. */
  constructor(startMs: number, callerEndMs: number, timeouts: Pick<RequestTimeouts, "totalMs" | "readOnMs">) {
    this.endMs = startMs + timeouts.totalMs;
    this.callerEndMs = Math.min(this.endMs, callerEndMs);
    this.#readOnMs = timeouts.readOnMs;
  }

  /** How long there is somebody to answer. */
  leftMs(nowMs: number): number {
    return Math.max(0, this.callerEndMs - nowMs);
  }

  /** How long the request can be at work, reading on included: its hold must live as long. */
  lifeMs(nowMs: number): number {
    return this.leftMs(nowMs) + this.#readOnMs;
  }
}
