/** What the main thread asks of the thread that stores records, and what that answers. */
import type { SealKeys } from "../alerts/seal.js";
import type { RecordRow } from "./columns.js";
import type { GatheredContent } from "./content-tap.js";
import type { KeptContent } from "./content-vault.js";
import type { ListCursor, Retention } from "./engine.js";
import type { RecordFilter } from "./filter.js";
import type { RowBatch, RowPage } from "./row-batch.js";
import type { TimeSpan, UsageAsk, UsageSnapshot } from "./usage-snapshot.js";

export interface RecordCalls {
  /** Stored at once, whatever else runs. */
  append(batch: RowBatch): void;
  /** Puts together what was appended, where it is many small pieces. */
  joinTails(): void;
  list(filter: RecordFilter, count: number, after: ListCursor | undefined): RowPage;
  /** All of the same records. Undefined where a question makes too many groups. */
  usage(asked: readonly UsageAsk[], spans: readonly TimeSpan[]): UsageSnapshot | undefined;
  find(id: string): RecordRow | undefined;
  known(ids: readonly string[]): readonly string[];
  adopt(rows: readonly RecordRow[], fromMs: number, toMs: number): number;
  erase(account: string | undefined, endUser: string): Erased;
  sweepOne(nowMs: number, retention: Retention): boolean;
  joinLeft(beforeMs: number): void;
  /** `secrets` are those to keep out of text since the last call. */
  keepContent(contents: readonly GatheredContent[], secrets: readonly string[]): void;
  content(id: string): KeptContent | undefined;
  sweepContent(beforeMs: number): boolean;
}

export type RecordCallName = keyof RecordCalls;

/** What asks the thread, of this process or of another one. */
export interface RecordCaller {
  call<Name extends RecordCallName>(
    name: Name,
    ...args: Parameters<RecordCalls[Name]>
  ): Promise<ReturnType<RecordCalls[Name]>>;
  close(): Promise<void>;
}

export interface RecordCall {
  readonly id: number;
  readonly name: RecordCallName;
  readonly args: readonly unknown[];
}

export type RecordAnswer =
  | { readonly id: number; readonly result: unknown }
  /** `isAway`: the database took nothing. */
  | { readonly id: number; readonly problem: string; readonly isAway: boolean };

/** What a person was taken out of. */
export interface Erased {
  readonly requestCount: number;
  readonly contentCount: number;
}

/** Where the thread keeps its chunks. */
export type RecordPlace = { readonly directory: string } | { readonly url: string };

/** What the thread says in place of `ready` where its place cannot be opened. */
export interface RecordRefusal {
  readonly refused: string;
  /** True where the files themselves are at fault. */
  readonly isUnusable: boolean;
}

/** What the thread starts with. */
export interface RecordStart {
  readonly place: RecordPlace;
  /** What seals the accounts' keys of content. */
  readonly contentKeys: SealKeys;
}
