/** Checkpoints of a running stream: they write to the ledger what was delivered, so that a crash charges that. */
import type { Usage } from "../api/index.js";
import { NO_USAGE } from "../api/usage.js";
import { countUsage, readAtLeast } from "../pricing/request-tokens.js";
import { tokensAtLeast, wordEnd } from "../pricing/text-pieces.js";
import { countOrEstimate, roughTokens } from "../pricing/tokens.js";
import type { AnswerReport, GrownText, WireRequest } from "../wire/wire.js";
import type { TextCount } from "./usage-doubt.js";

// What a crash may lose of a live stream: two seconds, or a thousand tokens. No tokenizer makes more tokens than bytes.
const NOTE_MS = 2_000;
const NOTE_BYTES = 1_000;
// Where the least that a text can be leaves nearly as much open, a count follows so soon that it may as well be made.
const COUNT_BYTES = 900;
// A cut inside a word may make some tokens of one; a note must not say more than was generated.
const CROSSED_TOKENS_MAX = 4;
const COUNT_WAIT_MS = 50;
// What is kept of a text whose fewest tokens leave nothing open: so much, and what one read holds.
const KEPT_CHARACTERS_MAX = 16_384;

export interface UsageCheckpointsOptions {
  readonly request: WireRequest;
  /** The model that answers, by the upstream's name. */
  readonly modelId: string;
  readonly inputTokensMax: number;
  /** The request's account: counting takes turns by account. */
  readonly accountId: string;
  /** The start of the request, on the clock of `performance.now`. */
  readonly startMs: number;
  /** Writes a checkpoint of all that was delivered so far. */
  readonly note: (usage: Usage) => void;
}

/**
 * Writes checkpoints of an answer while it grows. At first they hold the least tokens that the text can have, which
 * costs next to nothing. Once that leaves too much open, the text is counted. A cut answer is charged by the same
 * count, so a crash charges no more than that. Counted text is dropped, so that a longer answer takes no more memory.
 */
export class UsageCheckpoints {
  #tokens = 0;
  /** The least tokens in the checkpoint, independent of estimates and of the model's tokenizer. */
  #certain = 0;
  /** Settles once every piece so far is counted. */
  #counting: Promise<void> = Promise.resolve();
  /** The end of the text that is counted, and so no longer kept; below, the end of what is in a checkpoint. */
  #counted = 0;
  #noted = 0;
  /** The least tokens of the text that is in a checkpoint and not counted. */
  #least = 0;
  #noteMs: number;
  /** Estimates of delivered content that is not text, and of audio, which has its own price. */
  #nonText = 0;
  #audio = 0;
  /** The input usage, once it is known. */
  #input: Usage | undefined;

  constructor(private readonly options: UsageCheckpointsOptions) {
    this.#noteMs = options.startMs;
  }

