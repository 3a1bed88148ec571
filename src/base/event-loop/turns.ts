/** Work on many things piece by piece, so that nobody else waits for all of it. */
import { setImmediate as nextTurn } from "node:timers/promises";

/** What one turn of the event loop has time for. */
const TURN_MS = 2;
const LOOK_EACH = 32;

export async function mapInTurns<Item, Result>(items: Iterable<Item>, each: (item: Item) => Result): Promise<Result[]> {
  const results: Result[] = [];
  // What came in this turn was read in it: but for a few, the rest is for the next ones.
  let endMs = -Infinity;
  for (const item of items) {
    results.push(each(item));
    if (results.length % LOOK_EACH !== 0 || performance.now() < endMs) continue;
    await nextTurn();
    endMs = performance.now() + TURN_MS;
  }
  return results;
}
