/** What one end of a tunnel has to say: frames gathered within one turn go out as one message. */
import type { TunnelFrame } from "../../api/index.js";
import { OwnCopies } from "../../base/bytes/own-copies.js";
import { frameBytes, GATHERED_BYTES_MAX } from "./tunnel-frame.js";

/** Beyond so many waiting bytes calls keep their pieces to themselves. */
const WAITING_BYTES_MAX = 4 * 1024 * 1024;

/** A call that waits for room. */
export interface Waiting {
  onRoom(): void;
}

export class Outbox {
  readonly #write: (frames: TunnelFrame[]) => boolean;
  readonly #waiting = new Set<Waiting>();
  readonly #flush = (): void => {
    this.#scheduled = false;
    this.flush();
  };
  #frames: TunnelFrame[] = [];
  #bytes = 0;
  #copies = new OwnCopies();
  #scheduled = false;
  #blocked = false;
  #open = true;

  /** `write` sends one message and returns false where the connection is behind; `drained` says when it caught up. */
  constructor(write: (frames: TunnelFrame[]) => boolean) {
    this.#write = write;
  }

  /** True while the connection is behind. */
  get blocked(): boolean {
    return this.#blocked;
  }

  /** True where no piece should be added until `onRoom`. */
  get full(): boolean {
    return this.#bytes > WAITING_BYTES_MAX;
  }

  /** True where everything was handed to the connection. */
  get empty(): boolean {
    return this.#frames.length === 0;
  }

  push(frame: TunnelFrame): void {
    if (!this.#open) return;
    // What waits long must not keep what it was read from.
    if (this.#blocked) frame.data = this.#copies.copy(frame.data);
    this.#frames.push(frame);
    this.#bytes += frameBytes(frame);
    if (this.#scheduled || this.#blocked) return;
    this.#scheduled = true;
    setImmediate(this.#flush);
  }

  wait(call: Waiting): void {
    this.#waiting.add(call);
  }

  /** The connection takes more. */
  drained(): void {
    this.#blocked = false;
    this.#copies = new OwnCopies();
    this.flush();
  }

  /** Sends what waits, now. */
  flush(): void {
    while (this.#frames.length > 0 && !this.#blocked && this.#open) this.#blocked = !this.#write(this.#next());
    if (this.full || this.#waiting.size === 0) return;
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const call of waiting) call.onRoom();
  }

  /** Nothing goes out any more. */
  close(): void {
    this.#open = false;
    this.#frames = [];
    this.#bytes = 0;
    this.#waiting.clear();
  }

  /** The frames of the next message, at least one. */
  #next(): TunnelFrame[] {
    const all = this.#frames;
    if (this.#bytes <= GATHERED_BYTES_MAX) {
      this.#frames = [];
      this.#bytes = 0;
      return all;
    }
    let bytes = 0;
    let count = 0;
    for (const frame of all) {
      const more = frameBytes(frame);
      if (count > 0 && bytes + more > GATHERED_BYTES_MAX) break;
      bytes += more;
      count += 1;
    }
    this.#bytes -= bytes;
    return all.splice(0, count);
  }
}
