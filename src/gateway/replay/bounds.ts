/** Limits for recorded answers: how much, for how long, and for how many disconnected clients. */

/** A larger answer is not recorded completely, so it cannot be replayed. */
export const ANSWER_BYTES_MAX = 16 * 1024 * 1024;
/** All recorded answers in memory together. */
export const POOL_BYTES_MAX = 128 * 1024 * 1024;
/** Requests without a connected client that run, or whose answers are kept in memory. */
export const ALONE_MAX = 256;
/** How long an Idempotency-Key is remembered. */
export const KEY_MS = 24 * 3_600_000;
/** An answer is kept as long as its key, unless it is larger than this. */
export const LARGE_BYTES = 4 * 1024 * 1024;
export const LARGE_MS = 600_000;
/** How long an answer for a client that lost it, or may come back, is kept in memory. */
export const KEPT_MS = 600_000;
/** How long an attempt runs on for a retry. The official SDKs wait 8 s at most before they retry. */
export const GRACE_MS = 10_000;
/** How long to wait, when the process stops, for runs that were told to end. */
export const STOP_MS = 2_000;
