/** The desk of a database's thread, on a real database and port, with a disk that ends its syncs when told to. */
import { join } from "node:path";
import { MessageChannel, type MessagePort } from "node:worker_threads";
import { describe, expect, test } from "vitest";
import type { WorkerMessage } from "../../src/store/sqlite/calls.js";
import { WorkerServer } from "../../src/store/sqlite/worker-server.js";
import { openSqliteFile } from "../../src/store/sqlite/database-file.js";
import { LogSyncError, SqliteLog } from "../../src/store/sqlite/wal.js";
import { readWitness } from "../../src/store/witness.js";
import { allowTimeToFail } from "../support/pauses.js";
import { temporaryDirectory } from "../support/temporary-directory.js";

/** A log whose syncs the test counts, holds back, and lets fail. */
class WatchedLog extends SqliteLog {
  syncs = 0;
  error: LogSyncError | undefined;
  #ended: ((error: LogSyncError | undefined) => void) | undefined;

  override sync(): void {
    this.syncs += 1;
    if (this.error !== undefined) throw this.error;
    super.sync();
  }

  override syncBehind(ended: (error: LogSyncError | undefined) => void): void {
    this.syncs += 1;
    this.#ended = ended;
  }

  get isSyncing(): boolean {
    return this.#ended !== undefined;
  }

  end(): void {
    const ended = this.#ended;
    this.#ended = undefined;
    ended?.(this.error);
  }
}

interface Opened {
  /** The last transfer that the witness knows. */
  readonly witnessed: () => number;
  readonly log: WatchedLog;
  readonly port: MessagePort;
  readonly answers: WorkerMessage[];
  /** What the calls did, in order. */
  readonly done: string[];
}

function open(): Opened {
  const directory = temporaryDirectory();
  const file = openSqliteFile(directory, undefined);
  file.database.exec("CREATE TABLE row (name TEXT) STRICT");
  const log = new WatchedLog(file.database);
  const { port1, port2 } = new MessageChannel();
  const done: string[] = [];
  const calls = {
    write: (name: string): void => {
      done.push(name);
      file.database.prepare("INSERT INTO row VALUES (?)").run(name);
    },
    transfer: (sequence: number): void => {
      const values = `(${sequence}, 'credit', 'acme', ${sequence}, 0, 'c${sequence}', 0, 1, 0, zeroblob(32))`;
      file.database.exec(
        `INSERT INTO transfer (sequence, kind, account_id, account_sequence, hold_sequence, credit_id, pending_nanos,
         posted_nanos, create_time_ms, hash) VALUES ${values}`,
      );
    },
    read: (): unknown => file.database.prepare("SELECT name FROM row ORDER BY rowid").pluck().all(),
    refuse: (): void => {
      throw new Error("no");
    },
  };
  new WorkerServer(port2, file, log, calls, file.witness).open();
  const answers: WorkerMessage[] = [];
  port1.on("message", (message: WorkerMessage) => answers.push(message));
  const witnessed = (): number => {
    const note = readWitness(join(directory, "witness.json"));
    return typeof note === "object" ? note.head.sequence : -1;
  };
  return { witnessed, log, port: port1, answers, done };
}

let lastId = 0;
function send(port: MessagePort, name: string, ...args: readonly unknown[]): number {
  lastId += 1;
  // A thread's port, not a window's: it has no origin.
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  port.postMessage({ id: lastId, name, args });
  return lastId;
}

const turns = (): Promise<void> => allowTimeToFail(20);
const idsOf = (answers: readonly WorkerMessage[]): unknown[] => answers.map((one) => "id" in one && one.id);

