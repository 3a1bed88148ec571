/** Where chunks of records are kept. A driver implements it. */
import type { ChunkBytes } from "./chunk.js";

/** What is known of a chunk that is not read. A chunk never changes: another one takes its place. */
export interface ChunkMark {
  readonly id: number;
  readonly count: number;
  readonly fromMs: number;
  readonly toMs: number;
  /** True once no more rows are put together with it. */
  readonly sealed: boolean;
  /** True where refusals that were over their time are out of it. */
  readonly stripped: boolean;
}

export type NewChunk = ChunkBytes & Pick<ChunkMark, "sealed" | "stripped">;

export interface ChunkStore {
  insert(chunk: NewChunk): Promise<number>;
  /**
   * Puts chunks in the place of others in one transaction, and says under which ids. Undefined, and nothing is changed,
   * where one of the others is gone.
   */
  replace(ids: readonly number[], chunks: readonly NewChunk[]): Promise<readonly number[] | undefined>;
  /** Those that may hold records that ended in this time, both ends included, the newest end first. */
  within(fromMs: number, toMs: number): Promise<readonly ChunkMark[]>;
  /** The oldest that is wholly before a time, or before another one and not stripped. */
  over(beforeMs: number, refusalsBeforeMs: number): Promise<ChunkMark | undefined>;
  /** Those that are not sealed and have nothing newer than this. */
  unsealed(beforeMs: number): Promise<readonly ChunkMark[]>;
  /** Undefined where it is gone. */
  facts(id: number): Promise<Uint8Array | undefined>;
  texts(id: number): Promise<Uint8Array | undefined>;
  /** Runs it while no other node does the same. Undefined where one does now. */
  alone<Result>(work: () => Promise<Result>): Promise<Result | undefined>;
  close(): Promise<void>;
}
