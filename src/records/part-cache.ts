/** Parts of chunks that were read lately: the same ones are asked for again and again. */
import { LRUCache } from "lru-cache";
import type { Part } from "./chunk.js";

/** What is kept of each kind. Facts are what sums are made of; texts only name rows. */
const FACTS_BYTES_MAX = 96 * 1024 * 1024;
const TEXTS_BYTES_MAX = 32 * 1024 * 1024;

export class PartCache {
  readonly #parts = {
    facts: new LRUCache<number, Part>({ maxSize: FACTS_BYTES_MAX }),
    texts: new LRUCache<number, Part>({ maxSize: TEXTS_BYTES_MAX }),
  };

  get(id: number, kind: "facts" | "texts"): Part | undefined {
    return this.#parts[kind].get(id);
  }

  put(id: number, kind: "facts" | "texts", part: Part, bytes: number): void {
    this.#parts[kind].set(id, part, { size: Math.max(1, bytes) });
  }

  remove(id: number): void {
    this.#parts.facts.delete(id);
    this.#parts.texts.delete(id);
  }
}
