/** The text of an answer while it comes: added to in small pieces, and kept only until it was counted. */
import type { GrownText } from "../wire.js";

export class GrowingText implements GrownText {
  #droppedLength = 0;
  #kept = "";

  get length(): number {
    return this.#droppedLength + this.#kept.length;
  }

  get keptLength(): number {
    return this.#kept.length;
  }

  add(text: string): void {
    this.#kept += text;
  }

  from(place: number): string {
    return this.#kept.slice(place - this.#droppedLength);
  }

  drop(place: number): void {
    const count = place - this.#droppedLength;
    if (count <= 0) return;
    this.#kept = this.#kept.slice(count);
    this.#droppedLength = place;
  }

  /** What is kept of it. */
  toString(): string {
    return this.#kept;
  }
}
