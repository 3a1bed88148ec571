/** The thread that reads long bodies, and who waits for it: the accounts take turns. */
import { Worker } from "node:worker_threads";
import { GatewayError, isReasonName } from "../errors.js";
import { threadEntry } from "../package-root.js";
import { type CountJob, CountQueue } from "../pricing/count-queue.js";
import type { Answer, Question } from "./protocol.js";

/** How long the thread, with its 30 MB, stays with nothing to do. */
const IDLE_MS = 60_000;
const BOUND = { jobs: 256, chars: 512 * 1024 * 1024, accountJobs: 64, accountChars: 256 * 1024 * 1024 };
/** A body of 32 MiB takes a few times its size; a thread that wants more than this has a fault. */
const WORKER_HEAP_MB = { maxOldGenerationSizeMb: 768, maxYoungGenerationSizeMb: 32 };

class ReadingJob implements CountJob {
  readonly lane = "question";
  charsLeft: number;

  constructor(
    readonly question: Question,
    readonly account: string,
    readonly resolve: (answer: Answer) => void,
    readonly reject: (error: GatewayError) => void,
  ) {
    this.charsLeft = question.source.body.length;
  }
}

/** What is said of what the thread had no room for, and of what it failed over. */
export interface ThreadWords {
  busy(): GatewayError;
  tooMuch(cause: Error): GatewayError;
}

const OF_REQUESTS: ThreadWords = {
  busy: () => overloaded("too many long requests wait to be read"),
  tooMuch: (cause) => overloaded("the request takes too much to read", cause),
};

export class ReadingThread {
  #worker: Worker | undefined;
  readonly #queue = new CountQueue<ReadingJob>({ question: BOUND, settlement: BOUND });
  #running: ReadingJob | undefined;
  #idle: NodeJS.Timeout | undefined;

  constructor(private readonly words = OF_REQUESTS) {}

  /** Bodies that wait, the one that is read now not included. */
  get waiting(): number {
    return this.#queue.size;
  }

  /** Rejects with the refusal of the body, or with OVERLOADED where too much waits already. */
  async ask<Kind extends Answer["kind"]>(
    question: Question,
    account: string,
    kind: Kind,
  ): Promise<Extract<Answer, { readonly kind: Kind }>> {
    const answer = await new Promise<Answer>((resolve, reject) => {
      const job = new ReadingJob(question, account, resolve, reject);
      if (!this.#queue.add(job)) return reject(this.words.busy());
      if (this.#running === undefined) this.#next();
    });
    if (isOf(answer, kind)) return answer;
    if (answer.kind === "refused" && isReasonName(answer.reason))
      throw new GatewayError(answer.reason, answer.metadata);
    const message = answer.kind === "failed" ? answer.message : `unexpected answer: ${answer.kind}`;
    throw new GatewayError("ERROR_REASON_INTERNAL", {}, { cause: new Error(message) });
  }

  async close(): Promise<void> {
    clearTimeout(this.#idle);
    const worker = this.#worker;
    this.#worker = undefined;
    const waiting = this.#queue.jobs();
    for (const job of waiting) this.#queue.took(job, 0, true);
    if (this.#running !== undefined) waiting.push(this.#running);
    this.#running = undefined;
    for (const job of waiting) job.reject(this.words.busy());
    await worker?.terminate();
  }

  #next(): void {
    const job = this.#queue.next();
    this.#running = job;
    if (job === undefined) {
      // A worker with nothing to do must not keep the process alive.
      this.#worker?.unref();
      this.#idle = setTimeout(() => void this.close(), IDLE_MS).unref();
      return;
    }
    clearTimeout(this.#idle);
    const { charsLeft } = job;
    job.charsLeft = 0;
    this.#queue.took(job, charsLeft, true);
    this.#worker ??= this.#start();
    this.#worker.ref();
    this.#worker.postMessage(job.question, []);
  }

  #start(): Worker {
    // Flags of this process, such as a test runner's loaders, are not the thread's.
    const worker = new Worker(threadEntry("reading-thread"), {
      resourceLimits: WORKER_HEAP_MB,
      execArgv: [],
      name: "reading",
    });
    worker.on("message", (answer: Answer) => {
      const job = this.#running;
      this.#next();
      job?.resolve(answer);
    });
    worker.on("error", (error) => this.#failed(worker, error));
    return worker;
  }

  /** What it was reading is refused, since it may be why it failed; the next gets a new thread. */
  #failed(worker: Worker, cause: Error): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    const job = this.#running;
    this.#next();
    job?.reject(this.words.tooMuch(cause));
  }
}

function isOf<Kind extends Answer["kind"]>(
  answer: Answer,
  kind: Kind,
): answer is Extract<Answer, { readonly kind: Kind }> {
  return answer.kind === kind;
}

export function overloaded(problem: string, cause?: Error): GatewayError {
  return new GatewayError("ERROR_REASON_OVERLOADED", { problem }, cause === undefined ? undefined : { cause });
}
