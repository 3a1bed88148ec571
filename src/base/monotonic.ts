/** A clock that only goes forward, in milliseconds; it has nothing to do with the time of day. */
export const monotonicMs = (): number => performance.now();
