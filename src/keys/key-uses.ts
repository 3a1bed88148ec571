/** When each key was used last: noted in memory as requests end and calls come, and written some seconds later. */
import type { FigureStore } from "../store/store.js";

const WRITE_MS = 10_000;
/** Keys beyond them are written at once rather than kept. */
const WAITING_MAX = 10_000;

export class KeyUses {
  #waiting = new Map<string, number>();
  readonly #timer: NodeJS.Timeout;
  #writing: Promise<void> = Promise.resolve();

  constructor(
    private readonly store: Pick<FigureStore, "noteUses">,
    private readonly onError: (error: unknown) => void,
  ) {
    this.#timer = setInterval(() => void this.flush(), WRITE_MS).unref();
  }

  used(keyId: string, timeMs: number): void {
    this.#waiting.set(keyId, timeMs);
    if (this.#waiting.size > WAITING_MAX) void this.flush();
  }

  /** When it was used here since the last writing; undefined where it was not. */
  lastOf(keyId: string): number | undefined {
    return this.#waiting.get(keyId);
  }

  /** Never rejects. What could not be written is lost: it is no money. */
  flush(): Promise<void> {
    if (this.#waiting.size === 0) return this.#writing;
    const uses = [...this.#waiting].map(([keyId, timeMs]) => ({ keyId, timeMs }));
    this.#waiting = new Map();
    this.#writing = this.#writing.then(() => this.store.noteUses(uses)).catch(this.onError);
    return this.#writing;
  }

  close(): Promise<void> {
    clearInterval(this.#timer);
    return this.flush();
  }
}
