/**
 * What an upstream streams, on its way to who reads it: in shares, so that no answer holds the event loop, however much
 * of it one read brings and however costly it is.
 */
import { firstSign } from "../base/bytes/byte-order-mark.js";
import { LoopShares } from "../base/event-loop/loop-shares.js";

/** What one answer may have read of it in a turn. Events of a few bytes take longest: some 5 ms for so many. */
const SHARE_BYTES = 16_384;

const OPEN_OBJECT = 0x7b;
/** Where `data:`, `event:`, `id:`, `retry:` and comments begin. */
const EVENT_SIGNS: ReadonlySet<number> = new Set(Buffer.from("deir:"));

/** All answers of this process take turns. */
const shares = new LoopShares();

export class Intake {
  readonly #waiting: Buffer[] = [];
  /** What was read of the share that runs. */
  #read = 0;
  #isResting = false;
  /** True while who reads wants no more. */
  #isHeld = false;
  #end: (() => void) | undefined;
  #isDropped = false;
  /** True until its first sign came. */
  #isFresh = true;

  /**
   * `onFull` is told when the sender must stop, and when it may go on. Neither of the two may throw. `isJson` says what
   * the answer calls itself.
   */
  constructor(
    private readonly take: (chunk: Buffer) => void,
    private readonly onFull: (isFull: boolean) => void,
    private readonly isJson = false,
  ) {}

  /** True until the next share begins. */
  get isResting(): boolean {
    return this.#isResting;
  }

  /**
   * True of the chunk in which an answer begins that is whole although a stream was asked for, whatever its content
   * type says: no stream of any wire begins as a JSON object does. What calls itself JSON and begins as an event or a
   * comment of a stream is one.
   */
  isOfWhole(chunk: Buffer): boolean {
    if (!this.#isFresh) return false;
    const sign = firstSign(chunk);
    this.#isFresh = sign === undefined;
    if (sign === undefined) return false;
    return this.isJson ? !EVENT_SIGNS.has(sign) : sign === OPEN_OBJECT;
  }

  /** True of a chunk that may be read at once, as nearly all may; it is counted. Any other is pushed. */
  admits(bytes: number): boolean {
    const isFree = this.#waiting.length === 0 && !this.#isResting && !this.#isHeld;
    if (!isFree || this.#read + bytes > SHARE_BYTES) return false;
    this.#read += bytes;
    return true;
  }

  push(chunk: Buffer): void {
    this.#waiting.push(chunk);
    this.#work();
  }

  /** Runs once all that came before was taken. */
  end(work: () => void): void {
    this.#end = work;
    this.#work();
  }

  /** Who reads wants no more until `release`. */
  hold(): void {
    this.#isHeld = true;
  }

  release(): void {
    this.#isHeld = false;
    this.#work();
  }

  /** Nothing of what waits is wanted any more. */
  drop(): void {
    this.#isDropped = true;
    this.#waiting.length = 0;
    this.#end = undefined;
  }

  #work(): void {
    while (!this.#isResting && !this.#isHeld && !this.#isDropped) {
      const [next] = this.#waiting;
      if (next === undefined) {
        const end = this.#end;
        this.#end = undefined;
        return end?.();
      }
      const room = SHARE_BYTES - this.#read;
      if (room === 0) return this.#rest();
      const piece = next.length <= room ? next : next.subarray(0, room);
      if (piece === next) this.#waiting.shift();
      else this.#waiting[0] = next.subarray(room);
      this.#read += piece.length;
      this.take(piece);
    }
  }

  #rest(): void {
    this.#isResting = true;
    this.onFull(true);
    shares.wait(() => {
      this.#isResting = false;
      this.#read = 0;
      this.#work();
      if (!this.#isResting && !this.#isDropped) this.onFull(false);
    });
  }
}
