/**
 * Requests as they end, for those who watch: each watcher has a bounded queue, and is told how many it missed. How many
 * watch is bounded for each key and account where calls begin.
 */
import type { CancelSignal } from "../base/cancellation.js";
import type { RecordRow } from "./columns.js";
import { type RecordFilter, rowPasses } from "./filter.js";
import { rowOfEnded } from "./record-row.js";
import type { EndedRequest, RequestFeed } from "./request-record.js";

/** What waits for a watcher who is slow. */
const QUEUE_ROWS_MAX = 1_000;
/** One message of a watcher: what ended within so long, and at most so many. */
const GATHER_MS = 50;
const MESSAGE_ROWS_MAX = 100;

/** Who watches every account. */
const ALL = "";

/** May make the watcher wait. */
export type PushRows = (rows: readonly RecordRow[], missedCount: number) => Promise<void> | undefined;

export class RequestWatch {
  /** By the account that is watched, so that a request costs nothing for those who watch others; "" is all. */
  readonly #watchers = new Map<string, Set<Watcher>>();
  #unsubscribe: (() => void) | undefined;

  /** Without a feed nothing ever ends. */
  constructor(private readonly feed: Pick<RequestFeed, "subscribe"> | undefined) {}

  /** Hands over requests as they end until the signal aborts it. */
  async watch(filter: RecordFilter, signal: CancelSignal, push: PushRows): Promise<void> {
    const watcher = new Watcher(filter);
    const account = filter.names.account ?? ALL;
    this.#add(account, watcher);
    try {
      for (;;) {
        await watcher.gathered(signal);
        signal.throwIfAborted();
        const { rows, missedCount } = watcher.take();
        await push(rows, missedCount);
      }
    } finally {
      this.#remove(account, watcher);
    }
  }

  #add(account: string, watcher: Watcher): void {
    const watchers = this.#watchers.get(account) ?? new Set();
    this.#watchers.set(account, watchers.add(watcher));
    this.#unsubscribe ??= this.feed?.subscribe((request) => this.#tell(request));
  }

  #remove(account: string, watcher: Watcher): void {
    const watchers = this.#watchers.get(account);
    watchers?.delete(watcher);
    if (watchers?.size === 0) this.#watchers.delete(account);
    if (this.#watchers.size > 0) return;
    this.#unsubscribe?.();
    this.#unsubscribe = undefined;
  }

  #tell(request: EndedRequest): void {
    const row = rowOfEnded(request);
    for (const account of new Set([row.account, ALL]))
      for (const watcher of this.#watchers.get(account) ?? []) watcher.offer(row);
  }
}

class Watcher {
  #rows: RecordRow[] = [];
  #missed = 0;
  /** Called once there is something to tell. */
  #wake: (() => void) | undefined;

  constructor(private readonly filter: RecordFilter) {}

  offer(row: RecordRow): void {
    if (!rowPasses(row, this.filter)) return;
    if (this.#rows.length >= QUEUE_ROWS_MAX) this.#missed += 1;
    else this.#rows.push(row);
    this.#wake?.();
  }

  /** What waits is told together. Resolves also where the signal aborts. */
  gathered(signal: CancelSignal): Promise<void> {
    if (signal.aborted || this.#rows.length > MESSAGE_ROWS_MAX) return Promise.resolve();
    return new Promise((resolve) => {
      let timer: NodeJS.Timeout | undefined;
      const done = (): void => {
        clearTimeout(timer);
        this.#wake = undefined;
        signal.removeEventListener("abort", done);
        resolve();
      };
      this.#wake = () => (timer ??= setTimeout(done, GATHER_MS));
      signal.addEventListener("abort", done, { once: true });
      if (this.#rows.length > 0 || this.#missed > 0) this.#wake();
    });
  }

  take(): { readonly rows: readonly RecordRow[]; readonly missedCount: number } {
    const rows = this.#rows.splice(0, MESSAGE_ROWS_MAX);
    // What was missed came behind all that waits, and is told behind it.
    const missedCount = this.#rows.length === 0 ? this.#missed : 0;
    if (missedCount > 0) this.#missed = 0;
    return { rows, missedCount };
  }
}
