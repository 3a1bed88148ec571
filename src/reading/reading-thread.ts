/** The thread that reads long bodies, and who waits for it: the accounts take turns. */
import { Worker } from "node:worker_threads";
import { listeningClock, type Waiting } from "../base/event-loop/listening-clock.js";
import { GatewayError, isReasonName } from "../base/errors.js";
import { FairQueue, type QueuedJob } from "../base/fair-queue.js";
import { threadEntry } from "../base/package-root.js";
import { REQUEST_TOTAL_MS_MAX } from "../base/timeout.js";
import type { Asker } from "../wire/answer/long-answer.js";
import type { Answer, ReadingRequest } from "./protocol.js";

/** How long the thread, with its 30 MB, stays with nothing to do. */
const IDLE_MS = 60_000;
const BOUND = { jobs: 256, size: 512 * 1024 * 1024, accountJobs: 64, accountSize: 256 * 1024 * 1024 };
/** How long something is asked about a request that is only read: as long as any request may take in all. */
const ASKER_MS_MAX = REQUEST_TOTAL_MS_MAX;
/** How long one body may take the thread: an answer of 64 MiB takes seconds, and ten of them where much else runs. */
const TASK_MS_MAX = 60_000;
/** A body of 32 MiB takes a few times its size; a thread that wants more than this has a fault. */
const WORKER_HEAP_MB = { maxOldGenerationSizeMb: 768, maxYoungGenerationSizeMb: 32 };

class ReadingJob implements QueuedJob<"body"> {
  readonly lane = "body";
  sizeLeft: number;
  /** Runs until nobody waits for it any more, or until the thread had it for long enough. */
  timer: Waiting | undefined;

  constructor(
    readonly question: ReadingRequest,
    readonly asker: Asker,
    readonly resolve: (answer: Answer) => void,
    readonly reject: (error: GatewayError) => void,
  ) {
    this.sizeLeft = question.source.body.length;
  }

  get account(): string {
    return this.asker.account;
  }

  get leftMs(): number {
    return Math.max(0, this.asker.endMs - performance.now());
  }
}

/** What is said of what the thread had no room for, of what was not done in time, and of what it failed over. */
export interface ThreadWords {
  busy(): GatewayError;
  late(): GatewayError;
  tooMuch(cause: Error): GatewayError;
}

const OF_REQUESTS: ThreadWords = {
  busy: () => overloaded("too many long requests wait to be read"),
  late: () => overloaded("the request waited too long to be read"),
  tooMuch: (cause) => overloaded("the request takes too much to read", cause),
};

/** Who waits for all that is asked about a request that comes now: no request lives longer. */
export function askerOf(account: string): Asker {
  return { account, endMs: performance.now() + ASKER_MS_MAX };
}

export class ReadingThread {
  #worker: Worker | undefined;
  readonly #queue = new FairQueue<"body", ReadingJob>({ body: BOUND });
  #running: ReadingJob | undefined;
  #idle: NodeJS.Timeout | undefined;

  constructor(
    private readonly words = OF_REQUESTS,
    private readonly taskMsMax = TASK_MS_MAX,
  ) {}

  /** Bodies that wait, the one that is read now not included. */
  get waiting(): number {
    return this.#queue.size;
  }

  /**
   * Rejects with the refusal of the body, with OVERLOADED where too much waits already, or where its asker's time is
   * over or it takes the thread too long.
   */
  async ask<Kind extends Answer["kind"]>(
    question: ReadingRequest,
    asker: Asker,
    kind: Kind,
  ): Promise<Extract<Answer, { readonly kind: Kind }>> {
    if (asker.endMs <= performance.now()) throw this.words.late();
    const answer = await new Promise<Answer>((resolve, reject) => {
      const job = new ReadingJob(question, asker, resolve, reject);
      if (!this.#queue.add(job)) return reject(this.words.busy());
      job.timer = listeningClock.after(job.leftMs, () => this.#leave(job));
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
    for (const job of waiting) {
      job.timer?.cancel();
      job.reject(this.words.busy());
    }
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
    const { sizeLeft } = job;
    job.sizeLeft = 0;
    this.#queue.took(job, sizeLeft, true);
    const worker = (this.#worker ??= this.#start());
    worker.ref();
    worker.postMessage(job.question, []);
    job.timer?.cancel();
    // Which bound it meets is decided here: a timer may ring a part of a millisecond before its time.
    const { leftMs } = job;
    const isLate = leftMs <= this.taskMsMax;
    // What the thread answered while this process was held up is read before it is late.
    job.timer = listeningClock.after(Math.min(this.taskMsMax, leftMs), () => this.#stop(worker, isLate));
  }

  /** Nobody waits for it any more, and the thread does not have it yet. */
  #leave(job: ReadingJob): void {
    this.#queue.took(job, 0, true);
    job.reject(this.words.late());
  }

  /** Nothing else ends what a thread is at. `isLate`: its asker's time is over, not the thread's. */
  #stop(worker: Worker, isLate: boolean): void {
    this.#failed(worker, isLate ? this.words.late() : this.words.tooMuch(new Error("it took the thread too long")));
    void worker.terminate();
  }

  #start(): Worker {
    // Flags of this process, such as a test runner's loaders, are not the thread's.
    const worker = new Worker(threadEntry("reading-thread"), {
      resourceLimits: WORKER_HEAP_MB,
      execArgv: [],
      name: "reading",
    });
    worker.on("message", (answer: Answer) => {
      // Of a thread that was stopped meanwhile.
      if (this.#worker !== worker) return;
      const job = this.#running;
      job?.timer?.cancel();
      this.#next();
      job?.resolve(answer);
    });
    worker.on("error", (cause) => this.#failed(worker, this.words.tooMuch(cause)));
    return worker;
  }

  /** What it was reading is refused, since it may be why it failed; the next gets a new thread. */
  #failed(worker: Worker, error: GatewayError): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    const job = this.#running;
    job?.timer?.cancel();
    this.#next();
    job?.reject(error);
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
