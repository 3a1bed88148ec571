/**
 * The process that owns the embedded database of several workers, their limits, their kept answers and their records.
 * It serves nobody but them, over a socket in the data directory.
 */
import { monotonicMs } from "../base/monotonic.js";
import type { Clock } from "../clock/clock.js";
import { readEnvironment } from "../config/environment.js";
import { createInProcessCoordination } from "../coordination/in-process.js";
import { OwnerCoordination } from "../coordination/owner.js";
import { createLog, type Log } from "../observe/log.js";
import { OwnerDesk, type Part, type Visitor } from "../owner/owner-desk.js";
import type { RecordCallName, RecordStart } from "../records/record-calls.js";
import { RecordThread } from "../records/record-thread.js";
import type { AnswerRow } from "../store/answer-rows.js";
import { Claims } from "../store/claims.js";
import { Answers } from "../store/sqlite/answers.js";
import { flattenOperations } from "../store/sqlite/batch-message.js";
import type { CallName, SqliteCalls } from "../store/sqlite/calls.js";
import { verifierOf } from "../store/sqlite/store.js";
import type { SqliteThread } from "../store/sqlite/thread.js";
import { startClock } from "./clock.js";
import { openDirectoryThread } from "./directory.js";
import { ownerPath } from "./owner-path.js";
import { protectEnvironment } from "./secrets.js";

export interface OwnOptions {
  readonly acceptLoss: boolean;
  readonly acceptClock: boolean;
  readonly demo: boolean;
  /** Called once workers may come. */
  readonly onServing: () => void;
  /** Resolves when the process is told to stop, which is once no worker is there any more. */
  readonly untilStopped: () => Promise<void>;
}

/** Owns until it is told to stop. Rejects with an Error of one line where it cannot begin. */
export async function own({ acceptLoss, acceptClock, demo, onServing, untilStopped }: OwnOptions): Promise<void> {
  protectEnvironment(process.env);
  const environment = readEnvironment(process.env);
  const log = createLog(environment.logLevel);
  process.on("SIGHUP", () => undefined);
  const onFatal = (error: Error): void => {
    log.error({ err: error }, "the ledger's disk failed; the process ends, and with it all workers");
    log.flush();
    process.exit(70);
  };
  const path = ownerPath(environment.dataDirectory);
  const accepts = { acceptLoss, acceptClock };
  const { thread, derived, time } = await openDirectoryThread({ environment, log, demo, ...accepts, onFatal });
  const clock = await startClock(time, log);
  const start = { place: { directory: environment.dataDirectory }, contentKeys: derived.seals.content };
  const owner = await Owner.open(path, { thread, clock, log }, start);
  // Whoever hears that it serves may tell it to stop at once.
  const told = untilStopped();
  onServing();
  await told;
  await owner.close();
  log.flush();
}

interface OwnerParts {
  readonly thread: SqliteThread;
  readonly clock: Clock;
  readonly log: Log;
}

class Owner {
  readonly #thread: SqliteThread;
  readonly #clock: Clock;
  readonly #coordination = new OwnerCoordination(createInProcessCoordination({ nowMs: monotonicMs }));
  readonly #answers: Answers;
  readonly #claims = new Claims<Visitor>(monotonicMs);
  readonly #records: RecordThread;
  /** The id under which each worker lives, and what it says of itself. */
  readonly #nodeIds = new Map<Visitor, string>();
  readonly #notes = new Map<Visitor, { readonly nodeId: string; readonly said: unknown }>();
  readonly #verify: () => Promise<unknown>;
  readonly #log: Log;
  #desk: OwnerDesk | undefined;

  private constructor({ thread, clock, log }: OwnerParts, records: RecordThread, directory: string) {
    this.#thread = thread;
    this.#clock = clock;
    this.#records = records;
    this.#log = log;
    this.#verify = verifierOf(directory);
    const onError = (err: unknown): void => log.error({ err }, "kept answers could not be stored or swept");
    this.#answers = new Answers({ directory, nowMs: clock.nowMs, onSwept: () => undefined, onError });
  }

  static async open(
    path: string,
    parts: OwnerParts,
    start: RecordStart & { readonly place: { readonly directory: string } },
  ): Promise<Owner> {
    const { directory } = start.place;
    const records = await RecordThread.start(start);
    // Nobody writes records yet: what an earlier process left in small pieces is put together.
    const leftBehind = records.call("joinLeft", Number.MAX_SAFE_INTEGER);
    leftBehind.catch((err: unknown) => parts.log.error({ err }, "records of requests could not be put together"));
    const owner = new Owner(parts, records, directory);
    owner.#desk = await OwnerDesk.open({
      path,
      parts: owner.#parts(),
      onCame: (visitor) => owner.#coordination.came(visitor),
      onLeft: (visitor) => owner.#left(visitor),
    });
    return owner;
  }

  async close(): Promise<void> {
    await this.#desk?.close();
    await this.#answers.close();
    await this.#records.close();
    await this.#coordination.close();
    await this.#clock.close();
    await this.#thread.close();
  }

  #parts(): Readonly<Record<string, Part>> {
    return {
      // The names and their arguments are those of the typed callers of the same build.
      ledger: (name, args) => this.#thread.call(name as CallName<SqliteCalls>, ...(args as never)),
      records: (name, args) => this.#records.call(name as RecordCallName, ...(args as never)),
      coordination: (name, args, visitor) => this.#coordination.answer(name, args, visitor),
      answers: (name, args, visitor) => this.#answerCall(name, args, visitor),
      nodes: (name, args, visitor) => this.#nodeCall(name, args, visitor),
      time: () => this.#clock.nowMs(),
    };
  }

  #answerCall(name: string, [what]: readonly unknown[], visitor: Visitor): Promise<unknown> {
    if (name === "put") {
      const row = what as AnswerRow;
      this.#claims.take(row.id, row.requestId, visitor);
      return this.#answers.put(row);
    }
    const id = what as Uint8Array;
    if (name === "find") return this.#answers.find(id);
    return this.#claims.release(id, visitor) ? this.#answers.remove(id) : Promise.resolve();
  }

  #nodeCall(name: string, [nodeId, said]: readonly unknown[], visitor: Visitor): unknown {
    if (name === "verify") return this.#verify();
    if (name === "began" || name === "note") this.#nodeIds.set(visitor, String(nodeId));
    if (name === "note") this.#notes.set(visitor, { nodeId: String(nodeId), said });
    return [...this.#notes.values()];
  }

  /** What it sent was taken before this, and nothing more comes: it need not be waited for as one that is silent. */
  #left(visitor: Visitor): void {
    this.#coordination.left(visitor);
    this.#claims.left(visitor);
    this.#notes.delete(visitor);
    const nodeId = this.#nodeIds.get(visitor);
    this.#nodeIds.delete(visitor);
    if (nodeId === undefined) return;
    const end = { kind: "beat", nodeId, nowMs: this.#clock.nowMs(), isLast: true } as const;
    this.#thread
      .call("commit", flattenOperations([end]))
      .catch((err: unknown) => this.#log.warn({ err }, "a worker's leases were not ended; they lapse by themselves"));
  }
}
