/** The main thread's end of the database's thread: questions out, answers in, and what happens when it fails. */
import type { Worker } from "node:worker_threads";
import { GatewayError } from "../../base/errors.js";
import { UnusableData } from "../../base/unusable-data.js";
import type {
  CallArguments,
  CallMessage,
  CallName,
  CallResult,
  Failure,
  SqliteCalls,
  WorkerMessage,
  WorkerTask,
} from "./calls.js";
import type { VerifyReport } from "../store.js";
import { startThread } from "../../base/threads.js";

/** How many calls may wait for the thread. Operations of the ledger come in batches, two at a time. */
const CALLS_MAX = 10_000;

interface Pending {
  readonly id: number;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

export class SqliteThread<Calls = SqliteCalls> {
  readonly #worker: Worker;
  /** In the order of the questions, which is that of the answers. */
  readonly #pending: Pending[] = [];
  readonly #onFatal: ((error: Error) => void) | undefined;
  #lastId = 0;
  /** Why it takes no more calls. */
  #ended: Error | undefined;
  readonly #exited: Promise<void>;
  /** What a person should hear of the start. */
  readonly lossFound: string | undefined;

  private constructor(worker: Worker, onFatal: ((error: Error) => void) | undefined, lossFound: string | undefined) {
    this.lossFound = lossFound;
    this.#worker = worker;
    this.#onFatal = onFatal;
    this.#exited = new Promise((resolve) => worker.once("exit", () => resolve()));
    worker.on("message", (message: WorkerMessage) => this.#receive(message));
    worker.on("error", (error) => this.#fail(error));
    worker.once("exit", () => this.#fail(new Error("The database's thread ended.")));
    // The thread keeps the process alive only while somebody waits for an answer.
    worker.unref();
  }

  /** Rejects with an Error of one line where the database cannot be opened. */
  static async start<Calls = SqliteCalls>(
    task: WorkerTask,
    onFatal?: (error: Error) => void,
  ): Promise<SqliteThread<Calls>> {
    const worker = startThread(task.kind, task);
    const { lossFound } = await firstMessage(worker, "ready");
    return new SqliteThread<Calls>(worker, onFatal, lossFound);
  }

  call<Name extends CallName<Calls>>(
    name: Name,
    ...args: CallArguments<Calls, Name>
  ): Promise<CallResult<Calls, Name>> {
    if (this.#ended !== undefined) return Promise.reject(unavailable(this.#ended));
    if (this.#pending.length >= CALLS_MAX) return Promise.reject(tooMany());
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve, reject) => {
      // Before it waits: what cannot be sent throws here, and never has an answer.
      this.#send({ id, name, args });
      if (this.#pending.length === 0) this.#worker.ref();
      // The thread answers a call with what the table of calls says it gives.
      this.#pending.push({ id, resolve: (result) => resolve(result as CallResult<Calls, Name>), reject });
    });
  }

  /** Answers what was asked before, then closes the file. */
  async close(): Promise<void> {
    if (this.#ended === undefined) {
      this.#ended = new Error("The database is closed.");
      this.#worker.ref();
      this.#send("close");
    }
    await this.#exited;
  }

  #send(message: CallMessage | "close"): void {
    // A thread's port, not a window's: it has no origin.
    // oxlint-disable-next-line unicorn/require-post-message-target-origin
    this.#worker.postMessage(message);
  }

  #receive(message: WorkerMessage): void {
    if (message.kind !== "answer" && message.kind !== "failure") return;
    // After a failure of the thread, nobody waits for its last answers.
    if (this.#pending[0]?.id !== message.id) return;
    const pending = this.#pending.shift();
    if (pending === undefined) return;
    if (this.#pending.length === 0 && this.#ended === undefined) this.#worker.unref();
    if (message.kind === "answer") {
      pending.resolve(message.result);
      return;
    }
    pending.reject(toError(message.failure));
    if (message.failure.kind === "fatal") this.#fail(new Error(sentence(message.failure)));
  }

  /** After this nothing is acknowledged: every call that waits, and every later one, is refused. */
  #fail(error: Error): void {
    const closing = this.#ended !== undefined;
    this.#ended ??= error;
    for (const { reject } of this.#pending.splice(0)) reject(unavailable(error));
    if (!closing) this.#onFatal?.(error);
  }
}

/** Verifies the database in a thread and a connection of its own, while the other goes on writing. */
export async function verifyBeside(directory: string): Promise<VerifyReport> {
  try {
    const task: WorkerTask = { kind: "verify", directory };
    const worker = startThread(task.kind, task);
    const { report } = await firstMessage(worker, "verified");
    return report;
  } catch (error) {
    throw unavailable(error);
  }
}

type MessageOf<Kind extends WorkerMessage["kind"]> = Extract<WorkerMessage, { readonly kind: Kind }>;

function firstMessage<Kind extends "ready" | "verified">(worker: Worker, kind: Kind): Promise<MessageOf<Kind>> {
  return new Promise((resolve, reject) => {
    const ended = (): void => reject(new Error("The database's thread ended before it was ready."));
    worker.once("error", reject);
    worker.once("exit", ended);
    worker.once("message", (message: WorkerMessage) => {
      worker.off("error", reject);
      worker.off("exit", ended);
      if (isOf(message, kind)) resolve(message);
      else if (message.kind !== "refused") reject(new Error(`unexpected message: ${message.kind}`));
      else reject(message.isUnusable ? new UnusableData(message.message) : new Error(message.message));
    });
  });
}

function isOf<Kind extends WorkerMessage["kind"]>(message: WorkerMessage, kind: Kind): message is MessageOf<Kind> {
  return message.kind === kind;
}

function toError(failure: Failure): GatewayError {
  const cause = new Error(sentence(failure));
  return failure.kind === "broken" ? new GatewayError("ERROR_REASON_INTERNAL", {}, { cause }) : unavailable(cause);
}

function sentence(failure: Failure): string {
  return failure.code === "" ? failure.message : `${failure.code}: ${failure.message}`;
}

function unavailable(cause: unknown): GatewayError {
  return new GatewayError("ERROR_REASON_LEDGER_UNAVAILABLE", {}, { cause });
}

function tooMany(): GatewayError {
  return new GatewayError("ERROR_REASON_OVERLOADED", { problem: "the database is behind" });
}
