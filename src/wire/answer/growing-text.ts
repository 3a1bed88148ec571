/** The text of an answer while it comes: added to in small pieces, and kept only until it was counted. */
import type { GrownText } from "../wire.js";

const NO_BYTES = Buffer.alloc(0);
const ROOM_BYTES = 512;
/** Of a character of UTF-16. */
const CHARACTER_BYTES_MAX = 3;

/** Halves of signs are joined, wherever they were cut; one whose other half never comes becomes U+FFFD. */
export class GrowingText implements GrownText {
  #droppedLength = 0;
  /**
   * What is kept, but for the last piece, in UTF-8: a string that grows keeps each of its pieces until somebody reads
   * it, which takes eighty bytes for a word of five.
   */
  #bytes = NO_BYTES;
  #byteLength = 0;
  /** How many characters that is. */
  #writtenLength = 0;
  /** As it came: the text of an answer that is read whole is one piece. */
  #last = "";

  get length(): number {
    return this.#droppedLength + this.keptLength;
  }

  get keptLength(): number {
    return this.#writtenLength + this.#last.length;
  }

  get keptBytes(): number {
    return this.#byteLength + Buffer.byteLength(this.#last);
  }

  add(text: string): void {
    const last = this.#last;
    const end = endsInHalf(last) ? last.length - 1 : last.length;
    if (end > 0) this.#write(last.slice(0, end));
    this.#last = last.slice(end) + text;
  }

  #write(text: string): void {
    if (this.#byteLength + text.length * CHARACTER_BYTES_MAX > this.#bytes.length) this.#makeRoom(text);
    this.#byteLength += this.#bytes.write(text, this.#byteLength);
    this.#writtenLength += text.length;
  }

  #makeRoom(text: string): void {
    const needed = this.#byteLength + Buffer.byteLength(text);
    if (needed <= this.#bytes.length) return;
    const roomier = Buffer.allocUnsafe(Math.max(needed, this.#bytes.length * 2, ROOM_BYTES));
    this.#bytes.copy(roomier, 0, 0, this.#byteLength);
    this.#bytes = roomier;
  }

  from(place: number): string {
    const start = place - this.#droppedLength;
    if (start >= this.#writtenLength) return this.#last.slice(start - this.#writtenLength);
    return (this.#bytes.toString("utf8", 0, this.#byteLength) + this.#last).slice(start);
  }

  drop(place: number): void {
    if (place <= this.#droppedLength) return;
    this.#last = this.from(place);
    this.#droppedLength = place;
    this.#bytes = NO_BYTES;
    this.#byteLength = 0;
    this.#writtenLength = 0;
  }

  /** What is kept of it. */
  toString(): string {
    return this.from(this.#droppedLength);
  }
}

/** True where the other half of its last sign may still come. */
function endsInHalf(text: string): boolean {
  return (text.charCodeAt(text.length - 1) & 0xfc00) === 0xd800;
}
