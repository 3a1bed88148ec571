/** Long answers, written piece by piece, so that nobody else waits for all of one. */
import { setImmediate as nextTurn } from "node:timers/promises";

/** The items between `begin` and `end`, so many in one turn of the event loop. */
export async function* pieces<Item>(
  items: readonly Item[],
  count: number,
  { begin, write, end }: { begin: string; write: (items: Item[], isFirst: boolean) => string; end: string },
): AsyncGenerator<string> {
  yield begin;
  for (let at = 0; at < items.length; at += count) {
    yield write(items.slice(at, at + count), at === 0);
    await nextTurn();
  }
  yield end;
}
