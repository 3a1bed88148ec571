/** The plain reference of a window: what was taken, looked at from each arrival. */

/** The most in any 60 seconds; `taken` is in order. */
export function mostInAnyMinute(
  taken: readonly { atMs: number; tokens: number }[],
  amountOf: (one: { atMs: number; tokens: number }) => number,
): number {
  let most = 0;
  let sum = 0;
  let first = 0;
  for (const one of taken) {
    sum += amountOf(one);
    for (let old = taken[first]; old !== undefined && old.atMs <= one.atMs - 60_000; old = taken[++first])
      sum -= amountOf(old);
    most = Math.max(most, sum);
  }
  return most;
}