describe("the desk", () => {
  test("syncs a write that is alone before it answers, and a read not at all", async () => {
    const { log, port, answers } = open();
    const before = log.syncs;
    const written = send(port, "write", "a");
    await expect.poll(() => idsOf(answers)).toEqual([written]);
    expect(log.syncs).toBe(before + 1);
    const read = send(port, "read");
    await expect.poll(() => answers.at(-1)).toEqual({ kind: "answer", id: read, result: ["a"] });
    expect(log.syncs).toBe(before + 1);
    port.close();
  });

  test("does the next call while the disk syncs, and answers neither before its own sync", async () => {
    const { log, port, answers, done } = open();
    const ids = [send(port, "write", "a"), send(port, "write", "b"), send(port, "read"), send(port, "refuse")];
    await expect.poll(() => done).toEqual(["a", "b"]);
    await turns();
    expect(log.isSyncing).toBe(true);
    expect(answers).toEqual([]);
    log.end();
    await expect.poll(() => idsOf(answers)).toEqual(ids);
    expect(answers.map(({ kind }) => kind)).toEqual(["answer", "answer", "answer", "failure"]);
    port.close();
  });

  test("lets a commit go before many reads that came behind it", async () => {
    const { log, port, answers } = open();
    const ids = [send(port, "write", "a"), send(port, "write", "b")];
    for (let count = 0; count < 100; count++) ids.push(send(port, "read"));
    await expect.poll(() => idsOf(answers)).toEqual(ids);
    expect(log.isSyncing).toBe(true);
    // The sync beside ends late, and has nothing left to say; what is written then waits for its own.
    log.end();
    await turns();
    expect(answers).toHaveLength(ids.length);
    const before = log.syncs;
    ids.push(send(port, "write", "c"));
    await expect.poll(() => idsOf(answers)).toEqual(ids);
    expect(log.syncs).toBe(before + 1);
    port.close();
  });

  test("answers nothing more once a sync has failed, beside a call", async () => {
    const { log, port, answers } = open();
    const first = send(port, "write", "a");
    send(port, "write", "b");
    await expect.poll(() => log.isSyncing).toBe(true);
    log.error = new LogSyncError("EIO");
    log.end();
    await expect.poll(() => answers).toMatchObject([{ kind: "failure", id: first, failure: { kind: "fatal" } }]);
    send(port, "read");
    await turns();
    expect(answers).toHaveLength(1);
  });

  test("answers nothing more once a sync has failed, after a call", async () => {
    const { log, port, answers } = open();
    log.error = new LogSyncError("EIO");
    const first = send(port, "write", "a");
    await expect.poll(() => answers).toMatchObject([{ kind: "failure", id: first, failure: { kind: "fatal" } }]);
  });

  test("lets its witness know of a transfer once the disk has it, and nobody before its witness", async () => {
    const { log, port, answers, witnessed } = open();
    expect(witnessed()).toBe(0);
    // The second waits for the sync beside, which began before it was written.
    send(port, "transfer", 1);
    send(port, "write", "a");
    await expect.poll(() => log.isSyncing).toBe(true);
    await turns();
    expect([witnessed(), answers]).toEqual([0, []]);
    log.end();
    await expect.poll(() => answers).toHaveLength(2);
    expect(witnessed()).toBe(1);
    const known: number[] = [];
    port.on("message", () => known.push(witnessed()));
    for (const sequence of [2, 3, 4]) {
      send(port, "transfer", sequence);
      await expect.poll(() => known).toHaveLength(sequence - 1);
    }
    expect(known).toEqual([2, 3, 4]);
    port.close();
  });

  test("lets its witness know of nothing once a sync has failed", async () => {
    const { log, port, answers, witnessed } = open();
    log.error = new LogSyncError("EIO");
    send(port, "transfer", 1);
    await expect.poll(() => answers).toHaveLength(1);
    expect(witnessed()).toBe(0);
  });

  test("leaves a witness that knows all when it closes", async () => {
    const { log, port, answers, witnessed } = open();
    for (const sequence of [1, 2, 3]) send(port, "transfer", sequence);
    // oxlint-disable-next-line unicorn/require-post-message-target-origin
    port.postMessage("close");
    await expect.poll(() => log.isSyncing).toBe(true);
    log.end();
    await expect.poll(() => answers.at(-1)).toEqual({ kind: "closed" });
    expect(witnessed()).toBe(3);
  });

  test("closes once every answer has left", async () => {
    const { log, port, answers } = open();
    const ids = [send(port, "write", "a"), send(port, "write", "b")];
    // oxlint-disable-next-line unicorn/require-post-message-target-origin
    port.postMessage("close");
    await expect.poll(() => log.isSyncing).toBe(true);
    await turns();
    expect(answers).toEqual([]);
    log.end();
    await expect.poll(() => idsOf(answers)).toEqual([...ids, false]);
    expect(answers.at(-1)).toEqual({ kind: "closed" });
  });
});
