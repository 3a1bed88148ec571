/** Counts tokens: exactly with OpenAI's public tokenizers, off the event loop, or near them for everyone else. */
import { createRequire } from "node:module";
import { setImmediate } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { type Encoding, modelTokens } from "./model-tokens.js";

/** Texts that wait for the worker at once, and characters of one text that it counts; the rest is estimated. */
const WAITING_MAX = 256;
const COUNTED_CHARS_MAX = 4_000_000;
/** How long the worker, with its 40 MB of vocabulary, stays with nothing to do. */
const IDLE_MS = 60_000;

/**
 * A run of one class of characters is one word to the tokenizer, and its time grows with the square of a word's
 * length: a megabyte of blanks would take minutes. Longer runs are cut, which adds at most one token for each cut.
 */
const RUN_CHARS_MAX = 256;
/** About how much is counted at once, which bounds the tokens that are in memory together. */
const PART_CHARS = 16_384;
/**
 * How much is cut in one turn of the event loop: 2 ms. A character that this cuts in two counts a token or two more.
 */
const TURN_CHARS = 262_144;
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
parentPort.on("message", ({ id, encoding, parts }) => {
  const { countTokens } = loaded.get(encoding) ?? load(encoding);
  let tokens = 0;
  for (const part of parts) tokens += countTokens(part, plain);
  parentPort.postMessage({ id, tokens });
});
`;

/**
 * The tokens of a text as a model counts them, or near that where its tokenizer is not ours. Never rejects: what cannot
 * be counted, because the worker is overrun or the text is too long, is estimated. So it serves a charge, and no upper
 * bound.
 */
export async function countTokens(text: string, modelId: string): Promise<number> {
  const { encoding, perThousand } = modelTokens(modelId);
  const counted = text.slice(0, COUNTED_CHARS_MAX);
  const tokens = (await countTokensExactly(counted, encoding)) ?? estimateTokens(counted);
  // Down, so that the pieces of a text never count for more than the whole.
  return Math.floor(((tokens + estimateTokens(text.slice(COUNTED_CHARS_MAX))) * perThousand) / 1_000);
}

/**
 * The tokens of a text, counted to the end; undefined where that cannot be, so that a hold can fall back to bytes.
 * Never rejects.
 */
export async function countTokensExactly(text: string, encoding: Encoding): Promise<number | undefined> {
  if (text === "") return 0;
  if (text.length > COUNTED_CHARS_MAX) return undefined;
  const parts: string[] = [];
  for (let at = 0; at < text.length; at += TURN_CHARS) {
    if (at > 0) await setImmediate();
    parts.push(...cutRuns(text.slice(at, at + TURN_CHARS)));
  }
  counter ??= new Counter(IDLE_MS, () => (counter = undefined));
  return counter.count(parts, encoding);
}

/** Ends the worker, if there is one. The next count starts another. */
export async function closeTokenCounter(): Promise<void> {
  await counter?.close();
}

let counter: Counter | undefined;

/** The worker and who waits for it. */
class Counter {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, (tokens: number | undefined) => void>();
  readonly #idleMs: number;
  readonly #onClose: () => void;
  #idle: NodeJS.Timeout | undefined;
  #nextId = 0;

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
    this.#worker.on("message", (answer: { readonly id: number; readonly tokens: number }) => {
      this.#settle(answer.id, answer.tokens);
    });
    this.#worker.on("error", () => void this.close());
  }

  /** Undefined where too many wait already, or where the worker failed. */
  count(parts: readonly string[], encoding: Encoding): Promise<number | undefined> {
    if (this.#waiting.size >= WAITING_MAX) return Promise.resolve(undefined);
    clearTimeout(this.#idle);
    this.#worker.ref();
    const id = this.#nextId++;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.#worker.postMessage({ id, encoding, parts }, []);
    });
  }

  async close(): Promise<void> {
    clearTimeout(this.#idle);
    this.#onClose();
    for (const resolve of this.#waiting.values()) resolve(undefined);
    this.#waiting.clear();
    await this.#worker.terminate();
  }

  #settle(id: number, tokens: number): void {
    this.#waiting.get(id)?.(tokens);
    this.#waiting.delete(id);
    if (this.#waiting.size > 0) return;
    // A worker with nothing to do must not keep the process alive.
    this.#worker.unref();
    this.#idle = setTimeout(() => void this.close(), this.#idleMs).unref();
  }
}

/**
 * Cuts a text inside runs of one class of characters that are too long, and about each 16,384 characters before a
 * blank.
 */
export function cutRuns(text: string): string[] {
  const parts: string[] = [];
  let start = 0;
  let runStart = 0;
  let runKind = -1;
  for (let i = 0; i < text.length; i++) {
    const kind = kindOf(text.charCodeAt(i));
    if (kind !== runKind) {
      if (kind === BLANK && i - start >= PART_CHARS) {
        parts.push(text.slice(start, i));
        start = i;
      }
      runKind = kind;
      runStart = i;
    } else if (i - runStart >= RUN_CHARS_MAX && !isLowSurrogate(text.charCodeAt(i))) {
      parts.push(text.slice(start, i));
      start = i;
      runStart = i;
    }
  }
  parts.push(text.slice(start));
  return parts;
}

const BLANK = 0;
const LETTER = 1;
const DIGIT = 2;
const SIGN = 3;
const BEYOND_ASCII = 4;

function kindOf(code: number): number {
  if (code > 0x7f) return BEYOND_ASCII;
  if (code <= 0x20) return BLANK;
  if (code >= 0x30 && code <= 0x39) return DIGIT;
  const letter = code | 0x20;
  return letter >= 0x61 && letter <= 0x7a ? LETTER : SIGN;
}

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}

/**
 * The tokens of a text, about, for models whose tokenizer is not public: a word of letters is a token for each
 * started 6 letters, three digits are one, signs are one for two, and each character beyond ASCII is one. A blank
 * belongs to the word that follows. It leans high on prose and code, so that a charge by estimate is close to what
 * an upstream would charge.
 */
export function estimateTokens(text: string): number {
  let tokens = 0;
  let run = 0;
  let runKind = -1;
  for (let i = 0; i <= text.length; i++) {
    const kind = i < text.length ? kindOf(text.charCodeAt(i)) : -1;
    if (kind === runKind) {
      run++;
      continue;
    }
    tokens += runTokens(runKind, run, kind);
    runKind = kind;
    run = 1;
  }
  return tokens;
}

function runTokens(kind: number, chars: number, nextKind: number): number {
  switch (kind) {
    case LETTER:
      return Math.ceil(chars / 6);
    case DIGIT:
      return Math.ceil(chars / 3);
    case SIGN:
      return Math.ceil(chars / 2);
    case BEYOND_ASCII:
      return chars;
    case BLANK:
      // One blank belongs to the next word, but to no number; indentation is a token for each started 16.
      return Math.ceil((nextKind === DIGIT ? chars : chars - 1) / 16);
    default:
      return 0;
  }
}
