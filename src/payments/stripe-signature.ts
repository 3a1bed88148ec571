/** The time in the signature of Stripe's events. The package checks the rest. */

/** How far the time of a signature may be from ours: an older event is one that somebody sends again. */
export const TOLERANCE_S = 300;

/** One time, in seconds, within the tolerance. The package takes what begins with digits, and any time to come. */
export function isTimely(signature: string, nowMs: number): boolean {
  const [time, other] = signature.split(",").filter((part) => part.trim().startsWith("t="));
  const [, seconds] = /^t=(\d{1,12})$/.exec(time ?? "") ?? [];
  if (seconds === undefined || other !== undefined) return false;
  return Math.abs(Math.floor(nowMs / 1_000) - Number(seconds)) <= TOLERANCE_S;
}
