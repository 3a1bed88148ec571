/** Answers the calls of a database's thread in order, each once all that was written before it is on the disk. */
import { type MessagePort, receiveMessageOnPort } from "node:worker_threads";
import type { CallMessage, WorkerMessage } from "./sqlite-calls.js";
import { failureOf } from "./sqlite-failure.js";
import type { SqliteFile } from "./sqlite-file.js";
import type { SqliteLog } from "./sqlite-log.js";

type Message = CallMessage | "close";
type Answer = Extract<WorkerMessage, { readonly kind: "answer" | "failure" }>;

export class SqliteDesk {
  readonly #port: MessagePort;
  readonly #file: SqliteFile;
  readonly #log: SqliteLog;
  readonly #calls: object;
  /** How many rows this connection has changed, ever. */
  readonly #changes;
  /** The changes that are on the disk. */
  #synced: unknown;
  /** Answers that wait for the disk. */
  readonly #waiting: Answer[] = [];
  #syncing = false;
  #closing = false;
  #failed = false;

  constructor(port: MessagePort, file: SqliteFile, log: SqliteLog, calls: object) {
    this.#port = port;
    this.#file = file;
    this.#log = log;
    this.#calls = calls;
    this.#changes = file.database.prepare("SELECT total_changes()").pluck();
  }

  /** From now on it answers, until it is told to close. */
  open(): void {
    // What opening the database wrote.
    this.#log.sync();
    this.#synced = this.#changes.get();
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
    if (this.#waiting.length === 0 && this.#changes.get() === this.#synced) this.#say(answer);
    else this.#waiting.push(answer);
  }

  #sync(): void {
    const changes = this.#changes.get();
    try {
      this.#log.sync();
    } catch (error) {
      this.#fail(error);
      return;
    }
    this.#release(this.#waiting.length, changes);
  }

  #syncBehind(): void {
    const count = this.#waiting.length;
    if (this.#syncing || this.#failed || count === 0) return;
    const changes = this.#changes.get();
    this.#syncing = true;
    this.#log.syncBehind((error) => {
      this.#syncing = false;
      if (error !== undefined) this.#fail(error);
      if (this.#failed) return;
      this.#release(count, changes);
      this.#proceed();
    });
  }

  #release(count: number, changes: unknown): void {
    this.#synced = changes;
    for (const answer of this.#waiting.splice(0, count)) this.#say(answer);
  }

  /**
   * After a failed sync nobody knows what the disk holds: nothing more may be acknowledged. The other side takes
   * answers in order, so the oldest that waits says it for all.
   */
  #fail(error: unknown, id?: number): void {
    const oldest = this.#waiting[0]?.id ?? id;
    this.#failed = true;
    if (oldest !== undefined) this.#say({ kind: "failure", id: oldest, failure: failureOf(error) });
    this.#port.close();
  }

  #close(): void {
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
