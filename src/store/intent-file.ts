/**
 * What a process that is killed leaves to the next start: settlements that were told to clients and are on their way to
 * the database. Lines are written and not synced, those of one turn of the event loop at once, which takes
 * microseconds: they outlive the process, not the machine.
 */
import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs";

/** A file is begun anew from here on, once nothing in it is needed. */
const HALF_BYTES = 1024 * 1024;
/** Beyond this nothing is kept: a database that takes nothing for so long has its own ways. */
const HALF_BYTES_MAX = 64 * 1024 * 1024;

/** One of two files, which take turns. */
interface Half {
  readonly descriptor: number;
  bytes: number;
  /** How many of its lines are not in the database yet. */
  open: number;
}

export class IntentFile {
  /** What was left from before, which may be in the database all the same. */
  readonly found: readonly string[];
  readonly #halves: readonly [Half, Half];
  #own: Half;
  readonly #needed = new Map<string, Half>();
  /** What is written at the end of this turn, by its request. */
  readonly #waiting = new Map<string, string>();
  #written: Promise<void> | undefined;
  /** Its descriptors may be those of other files then. */
  #isClosed = false;

  /** Makes the two files where they are not there, for this process alone: the caller has a lock. */
  constructor(path: string) {
    const [one, other] = [`${path}-0`, `${path}-1`].map((name) => {
      const descriptor = openSync(name, "a+", 0o600);
      const text = readFileSync(descriptor, "utf8");
      return { text, half: { descriptor, bytes: text.length, open: 0 } };
    }) as [{ text: string; half: Half }, { text: string; half: Half }];
    // A line that a kill tore has no end.
    this.found = [one, other].flatMap(({ text }) => text.split("\n").slice(0, -1));
    this.#halves = [one.half, other.half];
    this.#own = one.half;
  }

  /** Never throws: a disk that takes no line has what the database says. */
  keep(requestId: string, text: string): void {
    if (this.#isClosed) return;
    this.#waiting.set(requestId, text);
    this.#written ??= new Promise((resolve) => {
      setImmediate(() => {
        this.#write();
        resolve();
      });
    });
  }

  /** Resolves once all that was kept is written, or the disk did not take it. Undefined where nothing waits. */
  get written(): Promise<void> | undefined {
    return this.#written;
  }

  /** The database has the end of the request, or refused it for good. */
  ended(requestId: string): void {
    if (this.#waiting.delete(requestId)) return;
    const half = this.#needed.get(requestId);
    if (half === undefined) return;
    this.#needed.delete(requestId);
    half.open -= 1;
  }

  /** All that was found is in the database. */
  forget(): void {
    if (this.#isClosed) return;
    for (const half of this.#halves) empty(half);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#write();
    this.#isClosed = true;
    // What is not needed is not looked at by the next start.
    for (const half of this.#halves) {
      if (half.open === 0) empty(half);
      closeSync(half.descriptor);
    }
  }

  #write(): void {
    this.#written = undefined;
    if (this.#waiting.size === 0) return;
    try {
      const half = this.#turn();
      if (half.bytes > HALF_BYTES_MAX) return;
      half.bytes += writeSync(half.descriptor, `${[...this.#waiting.values()].join("\n")}\n`);
      half.open += this.#waiting.size;
      for (const requestId of this.#waiting.keys()) this.#needed.set(requestId, half);
    } catch {
      // The settlements themselves go on, and fail where the disk is broken.
    } finally {
      this.#waiting.clear();
    }
  }

  #turn(): Half {
    if (this.#own.bytes < HALF_BYTES) return this.#own;
    const next = this.#own === this.#halves[0] ? this.#halves[1] : this.#halves[0];
    if (next.open > 0) return this.#own;
    empty(next);
    return (this.#own = next);
  }
}

function empty(half: Half): void {
  if (half.bytes > 0) ftruncateSync(half.descriptor, 0);
  half.bytes = 0;
}
