/** Looks for objects that other nodes committed: twice a second, and at once for a caller who must see them. */

const EVERY_MS = 500;
/** A caller waits so long for the database. */
const CATCH_UP_MS = 1_000;

export class ObjectWatch {
  #timer: NodeJS.Timeout | undefined;
  /** The look that runs, and the one that comes behind it. */
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  /** `look` must not reject. */
  constructor(private readonly look: () => Promise<void>) {}

  start(): void {
    this.#timer = setInterval(() => {
      if (this.#running === undefined) void this.#start();
    }, EVERY_MS).unref();
  }

  /**
   * Resolves once what was committed before this call is in force here, or after CATCH_UP_MS: where the database is
   * away, what is in force is what can be shown. Never rejects.
   */
  async catchUp(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const waiting = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, CATCH_UP_MS);
    });
    await Promise.race([this.#fromNow(), waiting]);
    clearTimeout(timer);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** A look that has begun may have read too early. All who come while it runs share the next one. */
  #fromNow(): Promise<void> {
    if (this.#running === undefined) return this.#start();
    this.#next ??= this.#running.then(() => {
      this.#next = undefined;
      return this.#start();
    });
    return this.#next;
  }

  #start(): Promise<void> {
    this.#running = this.look().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }
}
