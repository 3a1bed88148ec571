/** Parts of chunks that were read lately: the same ones are asked for again and again. */
import { LRUCache } from "lru-cache";
import type { Part } from "./chunk.js";
import { ListedTexts } from "./text-list.js";

/** What is kept of each kind. Facts are what sums are made of; texts only name rows. */
const FACTS_BYTES_MAX = 96 * 1024 * 1024;
const TEXTS_BYTES_MAX = 32 * 1024 * 1024;

/** What V8 takes for a part beside its bytes, as measured: a small chunk is little else. */
const PART_BYTES = 600;
const COLUMN_BYTES = 140;
const CELLS_BYTES = 200;
const TEXT_BYTES = 32;

function objectBytes({ columns, texts }: Part): number {
  let bytes = PART_BYTES;
  for (const { cells } of columns.values()) bytes += COLUMN_BYTES + (cells === undefined ? 0 : CELLS_BYTES);
  if (texts instanceof ListedTexts) for (const text of texts.texts) bytes += TEXT_BYTES + 2 * text.length;
  return bytes;
}

export class PartCache {
  readonly #parts = {
    facts: new LRUCache<number, Part>({ maxSize: FACTS_BYTES_MAX }),
    texts: new LRUCache<number, Part>({ maxSize: TEXTS_BYTES_MAX }),
  };

  get(id: number, kind: "facts" | "texts"): Part | undefined {
    return this.#parts[kind].get(id);
  }

  /** `bytes` is how long the part is as it is stored, which its columns stand in. */
  put(id: number, kind: "facts" | "texts", part: Part, bytes: number): void {
    this.#parts[kind].set(id, part, { size: bytes + objectBytes(part) });
  }

  /** What is counted of all that is kept. */
  get bytes(): number {
    return this.#parts.facts.calculatedSize + this.#parts.texts.calculatedSize;
  }

  remove(id: number): void {
    this.#parts.facts.delete(id);
    this.#parts.texts.delete(id);
  }
}
