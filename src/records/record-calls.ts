/** What the main thread asks of the thread that stores records, and what that answers. */
import type { RecordRow } from "./columns.js";
import type { ListCursor, Retention } from "./engine.js";
import type { RecordFilter } from "./filter.js";
import type { RowBatch } from "./row-batch.js";
import type { Dimension } from "./usage-codes.js";
import type { UsageTable } from "./usage-scan.js";

export interface RecordCalls {
  append(batch: RowBatch): void;
  list(filter: RecordFilter, count: number, after: ListCursor | undefined): RowBatch;
  /** Undefined where the question makes too many groups. */
  usage(dimensions: readonly Dimension[], filter: RecordFilter): UsageTable | undefined;
  find(id: string): RecordRow | undefined;
  known(ids: readonly string[]): readonly string[];
  adopt(rows: readonly RecordRow[], fromMs: number, toMs: number): number;
  erase(account: string | undefined, endUser: string): number;
  sweepOne(nowMs: number, retention: Retention): boolean;
  joinLeft(beforeMs: number): void;
}

export type RecordCallName = keyof RecordCalls;

export interface RecordCall {
  readonly id: number;
  readonly name: RecordCallName;
  readonly args: readonly unknown[];
}

export type RecordAnswer =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly problem: string };

/** Where the thread keeps its chunks. */
export type RecordPlace = { readonly directory: string } | { readonly url: string };
