/** The thread that stores records: it answers one call after the other. */
import { parentPort, workerData } from "node:worker_threads";
import { Engine } from "./engine.js";
import { openPostgresChunks } from "./postgres-chunks.js";
import type { RecordAnswer, RecordCall, RecordCalls, RecordPlace } from "./record-calls.js";
import { batchOf } from "./row-batch.js";
import { openSqliteChunks } from "./sqlite-chunks.js";
import { TooManyGroups } from "./usage-places.js";

type Handlers = {
  readonly [Name in keyof RecordCalls]: (
    ...args: Parameters<RecordCalls[Name]>
  ) => Promise<ReturnType<RecordCalls[Name]>>;
};

if (parentPort === null) throw new Error("this file is the entry of a thread");
const port = parentPort;
// The edge between threads: whoever starts this one gives the place.
const place = workerData as RecordPlace;
const opening = "url" in place ? openPostgresChunks(place.url) : Promise.resolve(openSqliteChunks(place.directory));
const engine = new Engine(await opening);
const handlers: Handlers = {
  append: (batch) => engine.append(batch),
  list: async (filter, count, after) => batchOf(await engine.list(filter, count, after)),
  usage: (dimensions, filter) =>
    engine.usage(dimensions, filter).catch((error: unknown) => {
      if (error instanceof TooManyGroups) return undefined;
      throw error;
    }),
  find: (id) => engine.find(id),
  known: (ids) => engine.known(ids),
  adopt: (rows, fromMs, toMs) => engine.adopt(rows, fromMs, toMs),
  erase: (account, endUser) => engine.erase(account, endUser),
  sweepOne: (nowMs, retention) => engine.sweepOne(nowMs, retention),
  joinLeft: (beforeMs) => engine.joinLeft(beforeMs),
};

let turn: Promise<void> = Promise.resolve();
port.on("message", (message: RecordCall | "close") => {
  turn = turn.then(() => (message === "close" ? end() : answer(message)));
});
port.postMessage("ready");

/** Never rejects. */
async function answer({ id, name, args }: RecordCall): Promise<void> {
  let reply: RecordAnswer;
  try {
    // The table of calls pairs names with arguments, on both sides.
    const handler = handlers[name] as (...args: readonly unknown[]) => Promise<unknown>;
    reply = { id, result: await handler(...args) };
  } catch (error) {
    reply = { id, problem: error instanceof Error ? error.message : String(error) };
  }
  port.postMessage(reply);
}

async function end(): Promise<void> {
  await engine.close();
  port.close();
}
