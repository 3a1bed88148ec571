/** How much is kept of answers, for how long, and for how many clients that are away. */

/** An answer that is larger is not recorded whole, so that it cannot come again. */
export const ANSWER_BYTES_MAX = 16 * 1024 * 1024;
/** All recorded answers in memory together. */
export const POOL_BYTES_MAX = 128 * 1024 * 1024;
/** Requests that run, or whose answers are kept in memory, while no client is there. */
export const ALONE_MAX = 256;
/** How long an Idempotency-Key stays what it is. */
export const KEY_MS = 24 * 3_600_000;
/** How long its answer is kept: as long, but for a large one. */
export const LARGE_BYTES = 4 * 1024 * 1024;
export const LARGE_MS = 600_000;
/** How long what a client lost, or may come back to, is kept in memory. */
export const KEPT_MS = 600_000;
/** How long an attempt runs on for a retry. The official SDKs wait 8 s at most before they retry. */
export const GRACE_MS = 10_000;
/** How long runs that were told to end are waited for when the process stops. */
export const STOP_MS = 2_000;
