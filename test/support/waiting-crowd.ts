/**
 * Clients whose connections the kernel has accepted before this thread, in which the server runs, takes the first of
 * them: nothing runs in it until then.
 */
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { PATIENCE_MS } from "./patience.js";

interface Crowd {
  readonly port: number;
  readonly count: number;
}

export interface Waiting {
  /** What each got until its connection ended: the text of an answer, or the status of a call. */
  answers(): Promise<string[]>;
}

/** Each sends a text as soon as it is connected, before anybody has accepted it. */
export function sendWhileBlocked(crowd: Crowd & { readonly text: string }): Waiting {
  return blocked("./crowd-http.mjs", crowd);
}

/** Each makes a unary call of an empty message. */
export function callWhileBlocked(
  crowd: Crowd & { readonly path: string; readonly headers: Readonly<Record<string, string>> },
): Waiting {
  return blocked("./crowd-grpc.mjs", crowd);
}

function blocked(thread: string, crowd: Crowd): Waiting {
  const sent = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(new URL(thread, import.meta.url), { workerData: { ...crowd, sent } });
  const answered = once(worker, "message") as Promise<[string[]]>;
  for (let count = 0; count < crowd.count; count = Atomics.load(sent, 0))
    if (Atomics.wait(sent, 0, count, PATIENCE_MS) === "timed-out") throw new Error("the clients did not connect");
  return {
    answers: async () => {
      const [answers] = await answered;
      await worker.terminate();
      return answers;
    },
  };
}
