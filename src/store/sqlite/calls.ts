/** What the main thread asks of the database's thread, and the messages that carry it. */
import type { TableCalls } from "../calls.js";
import type { FlatValue } from "./batch-message.js";
import type { StartCheck } from "./database-file.js";
import type { VerifyReport } from "../store.js";

/** Every call, answered in the order of the questions. */
export interface SqliteCalls extends TableCalls {
  /** Operations and results are flat lists, as `batch-message.ts` makes them. */
  commit(operations: readonly FlatValue[]): readonly FlatValue[];
  preview(operations: readonly FlatValue[]): readonly FlatValue[];
  /** The ids of a node's leases that are asked back. */
  recalled(nodeId: string): readonly string[];
  /** The time of the newest transfer or record of the audit log; undefined where there is none. */
  lastTime(): number | undefined;
}

/** What a thread can be asked: the calls of the ledger's database, or of another one. */
export type CallName<Calls> = keyof Calls & string;
type Call<Calls, Name extends keyof Calls> = Calls[Name] extends (...args: infer Arguments) => infer Result
  ? { readonly args: Arguments; readonly result: Result }
  : never;
export type CallArguments<Calls, Name extends keyof Calls> = Call<Calls, Name>["args"];
export type CallResult<Calls, Name extends keyof Calls> = Call<Calls, Name>["result"];

export interface CallMessage {
  readonly id: number;
  readonly name: string;
  readonly args: readonly unknown[];
}

/** How a call failed: unavailable passes, broken is our fault, fatal means that the disk cannot be trusted. */
export interface Failure {
  readonly kind: "unavailable" | "broken" | "fatal";
  readonly code: string;
  readonly message: string;
}

export type WorkerMessage =
  | { readonly kind: "ready"; readonly lossFound: string | undefined }
  | { readonly kind: "refused"; readonly message: string; readonly isUnusable: boolean }
  | { readonly kind: "answer"; readonly id: number; readonly result: unknown }
  | { readonly kind: "failure"; readonly id: number; readonly failure: Failure }
  | { readonly kind: "verified"; readonly report: VerifyReport }
  | { readonly kind: "closed" };

/** What a thread is started for. */
export type WorkerTask =
  | {
      readonly kind: "ledger";
      readonly directory: string;
      readonly databaseBytesMax: number | undefined;
      readonly check: StartCheck;
      /** Where the thread notes how long the disk took, shared with the thread that asks; undefined: nowhere. */
      readonly syncSeconds: ArrayBufferLike | undefined;
    }
  | { readonly kind: "verify"; readonly directory: string }
  | { readonly kind: "answers"; readonly directory: string };
