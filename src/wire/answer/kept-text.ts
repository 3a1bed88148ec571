/** What of an answer must be kept while it streams: as little as its wire allows, and never without bound. */
import { upstreamFailed } from "../error/refusals.js";

/** The most characters of one part that is told only when it is whole. */
const PART_CHARACTERS_MAX = 8 * 1024 * 1024;

/** Adds to a part that is told when it is whole. Throws UPSTREAM_FAILED where it grows too long. */
export function kept(part: string, more: string): string {
  if (part.length + more.length > PART_CHARACTERS_MAX) throw upstreamFailed("a part of its answer is too long");
  return part + more;
}

/**
 * A text that grows, known by its length and a sum of its characters. Whether another begins with it can be told
 * without keeping it; texts that differ are taken for the same once in four billion times.
 */
export class TextPrint {
  length = 0;
  #sum = 0;

  add(text: string): void {
    this.#sum = sumOf(text, this.#sum);
    this.length += text.length;
  }

  clear(): void {
    this.length = 0;
    this.#sum = 0;
  }

  begins(text: string): boolean {
    return text.length >= this.length && sumOf(text.slice(0, this.length), 0) === this.#sum;
  }

  equals(text: string): boolean {
    return text.length === this.length && this.begins(text);
  }
}

function sumOf(text: string, start: number): number {
  let sum = start;
  for (let at = 0; at < text.length; at++) sum = (Math.imul(sum, 31) + text.charCodeAt(at)) | 0;
  return sum;
}
