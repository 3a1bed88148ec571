/** Long answers, written piece by piece, so that nobody else waits for all of one. */
import { setImmediate as nextTurn } from "node:timers/promises";

/** How long one turn of the event loop writes. */
const TURN_MS = 2;

/** The items between `begin` and `end`: `count` by `count`, as many as one turn of the event loop has time for. */
export async function* pieces<Item>(
  items: readonly Item[],
  count: number,
  { begin, write, end }: { begin: string; write: (items: Item[], isFirst: boolean) => string; end: string },
): AsyncGenerator<string> {
  let text = begin;
  // What is written came in this turn, and was put together in it.
  await nextTurn();
  let endMs = performance.now() + TURN_MS;
  for (let at = 0; at < items.length; at += count) {
    text += write(items.slice(at, at + count), at === 0);
    if (performance.now() < endMs) continue;
    yield text;
    await nextTurn();
    text = "";
    endMs = performance.now() + TURN_MS;
  }
  yield text + end;
}
