/** The text of an answer while it comes: added to in small pieces, looked at near its end, and taken whole once. */
import type { GrownText } from "./wire.js";

export class GrowingText implements GrownText {
  /** What nobody looks at any more before all of it. To look into a long text would copy it each time it grew. */
  #settled = "";
  #fresh = "";

  get length(): number {
    return this.#settled.length + this.#fresh.length;
  }

  add(text: string): void {
    this.#fresh += text;
  }

  from(place: number): string {
    return this.#fresh.slice(place - this.#settled.length);
  }

  settle(place: number): void {
    const count = place - this.#settled.length;
    if (count <= 0) return;
    this.#settled += this.#fresh.slice(0, count);
    this.#fresh = this.#fresh.slice(count);
  }

  toString(): string {
    return this.#settled + this.#fresh;
  }
}