  /**
   * Called while the answer grows, and periodically while it does not. Writes a checkpoint after enough output or time.
   */
  see(report: AnswerReport | undefined, nowMs: number): void {
    const text = report?.grown;
    if (report === undefined || text === undefined) return;
    if (nowMs - this.#noteMs < NOTE_MS) {
      if (this.#open(text) < NOTE_BYTES && text.keptLength < KEPT_CHARACTERS_MAX) return;
    } else if (text.length === this.#noted) return this.#seeWordless(report, nowMs);
    this.#noteMs = nowMs;
    this.#nonText = nonTextOf(report);
    this.#audio = report.audioTokens ?? 0;
    // Once it is older than what a crash may lose; so a short stream never pays for reading its input again.
    if (nowMs - this.options.startMs >= NOTE_MS && this.#input === undefined) this.#readInput(report.usage);
    this.#take(text);
  }

  /**
   * Handles output without new text: hidden reasoning, or content that is not text. A crash charges the input and that.
   */
  #seeWordless(report: AnswerReport, nowMs: number): void {
    this.#noteMs = nowMs;
    const { made, audioTokens = 0 } = report;
    const nonText = nonTextOf(report);
    const isNoted = nonText === this.#nonText && audioTokens === this.#audio;
    if (made === "nothing" || (this.#input !== undefined && isNoted)) return;
    this.#nonText = nonText;
    this.#audio = audioTokens;
    if (this.#input === undefined) this.#readInput(report.usage);
    // An input that is counted is noted once it is.
    if (this.#input !== NO_USAGE) this.#note();
  }

  /** The least tokens that were delivered so far. */
  get certainTokens(): number {
    return this.#certain;
  }

  /** The counted tokens of everything delivered. No checkpoint is written after this call. */
  async output(text: GrownText): Promise<TextCount> {
    const { modelId, accountId } = this.options;
    const counting = countOrEstimate(text.from(this.#counted), modelId, { account: accountId, lane: "settlement" });
    await this.#counting;
    const rest = await counting;
    return {
      tokens: this.#tokens - this.#least + rest.tokens,
      certainTokens: this.#certain - this.#least + rest.certainTokens,
    };
  }

  /** An estimate of the delivered tokens: the count so far, and an estimate of the rest. */
  estimate(text: GrownText): number {
    return this.#tokens + roughTokens(text.from(this.#noted));
  }

  /** The least tokens that were delivered. */
  least(text: GrownText): number {
    return this.#certain + tokensAtLeast(text.from(this.#noted));
  }

  /** The most tokens that may have been delivered and are in no checkpoint. */
  #open(text: GrownText): number {
    return text.keptBytes - this.#least;
  }

  /** Adds the text so far to the checkpoint, up to a position that no token crosses. */
  #take(text: GrownText): void {
    const fresh = text.from(this.#noted);
    const end = wordEnd(fresh, 0);
    const crossed = end === undefined ? CROSSED_TOKENS_MAX : 0;
    const least = Math.max(0, tokensAtLeast(fresh.slice(0, end)) - crossed);
    this.#noted += end ?? fresh.length;
    this.#least += least;
    this.#certain += least;
    if (this.#open(text) < COUNT_BYTES && text.keptLength < KEPT_CHARACTERS_MAX) {
      this.#tokens += least;
      this.#note();
    } else {
      const piece = text.from(this.#counted).slice(0, this.#noted - this.#counted);
      this.#counting = this.#count(piece, crossed, least, this.#least, this.#counting);
      // A count that failed is told to whoever asks for the output, which may be long after.
      this.#counting.catch(() => undefined);
      this.#counted = this.#noted;
      text.drop(this.#counted);
      this.#least = 0;
    }
  }

  /**
   * Counts a piece. `least` of its tokens are in no checkpoint yet; `all` is the least of the whole piece. Pieces may
   * finish out of order: a checkpoint never holds more than was generated.
   */
  async #count(piece: string, crossed: number, least: number, all: number, before: Promise<void>): Promise<void> {
    this.#tokens += least;
    const { modelId, accountId } = this.options;
    const counting = countOrEstimate(piece, modelId, { account: accountId, lane: "settlement" });
    // The tokenizer may have to start first, and a crash must not lose what came meanwhile.
    if ((await Promise.race([counting, pause(COUNT_WAIT_MS)])) === undefined) this.#note();
    const { tokens, certainTokens } = await counting;
    this.#tokens += Math.max(0, tokens - crossed - all);
    this.#certain += Math.max(0, certainTokens - crossed - all);
    this.#note();
    await before;
  }

  #readInput(told: Usage | undefined): void {
    this.#input = readAtLeast(told, this.options.request, this.options.inputTokensMax);
    // Without it a crash charges what came, and the settlement counts it again.
    if (this.#input === undefined) this.#countInput().catch(() => undefined);
  }

  async #countInput(): Promise<void> {
    this.#input = NO_USAGE;
    const { request, modelId, inputTokensMax, accountId } = this.options;
    this.#input = await countUsage(request, 0, modelId, inputTokensMax, accountId);
    this.#note();
  }

  #note(): void {
    try {
      const input = this.#input ?? NO_USAGE;
      const outputTokens = BigInt(this.#tokens + this.#nonText);
      this.options.note({ ...input, outputTokens, audioOutputTokens: BigInt(this.#audio) });
    } catch {
      // The next note says all that this one did, and the settlement says more: no answer ends for it.
    }
  }
}

/** An estimate of content that is neither text nor audio. */
function nonTextOf({ nonTextTokens = 0, unknownTokens = 0 }: AnswerReport): number {
  return nonTextTokens + unknownTokens;
}

/** Resolves after the time. Keeps no process alive. */
function pause(durationMs: number): Promise<undefined> {
  return new Promise((resolve) => setTimeout(() => resolve(undefined), durationMs).unref());
}
