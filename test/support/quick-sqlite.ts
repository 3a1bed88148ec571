/**
 * A store on SQLite whose database this thread serves itself, by the same desk and over the same messages as the thread
 * that a gateway gives it. The start of a thread is nine tenths of what an empty store costs.
 */
import { resolve } from "node:path";
import { MessageChannel, type MessagePort } from "node:worker_threads";
import { GatewayError } from "../../src/base/errors.js";
import type { CallName, Failure, SqliteCalls, WorkerMessage } from "../../src/store/sqlite/calls.js";
import { sqliteCalls } from "../../src/store/sqlite/database.js";
import { WorkerServer } from "../../src/store/sqlite/worker-server.js";
import { openSnapshot, openSqliteFile } from "../../src/store/sqlite/database-file.js";
import { openSqliteStore, sqliteStore, type SqliteCaller } from "../../src/store/sqlite/store.js";
import { verifyDatabase } from "../../src/store/sqlite/verify.js";
import { SqliteLog } from "../../src/store/sqlite/wal.js";
import type { Store, VerifyReport } from "../../src/store/store.js";
import { bySweep } from "./sweep.js";

/** For tests of what a store does, whoever serves it: in the long form its own thread does. */
export const openQuickSqlite: (options: { readonly directory: string }) => Promise<Store> = bySweep({
  short: async ({ directory }) => openHere(resolve(directory)),
  long: openSqliteStore,
  all: openSqliteStore,
});

function openHere(directory: string): Store {
  const file = openSqliteFile(directory, undefined);
  const { port1, port2 } = new MessageChannel();
  const { database, witness } = file;
  new WorkerServer(port2, file, new SqliteLog(database), sqliteCalls(database, witness), witness).open();
  const caller = new Caller(port1);
  return sqliteStore({ caller, verify: () => verified(directory), isShared: false, close: () => caller.close() });
}

function verified(directory: string): Promise<VerifyReport> {
  const snapshot = openSnapshot(directory);
  try {
    return Promise.resolve(verifyDatabase(snapshot.database));
  } finally {
    snapshot.close();
  }
}

interface Pending {
  readonly resolve: (result: never) => void;
  readonly reject: (error: Error) => void;
}

/** As `SqliteThread` asks its thread. */
class Caller implements SqliteCaller {
  readonly #port: MessagePort;
  readonly #pending = new Map<number, Pending>();
  #lastId = 0;
  #closing: Promise<void> | undefined;
  #closed = (): void => undefined;

  constructor(port: MessagePort) {
    this.#port = port;
    port.on("message", (message: WorkerMessage) => this.#receive(message));
  }

  call<Name extends CallName<SqliteCalls>>(name: Name, ...args: unknown[]): Promise<never> {
    if (this.#closing !== undefined) return Promise.reject(unavailable(new Error("The database is closed.")));
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve, reject) => {
      this.#send({ id, name, args });
      this.#pending.set(id, { resolve, reject });
    });
  }

  close(): Promise<void> {
    this.#closing ??= new Promise((resolve) => {
      this.#closed = resolve;
      this.#send("close");
    });
    return this.#closing;
  }

  #send(message: unknown): void {
    // A thread's port, not a window's: it has no origin.
    // oxlint-disable-next-line unicorn/require-post-message-target-origin
    this.#port.postMessage(message);
  }

  #receive(message: WorkerMessage): void {
    if (message.kind === "closed") {
      this.#port.close();
      this.#closed();
    }
    if (message.kind !== "answer" && message.kind !== "failure") return;
    const pending = this.#pending.get(message.id);
    this.#pending.delete(message.id);
    if (message.kind === "answer") pending?.resolve(message.result as never);
    else pending?.reject(errorOf(message.failure));
  }
}

function errorOf({ kind, code, message }: Failure): GatewayError {
  const cause = new Error(code === "" ? message : `${code}: ${message}`);
  return kind === "broken" ? new GatewayError("ERROR_REASON_INTERNAL", {}, { cause }) : unavailable(cause);
}

function unavailable(cause: Error): GatewayError {
  return new GatewayError("ERROR_REASON_LEDGER_UNAVAILABLE", {}, { cause });
}
