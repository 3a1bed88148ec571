/**
 * The write-ahead log of an open database, on its way to the disk.
 *
 * SQLite writes a commit to its log, and with `synchronous = NORMAL` it syncs the log before a checkpoint alone: a
 * database is whole whatever happens, but its last commits are on the disk only once the log was synced, which is done
 * here, for several commits at once and beside the next where there are more.
 */
import { closeSync, fdatasync, fdatasyncSync, openSync, realpathSync } from "node:fs";
import { performance } from "node:perf_hooks";
import type { Distribution } from "../../base/distribution.js";
import type { Sqlite } from "./binding.js";

/** After this nobody knows what the disk holds. */
export class LogSyncError extends Error {}

export class SqliteLog {
  readonly #file: number;

  /**
   * The database must be open, in WAL mode, and have been read: its log exists. How long the disk takes is noted in
   * `seconds`.
   */
  constructor(
    database: Sqlite,
    private readonly seconds?: Distribution,
  ) {
    // SQLite keeps the log beside the file itself, not beside a link to it. Some systems sync only what may be written.
    this.#file = openSync(`${realpathSync(database.name)}-wal`, "r+");
  }

  /** Returns once every commit is on the disk. Throws LogSyncError. */
  sync(): void {
    const startMs = performance.now();
    try {
      fdatasyncSync(this.#file);
      this.#note(startMs);
    } catch (error) {
      throw failed(error);
    }
  }

  /** The same beside this thread, for what is committed by now. */
  syncBehind(ended: (error: LogSyncError | undefined) => void): void {
    const startMs = performance.now();
    fdatasync(this.#file, (error) => {
      this.#note(startMs);
      ended(error === null ? undefined : failed(error));
    });
  }

  #note(startMs: number): void {
    this.seconds?.note((performance.now() - startMs) / 1_000);
  }

  close(): void {
    closeSync(this.#file);
  }
}

function failed(cause: unknown): LogSyncError {
  const message = cause instanceof Error ? cause.message : String(cause);
  return new LogSyncError(`the database's log cannot be synced: ${message}`, { cause });
}
