/** Answers the calls of a database's thread in order, each once all that was written before it is on the disk. */
import { type MessagePort, receiveMessageOnPort } from "node:worker_threads";
import type { CallMessage, WorkerMessage } from "./calls.js";
import { failureOf } from "./failure.js";
import type { SqliteFile } from "./database-file.js";
import type { SqliteLog } from "./wal.js";
import type { Witness } from "../witness.js";

/** How many answers wait for a sync beside, whose end is heard of only once no call waits. */
const WAITING_MAX = 16;

type Message = CallMessage | "close";
type Answer = Extract<WorkerMessage, { readonly kind: "answer" | "failure" }>;

export class WorkerServer {
  readonly #port: MessagePort;
  readonly #file: SqliteFile;
  readonly #log: SqliteLog;
  readonly #calls: object;
  readonly #witness: Witness | undefined;
  /** How many rows this connection has changed, ever. No call may change the schema: that is not counted. */
  readonly #changes;
  /** The changes that are on the disk. */
  #synced: number | bigint = 0;
  /** Answers that wait for the disk, and how many no longer do. */
  readonly #waiting: Answer[] = [];
  #released = 0;
  #syncing = false;
  #closing = false;
  #failed = false;

  constructor(port: MessagePort, file: SqliteFile, log: SqliteLog, calls: object, witness?: Witness) {
    this.#port = port;
    this.#file = file;
    this.#log = log;
    this.#calls = calls;
    this.#witness = witness;
    this.#changes = file.database.prepare<[], number | bigint>("SELECT total_changes()").pluck();
  }

  /** From now on it answers, until it is told to close. */
  open(): void {
    // What opening the database wrote.
    this.#log.sync();
    this.#synced = this.#changed();
    this.#witness?.open();
    this.#port.on("message", (message: Message) => {
      this.#take(message);
      this.#proceed();
    });
  }

  /** All that has come meanwhile, while the disk works for what came before it; then the disk for the rest. */
  #proceed(): void {
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      this.#syncBehind();
      this.#take(next);
    }
    if (this.#syncing) return;
    if (this.#waiting.length > 0) this.#sync();
    if (this.#closing && !this.#failed) this.#close();
  }

  #next(): Message | undefined {
    const received: { readonly message: Message } | undefined = receiveMessageOnPort(this.#port);
    return received?.message;
  }

  #take(message: Message): void {
    if (this.#failed) return;
    if (message === "close") {
      this.#closing = true;
      return;
    }
    const { id } = message;
    try {
      this.#answer({ kind: "answer", id, result: call(this.#calls, message) });
    } catch (error) {
      const failure = failureOf(error);
      if (failure.kind === "fatal") this.#fail(error, id);
      else this.#answer({ kind: "failure", id, failure });
    }
  }

  #answer(answer: Answer): void {
    if (this.#waiting.length === 0 && this.#changed() === this.#synced) {
      this.#say(answer);
      return;
    }
    this.#waiting.push(answer);
    if (this.#waiting.length >= WAITING_MAX) this.#sync();
  }

  #changed(): number | bigint {
    return this.#changes.get() ?? 0;
  }

  #sync(): void {
    if (this.#failed) return;
    const changes = this.#changed();
    const head = this.#witness?.newest();
    try {
      this.#log.sync();
    } catch (error) {
      this.#fail(error);
      return;
    }
    this.#witness?.note(head);
    this.#release(this.#released + this.#waiting.length, changes);
  }

  #syncBehind(): void {
    if (this.#syncing || this.#failed || this.#waiting.length === 0) return;
    const covered = this.#released + this.#waiting.length;
    const changes = this.#changed();
    const head = this.#witness?.newest();
    this.#syncing = true;
    this.#log.syncBehind((error) => {
      this.#syncing = false;
      if (error !== undefined) this.#fail(error);
      if (this.#failed) return;
      this.#witness?.note(head);
      this.#release(covered, changes);
      this.#proceed();
    });
  }

  /** Lets all answers go up to the one of that number. A sync that another overtook finds them gone. */
  #release(covered: number, changes: number | bigint): void {
    if (changes > this.#synced) this.#synced = changes;
    for (const answer of this.#waiting.splice(0, Math.max(0, covered - this.#released))) {
      this.#released += 1;
      this.#say(answer);
    }
  }

  /**
   * After a failed sync nobody knows what the disk holds: nothing more may be acknowledged. The other side takes
   * answers in order, so the oldest that waits says it for all.
   */
  #fail(error: unknown, id?: number): void {
    const oldest = this.#waiting[0]?.id ?? id;
    this.#failed = true;
    this.#witness?.close(undefined);
    if (oldest !== undefined) this.#say({ kind: "failure", id: oldest, failure: failureOf(error) });
    this.#port.close();
  }

  #close(): void {
    const isSynced = !this.#syncing && this.#changed() === this.#synced;
    const head = isSynced ? this.#witness?.newest() : undefined;
    this.#witness?.close(head);
    this.#file.close();
    this.#log.close();
    this.#say({ kind: "closed" });
    this.#port.close();
  }

  #say(message: WorkerMessage): void {
    // A thread's port, not a window's: it has no origin.
    // oxlint-disable-next-line unicorn/require-post-message-target-origin
    this.#port.postMessage(message);
  }
}

function call(calls: object, { name, args }: CallMessage): unknown {
  // The main thread's half of the pair is typed; the message between them is not.
  const named: (...args: readonly unknown[]) => unknown = Reflect.get(calls, name);
  return Reflect.apply(named, calls, args);
}
