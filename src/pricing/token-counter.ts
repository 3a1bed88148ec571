/** The thread that counts tokens, and the texts that it is given, a slice at a time. */
import { createRequire } from "node:module";
import { Worker } from "node:worker_threads";
import type { SlicedText } from "../base/bytes/sliced-text.js";
import { FairQueue, type LaneBounds, type QueuedJob } from "../base/fair-queue.js";
import type { Encoding } from "./model-tokens.js";
import { cutRuns } from "./text-runs.js";

/** About how much the thread is given at once: a neighbour waits no longer than it takes to count this, 10 ms. */
const SLICE_CHARS = 65_536;
/**
 * How much is cut in one turn of the event loop: 2 ms. A character that this cuts in two counts a token or two more.
 */
const TURN_CHARS = 262_144;
/** Settlements hold money, so that questions never stand before them, nor they before all questions. */
export type CountLane = "settlement" | "question";

const BOUNDS: Readonly<Record<CountLane, LaneBounds>> = {
  settlement: { jobs: 4_096, size: 64_000_000, accountJobs: 1_024, accountSize: 16_000_000 },
  question: { jobs: 256, size: 32_000_000, accountJobs: 64, accountSize: 8_000_000 },
};
/** A worker that needs more than this, in megabytes, ends, and what it counted is estimated. */
const WORKER_HEAP_MB = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 16 };

/**
 * What runs in the worker. As text, since it must start alike from the compiled program and from a test of the
 * source.
 */
const WORKER = `
const { parentPort, workerData } = require("node:worker_threads");
const loaded = new Map();
// An encoding is loaded when it is first asked for: each takes half a second and 40 MB.
function load(encoding) {
  const tokenizer = require(workerData[encoding]);
  // The package keeps 100,000 words with their tokens: of the longest words, hundreds of megabytes.
  tokenizer.setMergeCacheSize(10_000);
  loaded.set(encoding, tokenizer);
  return tokenizer;
}
// Text such as <|endoftext|> from a client is text, never a command.
const plain = { allowedSpecial: new Set(), disallowedSpecial: new Set() };
parentPort.on("message", (slices) => {
  parentPort.postMessage(slices.map(({ encoding, parts }) => {
    const { countTokens } = loaded.get(encoding) ?? load(encoding);
    let tokens = 0;
    for (const part of parts) tokens += countTokens(part, plain);
    return tokens;
  }));
});
`;

/** A text to be counted. */
export interface CountOrder {
  readonly text: SlicedText;
  /** How much of it, from its start. */
  readonly chars: number;
  readonly encoding: Encoding;
  /** Who asks; the accounts take turns. */
  readonly account: string;
  readonly lane: CountLane;
  /** Where more tokens make no difference, and counting stops. */
  readonly tokensMax: number;
}

/** What is asked of the thread at once. */
interface Slice {
  readonly encoding: Encoding;
  readonly parts: readonly string[];
}

class TextJob implements QueuedJob<CountLane> {
  readonly account: string;
  readonly lane: CountLane;
  readonly encoding: Encoding;
  sizeLeft: number;
  tokens = 0;
  readonly #text: SlicedText;
  readonly #chars: number;
  readonly #tokensMax: number;
  /** Cut, and not given to the thread yet. */
  #parts: string[] = [];
  #cutTo = 0;

  constructor(
    { text, chars, encoding, account, lane, tokensMax }: CountOrder,
    readonly resolve: (tokens: number | undefined) => void,
  ) {
    this.#text = text;
    this.#chars = chars;
    this.encoding = encoding;
    this.account = account;
    this.lane = lane;
    this.#tokensMax = tokensMax;
    this.sizeLeft = chars;
  }

  /** The next parts of the text, about as long as asked; all at once where it is short. */
  take(charsMax: number): { readonly parts: readonly string[]; readonly chars: number } {
    const parts: string[] = [];
    let chars = 0;
    while (chars < charsMax && this.sizeLeft > 0) {
      if (this.#parts.length === 0) {
        const end = Math.min(this.#cutTo + TURN_CHARS, this.#chars);
        const cut = cutRuns(this.#text.slice(this.#cutTo, end));
        this.#cutTo = end;
        this.#parts = cut.toReversed();
      }
      const part = this.#parts.pop() ?? "";
      parts.push(part);
      chars += part.length;
      this.sizeLeft -= part.length;
    }
    return { parts, chars };
  }

  get isOver(): boolean {
    return this.sizeLeft === 0 || this.tokens >= this.#tokensMax;
  }
}

/** The worker and who waits for it. */
export class TokenCounter {
  readonly #worker: Worker;
  readonly #queue = new FairQueue<CountLane, TextJob>(BOUNDS);
  /** What the thread counts now. */
  #asked: readonly TextJob[] = [];
  readonly #idleMs: number;
  readonly #onClose: () => void;
  #idle: NodeJS.Timeout | undefined;

  constructor(idleMs: number, onClose: () => void) {
    this.#idleMs = idleMs;
    this.#onClose = onClose;
    const { resolve } = createRequire(import.meta.url);
    const paths: Record<Encoding, string> = {
      o200k_base: resolve("gpt-tokenizer/encoding/o200k_base"),
      cl100k_base: resolve("gpt-tokenizer/encoding/cl100k_base"),
    };
    this.#worker = new Worker(WORKER, {
      eval: true,
      workerData: paths,
      name: "tokens",
      resourceLimits: WORKER_HEAP_MB,
    });
    this.#worker.on("message", (tokens: readonly number[]) => this.#answered(tokens));
    this.#worker.on("error", () => void this.close());
  }

  /** Texts that wait, those that the thread counts now not included. */
  get waiting(): number {
    return this.#queue.size;
  }

  /** Undefined where too much waits already, or where the worker failed. */
  count(order: CountOrder): Promise<number | undefined> {
    return new Promise((resolve) => {
      const job = new TextJob(order, resolve);
      if (!this.#queue.add(job)) return resolve(undefined);
      clearTimeout(this.#idle);
      this.#worker.ref();
      if (this.#asked.length === 0) this.#ask();
    });
  }

  async close(): Promise<void> {
    clearTimeout(this.#idle);
    this.#onClose();
    const waiting = new Set([...this.#asked, ...this.#queue.jobs()]);
    for (const { resolve } of waiting) resolve(undefined);
    await this.#worker.terminate();
  }

  /** Gives the thread as much as one slice may hold, of as many texts as fit. */
  #ask(): void {
    const asked: TextJob[] = [];
    const slices: Slice[] = [];
    let room = SLICE_CHARS;
    while (room > 0) {
      const job = this.#queue.next();
      if (job === undefined) break;
      const { parts, chars } = job.take(room);
      this.#queue.took(job, chars, job.sizeLeft === 0);
      asked.push(job);
      slices.push({ encoding: job.encoding, parts });
      room -= chars;
    }
    this.#asked = asked;
    if (slices.length > 0) this.#worker.postMessage(slices, []);
  }

  #answered(tokens: readonly number[]): void {
    const asked = this.#asked;
    this.#asked = [];
    asked.forEach((job, place) => {
      job.tokens += tokens[place] ?? 0;
      if (!job.isOver) return;
      if (job.sizeLeft > 0) this.#queue.took(job, 0, true);
      job.resolve(job.tokens);
    });
    this.#ask();
    if (this.#asked.length > 0) return;
    // A worker with nothing to do must not keep the process alive.
    this.#worker.unref();
    this.#idle = setTimeout(() => void this.close(), this.#idleMs).unref();
  }
}
