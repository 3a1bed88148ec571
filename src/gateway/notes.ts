/** What a live stream notes in the ledger of what it delivered, so that a crash charges that. */
import type { Usage } from "../api/index.js";
import { NO_USAGE } from "../api/usage.js";
import { countTokens, warmTokenCounter } from "../pricing/tokens.js";
import type { AnswerReport, WireRequest } from "../wire/wire.js";
import { readUsage, tokensAtLeast, wordEnd } from "./count.js";

// What a crash may lose of a live stream: two seconds, or a thousand tokens. No tokenizer makes more tokens than bytes.
const NOTE_MS = 2_000;
const NOTE_BYTES = 1_000;
// A character of UTF-16 has three bytes at most. The least that must come before bytes are counted again.
const CHARACTER_BYTES_MAX = 3;
const FIRST_LOOK_CHARACTERS = Math.ceil(NOTE_BYTES / CHARACTER_BYTES_MAX);
const LOOK_CHARACTERS_MIN = 50;
// From here on a note is likely to come, and the tokenizer gets ready for it.
const WARM_CHARACTERS = 200;
// A cut inside a word may make some tokens of one; a note must not say more than was generated.
const CROSSED_TOKENS_MAX = 4;
const COUNT_WAIT_MS = 50;

export interface NotesOptions {
  readonly request: WireRequest;
  /** The model that answers, as its upstream names it. */
  readonly modelId: string;
  readonly inputTokensMax: number;
  /** Of the request, on the clock of `performance.now`. */
  readonly startMs: number;
  /** Takes all that was delivered so far. */
  readonly note: (usage: Usage) => void;
}

/**
 * Counts an answer piece by piece while it grows. It is the count that a cut would be charged by, so a crash charges no
 * more than that.
 */
export class Notes {
  #characters = 0;
  #tokens = 0;
  #isWarm = false;
  /** How long the text must be before its bytes are counted. */
  #lookAt = FIRST_LOOK_CHARACTERS;
  #noteMs: number;
  /** What was read, once it is known. */
  #input: Usage | undefined;

  constructor(private readonly options: NotesOptions) {
    this.#noteMs = options.startMs;
  }

  /** Called when the answer grew; notes it where enough came, or enough time passed. */
  see(report: AnswerReport | undefined, nowMs: number): void {
    const text = report?.text ?? "";
    const grown = text.length - this.#characters;
    if (grown >= WARM_CHARACTERS && !this.#isWarm) {
      this.#isWarm = true;
      warmTokenCounter(this.options.modelId);
    }
    const isTime = grown > 0 && nowMs - this.#noteMs >= NOTE_MS;
    if (!isTime && (text.length < this.#lookAt || !this.#isEnough(text))) return;
    const end = wordEnd(text, this.#characters);
    const piece = text.slice(this.#characters, end);
    this.#characters = end ?? text.length;
    this.#lookAt = text.length + FIRST_LOOK_CHARACTERS;
    this.#noteMs = nowMs;
    void this.#count(piece, end === undefined ? CROSSED_TOKENS_MAX : 0);
    // Once it is older than what a crash may lose; so a short stream never pays for counting its input.
    if (nowMs - this.options.startMs >= NOTE_MS && this.#input === undefined) void this.#readInput(report?.usage);
  }

  /** True where enough bytes came; else it says how many characters must follow before that can be. */
  #isEnough(text: string): boolean {
    const bytes = Buffer.byteLength(text.slice(this.#characters));
    const missing = Math.ceil((NOTE_BYTES - bytes) / CHARACTER_BYTES_MAX);
    this.#lookAt = text.length + Math.max(LOOK_CHARACTERS_MIN, missing);
    return missing <= 0;
  }

  /** Pieces may overtake each other: what is noted is never more than was generated. */
  async #count(piece: string, crossed: number): Promise<void> {
    const counting = countTokens(piece, this.options.modelId);
    let least = 0;
    // The tokenizer may have to start first, and a crash must not lose what came meanwhile.
    if ((await Promise.race([counting, pause(COUNT_WAIT_MS)])) === undefined) {
      least = Math.max(0, tokensAtLeast(piece) - 1);
      this.#tokens += least;
      this.#note();
    }
    this.#tokens += Math.max(0, (await counting) - crossed) - least;
    this.#note();
  }

  async #readInput(told: Usage | undefined): Promise<void> {
    this.#input = NO_USAGE;
    const { request, modelId, inputTokensMax } = this.options;
    this.#input = await readUsage(told, request, modelId, inputTokensMax);
    this.#note();
  }

  #note(): void {
    this.options.note({ ...(this.#input ?? NO_USAGE), outputTokens: BigInt(this.#tokens) });
  }
}

/** Resolves with nothing. Keeps no process alive. */
function pause(durationMs: number): Promise<undefined> {
  return new Promise((resolve) => setTimeout(() => resolve(undefined), durationMs).unref());
}
