/** The entry of the database's threads: one that serves every call in order, and short-lived ones that verify. */
import assert from "node:assert";
import { type MessagePort, parentPort } from "node:worker_threads";
import { Distribution, SHORT_SECONDS_BOUNDS } from "../../base/distribution.js";
import { UnusableData } from "../../base/unusable-data.js";
import { giveBackStartMemory } from "../../base/start-memory.js";
import { taskOf } from "../../base/threads.js";
import { checkAnswerFile, openAnswerFile, SqliteAnswers } from "./answer-file.js";
import type { WorkerMessage, WorkerTask } from "./calls.js";
import { sqliteCalls } from "./database.js";
import { WorkerServer } from "./worker-server.js";
import { type SqliteFile, openSnapshot, openSqliteFile } from "./database-file.js";
import { SqliteLog } from "./wal.js";
import { verifyDatabase } from "./verify.js";
import type { Witness } from "../witness.js";

function say(port: MessagePort, message: WorkerMessage): void {
  port.postMessage(message);
}

/** The ledger's file has a witness, and may have something to tell. */
type ServedFile = SqliteFile & { readonly witness?: Witness; readonly lossFound?: string | undefined };

function serve(port: MessagePort, file: ServedFile, calls: object, syncSeconds?: Distribution): void {
  new WorkerServer(port, file, new SqliteLog(file.database, syncSeconds), calls, file.witness).open();
  say(port, { kind: "ready", lossFound: file.lossFound });
  giveBackStartMemory();
}

function run(port: MessagePort, task: WorkerTask): void {
  if (task.kind === "ledger") {
    const file = openSqliteFile(task.directory, task.databaseBytesMax, task.check);
    // It is opened with the first answer that is kept, and a start tells what is wrong with it.
    checkAnswerFile(task.directory);
    const seconds = task.syncSeconds && new Distribution(SHORT_SECONDS_BOUNDS, task.syncSeconds);
    serve(port, file, sqliteCalls(file.database, file.witness), seconds);
    return;
  }
  if (task.kind === "answers") {
    const file = openAnswerFile(task.directory);
    serve(port, file, new SqliteAnswers(file.database));
    return;
  }
  const snapshot = openSnapshot(task.directory);
  try {
    say(port, { kind: "verified", report: verifyDatabase(snapshot.database) });
  } finally {
    snapshot.close();
  }
  port.close();
}

assert(parentPort !== null, "this file runs in a thread of its own");
try {
  // The edge between threads: whoever starts this one gives such a task.
  run(parentPort, (await taskOf(parentPort)) as WorkerTask);
} catch (error) {
  const message = error instanceof Error ? error.message : String(error);
  say(parentPort, { kind: "refused", message, isUnusable: error instanceof UnusableData });
  parentPort.close();
}
