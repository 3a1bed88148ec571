/** Parts of stored chunks as this program has them, whichever stored them. */
import { decodePart, type Part } from "./chunk.js";
import type { ChunkMark, ChunkStore } from "./chunk-store.js";
import { nameSessions, withCreateTimes, withSessions } from "./older-chunks.js";
import { PartCache } from "./part-cache.js";

export type ReadMark = Pick<ChunkMark, "id" | "count" | "fromMs" | "toMs">;
type PartKind = "facts" | "texts";

export class PartReader {
  readonly #cache = new PartCache();
  /** Chunks that are stored with ids of sessions as end users. */
  readonly #namingSessions = new Set<number>();

  constructor(private readonly store: Pick<ChunkStore, PartKind>) {}

  /** Facts that were stored just now; `bytes` is how long they are. */
  keepFacts(id: number, facts: Part, bytes: number): void {
    this.#cache.put(id, "facts", facts, bytes);
  }

  remove(id: number): void {
    this.#cache.remove(id);
    this.#namingSessions.delete(id);
  }

  /** Undefined where the chunk is gone. The facts of a chunk are read before its texts. */
  async read(mark: ReadMark, kind: PartKind): Promise<Part | undefined> {
    const { id } = mark;
    const known = this.#cache.get(id, kind);
    if (known !== undefined) return known;
    const stored = await this.#stored(mark, kind);
    if (stored === undefined) return undefined;
    let { part } = stored;
    if (kind === "facts" && nameSessions(part, mark.count)) this.#namingSessions.add(id);
    if (this.#namingSessions.has(id)) {
      const other = await this.#stored(mark, kind === "facts" ? "texts" : "facts");
      if (other === undefined) return undefined;
      const [facts, texts] = kind === "facts" ? [part, other.part] : [other.part, part];
      part = withSessions({ ...mark, facts, texts })[kind];
    }
    this.#cache.put(id, kind, part, stored.size);
    return part;
  }

  async #stored({ id, count }: ReadMark, kind: PartKind): Promise<{ part: Part; size: number } | undefined> {
    const bytes = await this.store[kind](id);
    if (bytes === undefined) return undefined;
    const part = kind === "facts" ? withCreateTimes(decodePart(bytes), count) : decodePart(bytes);
    return { part, size: bytes.length };
  }
}
