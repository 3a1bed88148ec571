/** The thread that stores records: it answers one call after the other, and stores new records between their steps. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { parentPort } from "node:worker_threads";
import { SecretSeal } from "../alerts/seal.js";
import { isLedgerUnavailable } from "../base/errors.js";
import { UnusableData } from "../base/unusable-data.js";
import { protectSecrets } from "../base/redaction.js";
import { giveBackStartMemory } from "../base/start-memory.js";
import { taskOf } from "../base/threads.js";
import type { ChunkStore } from "./chunk-store.js";
import type { ContentStore } from "./content-store.js";
import { ContentVault } from "./content-vault.js";
import { Engine } from "./engine.js";
import { erasePerson } from "./erasure.js";
import type {
  RecordAnswer,
  RecordCall,
  RecordCallName,
  RecordCalls,
  RecordPlace,
  RecordRefusal,
  RecordStart,
} from "./record-calls.js";
import { pageOf, type RowBatch } from "./row-batch.js";
import { openSqliteChunks } from "./sqlite-chunks.js";
import { openSqliteContents } from "./sqlite-contents.js";
import { TooManyGroups } from "./usage-places.js";
import type { UsageTable } from "./usage-scan.js";

type Handlers = {
  readonly [Name in Exclude<RecordCallName, "append">]: (
    ...args: Parameters<RecordCalls[Name]>
  ) => Promise<ReturnType<RecordCalls[Name]>>;
};

if (parentPort === null) throw new Error("this file is the entry of a thread");
const port = parentPort;
// The edge between threads: whoever starts this one gives the place.
const { place, contentKeys } = (await taskOf(port)) as RecordStart;
const { chunks, contents } = await open(place).catch((error: unknown): never => {
  const message = error instanceof Error ? error.message : String(error);
  port.postMessage({ refused: message, isUnusable: error instanceof UnusableData } satisfies RecordRefusal);
  process.exit();
});
const engine = new Engine(chunks, undefined, () => nextTurn());
const vault = new ContentVault(contents, new SecretSeal(contentKeys));
await vault.sealAnew();
const handlers: Handlers = {
  list: async (filter, count, after) => pageOf(await engine.list(filter, count, after)),
  usage: (asked, spans) =>
    engine.usage(asked, spans).catch((error: unknown) => {
      if (error instanceof TooManyGroups) return undefined;
      throw error;
    }),
  find: (id) => engine.find(id),
  known: (ids) => engine.known(ids),
  adopt: (rows, fromMs, toMs) => engine.adopt(rows, fromMs, toMs),
  erase: (account, endUser) => erasePerson(account, endUser, engine, vault),
  sweepOne: (nowMs, retention) => engine.sweepOne(nowMs, retention),
  joinTails: () => engine.joinTails(),
  joinLeft: (beforeMs) => engine.joinLeft(beforeMs),
  keepContent(contents, secrets) {
    if (secrets.length > 0) protectSecrets(secrets);
    return vault.keep(contents);
  },
  content: (id) => vault.find(id),
  async sweepContent(beforeMs) {
    // A node that was not restarted yet may have sealed with the root secret before.
    await vault.sealAnew();
    return vault.sweepOne(beforeMs);
  },
};

let turn: Promise<void> = Promise.resolve();
port.on("message", (message: RecordCall | "close") => {
  if (message === "close") turn = turn.then(end);
  else if (message.name === "append") store(message);
  else turn = turn.then(() => answer(message));
});
port.postMessage("ready");
giveBackStartMemory();

/**
 * What ended is stored as it comes, however long the calls before it take: what a crash loses must not grow with what
 * is asked. It is shown at its turn, so that calls that came together see the same records.
 */
function store({ id, args }: RecordCall): void {
  // The table of calls pairs names with arguments, on both sides.
  const kept = engine.keep(args[0] as RowBatch);
  const told = reply(
    id,
    kept.then(() => undefined),
  );
  turn = turn.then(async () => {
    await told;
    await kept.then(
      (tail) => engine.show(tail),
      // Whoever asked was told.
      () => undefined,
    );
  });
}

function answer({ id, name, args }: RecordCall): Promise<void> {
  const handler = handlers[name as keyof Handlers] as (...given: readonly unknown[]) => Promise<unknown>;
  return reply(id, handler(...args));
}

/** Never rejects. */
async function reply(id: number, asked: Promise<unknown>): Promise<void> {
  let said: RecordAnswer;
  try {
    said = { id, result: await asked };
  } catch (error) {
    const isAway = isLedgerUnavailable(error);
    // What PostgreSQL itself said is the cause.
    const told = isAway ? (error.cause ?? error) : error;
    said = { id, problem: told instanceof Error ? told.message : String(told), isAway };
  }
  port.postMessage(said, "result" in said ? buffersOf(said.result) : []);
}

/** Arrays of numbers that nobody else has: they go over as they are, and nobody copies them. */
function buffersOf(result: unknown): ArrayBuffer[] {
  if (typeof result !== "object" || result === null) return [];
  if ("tables" in result) return (result.tables as readonly UsageTable[]).flatMap(buffersOf);
  return Object.values(result).flatMap((each: unknown) =>
    ArrayBuffer.isView(each) && each.buffer instanceof ArrayBuffer && each.byteLength === each.buffer.byteLength
      ? [each.buffer]
      : [],
  );
}

async function open(at: RecordPlace): Promise<{ readonly chunks: ChunkStore; readonly contents: ContentStore }> {
  if ("url" in at) {
    const { openPostgresRecords } = await import("./postgres-chunks.js");
    return openPostgresRecords(at.url);
  }
  return { chunks: openSqliteChunks(at.directory), contents: openSqliteContents(at.directory) };
}

async function end(): Promise<void> {
  await vault.close();
  await engine.close();
  port.close();
}
