/**
 * The threads that keep state beside the event loop. Each waits for its task, which is the first message to it, so that
 * those which every start needs can load their code while the program loads its own.
 */
import { type MessagePort, Worker } from "node:worker_threads";
import { threadEntry } from "./package-root.js";

/** A batch and its rows take a few MiB; a thread that wants more than this has a fault. */
const SERVE_LIMITS = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 8 };
const VERIFY_LIMITS = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 8 };
/** Chunks that were read lately, and what a question puts together. */
const RECORD_LIMITS = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 16 };

/** Flags of this process, such as a test runner's loaders, are not the database's. */
const DATABASE = { entry: "database-thread" as const, execArgv: [] };

const THREADS = {
  ledger: { ...DATABASE, resourceLimits: SERVE_LIMITS },
  answers: { ...DATABASE, resourceLimits: SERVE_LIMITS },
  verify: { ...DATABASE, resourceLimits: VERIFY_LIMITS },
  records: { entry: "record-thread" as const, resourceLimits: RECORD_LIMITS },
};

export type ThreadName = keyof typeof THREADS;

const begun = new Map<ThreadName, Worker>();

/** Begins a thread for whoever starts it later. */
export function beginThread(name: ThreadName): void {
  const worker = threadOf(name);
  begun.set(name, worker);
  // Whoever starts it makes another then, and hears why that one fails.
  worker.once("error", () => begun.delete(name));
}

/** Gives a thread its task: the one that was begun, or a new one. */
export function startThread(name: ThreadName, task: unknown): Worker {
  const worker = begun.get(name) ?? threadOf(name);
  begun.delete(name);
  // A thread's port, not a window's: it has no origin.
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  worker.postMessage(task);
  return worker;
}

/** In a thread: its task, as whoever started it gave it. Nothing else comes before the thread said that it is ready. */
export function taskOf(port: MessagePort): Promise<unknown> {
  return new Promise((resolve) => port.once("message", resolve));
}

function threadOf(name: ThreadName): Worker {
  const { entry, ...options } = THREADS[name];
  return new Worker(threadEntry(entry), { ...options, name });
}
