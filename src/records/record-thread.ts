/** The main thread's end of the thread that stores records. */
import { once } from "node:events";
import type { Worker } from "node:worker_threads";
import { GatewayError } from "../base/errors.js";
import { UnusableData } from "../base/unusable-data.js";
import { startThread } from "../base/threads.js";
import type {
  RecordAnswer,
  RecordCall,
  RecordCallName,
  RecordCalls,
  RecordRefusal,
  RecordStart,
} from "./record-calls.js";

/** How many calls may wait for the thread, which answers one after the other. */
const CALLS_MAX = 1_000;

interface Waiting {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

export class RecordThread {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  readonly #exited: Promise<unknown>;
  #lastId = 0;
  #isClosing = false;
  #ended: Error | undefined;

  private constructor(worker: Worker) {
    this.#worker = worker;
    this.#exited = once(worker, "exit");
    worker.on("message", (message: RecordAnswer) => this.#receive(message));
    worker.on("error", (error) => this.#fail(error instanceof Error ? error : new Error(String(error))));
    worker.once("exit", () => this.#fail(new Error("the thread of records ended")));
    worker.unref();
  }

  /** Rejects where the place cannot be opened: with UnusableData where its files are at fault. */
  static async start(start: RecordStart): Promise<RecordThread> {
    const worker = startThread("records", start);
    const [first] = (await once(worker, "message")) as ["ready" | RecordRefusal];
    if (first !== "ready") throw first.isUnusable ? new UnusableData(first.refused) : new Error(first.refused);
    return new RecordThread(worker);
  }

  call<Name extends RecordCallName>(
    name: Name,
    ...args: Parameters<RecordCalls[Name]>
  ): Promise<ReturnType<RecordCalls[Name]>> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended);
    if (this.#waiting.size >= CALLS_MAX) return Promise.reject(tooMany());
    const id = (this.#lastId += 1);
    return new Promise((resolve, reject) => {
      const asked: RecordCall = { id, name, args };
      this.#send(asked);
      if (this.#waiting.size === 0) this.#worker.ref();
      // The thread answers a call with what the table of calls says it gives.
      this.#waiting.set(id, { resolve: (result) => resolve(result as ReturnType<RecordCalls[Name]>), reject });
    });
  }

  /** Answers what was asked before, then closes the place. */
  async close(): Promise<void> {
    this.#isClosing = true;
    if (this.#ended === undefined) {
      this.#worker.ref();
      this.#send("close");
    }
    await this.#exited;
  }

  #send(message: RecordCall | "close"): void {
    // A thread's port, not a window's: it has no origin.
    // oxlint-disable-next-line unicorn/require-post-message-target-origin
    this.#worker.postMessage(message);
  }

  #receive(answer: RecordAnswer): void {
    const waiting = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    // Whoever closes it waits for its end, and a process must not end before that.
    if (this.#waiting.size === 0 && !this.#isClosing) this.#worker.unref();
    if ("result" in answer) waiting?.resolve(answer.result);
    else waiting?.reject(failureOf(answer));
  }

  #fail(error: Error): void {
    this.#ended ??= error;
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}

function failureOf({ problem, isAway }: Extract<RecordAnswer, { readonly problem: string }>): Error {
  const cause = new Error(problem);
  return isAway ? new GatewayError("ERROR_REASON_LEDGER_UNAVAILABLE", {}, { cause }) : cause;
}

function tooMany(): GatewayError {
  return new GatewayError("ERROR_REASON_OVERLOADED", { problem: "too many queries of request records" });
}
