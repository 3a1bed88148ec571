/** Those that are under way now, of something of which thousands come and go each second. */

/** An entry knows its own place; only the roster changes it. */
export interface RosterEntry {
  /** Undefined while it is in no roster. */
  rosterIndex?: number | undefined;
}

/**
 * A set whose changes leave no garbage that lives on.
 *
 * A Set that many entries pass through makes a new table every few of them, and each old table points to the next. The
 * first that grows old keeps all later ones, with everything that was ever in them, until the next full collection: a
 * server then drags each request through three collections instead of none.
 */
export class Roster<Entry extends RosterEntry> implements Iterable<Entry> {
  readonly #entries: Entry[] = [];

  get size(): number {
    return this.#entries.length;
  }

  /** Adding an entry again changes nothing. It may be in one roster at a time. */
  add(entry: Entry): void {
    if (entry.rosterIndex !== undefined) return;
    entry.rosterIndex = this.#entries.length;
    this.#entries.push(entry);
  }

  /** Removing what is not in it changes nothing. */
  remove(entry: Entry): void {
    const index = entry.rosterIndex;
    if (index === undefined) return;
    entry.rosterIndex = undefined;
    const last = this.#entries.pop();
    if (last === undefined || last === entry) return;
    this.#entries[index] = last;
    last.rosterIndex = index;
  }

  /** As they are now: what comes or goes meanwhile changes nothing of it. */
  [Symbol.iterator](): Iterator<Entry> {
    return [...this.#entries][Symbol.iterator]();
  }
}
