/** Texts that are read a slice at a time, since they are too long to be handled at once on the event loop. */
import { asBuffer } from "./bytes.js";

/** A string is one. */
export interface SlicedText {
  /** In characters of UTF-16. */
  readonly length: number;
  slice(start: number, end?: number): string;
}

/** A text as UTF-16, which moves between threads where a string would be copied, at its whole length. */
export class TextBytes implements SlicedText {
  readonly #bytes: Buffer;

  constructor(bytes: Uint8Array) {
    this.#bytes = asBuffer(bytes);
  }

  get length(): number {
    return this.#bytes.length / 2;
  }

  slice(start: number, end = this.length): string {
    return this.#bytes.toString("utf16le", start * 2, end * 2);
  }
}
