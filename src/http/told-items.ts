/** The ends of answers, for a while: some clients name what an answer told them rather than tell it again. */

/** Bounds of what is kept; the oldest goes first. */
const ANSWER_BYTES_MAX = 1_048_576;
const BYTES_MAX = 67_108_864;
const HOLDER_BYTES_MAX = 4_194_304;
const KEPT_MS = 3_600_000;

interface ToldAnswer {
  readonly holder: string;
  /** The whole answer as JSON. */
  readonly json: Buffer;
  readonly endMs: number;
}

/** Kept in this process alone, and found by none but the key that asked. */
export class ToldItems {
  readonly #answers = new Set<ToldAnswer>();
  readonly #byHolder = new Map<string, Set<ToldAnswer>>();
  #bytes = 0;

  constructor(private readonly nowMs: () => number) {}

  keep(holder: string, json: Buffer): void {
    if (holder === "" || json.length === 0 || json.length > ANSWER_BYTES_MAX) return;
    // A copy, for the answer's own memory may be part of a larger read.
    const told = { holder, json: Buffer.from(json), endMs: this.nowMs() + KEPT_MS };
    const own = this.#byHolder.get(holder) ?? new Set();
    this.#byHolder.set(holder, own.add(told));
    this.#answers.add(told);
    this.#bytes += json.length;
    let ownBytes = 0;
    for (const answer of own) ownBytes += answer.json.length;
    for (const answer of own) {
      if (ownBytes <= HOLDER_BYTES_MAX) break;
      ownBytes -= answer.json.length;
      this.#drop(answer);
    }
    for (const answer of this.#answers) {
      if (this.#bytes <= BYTES_MAX && answer.endMs > this.nowMs()) break;
      this.#drop(answer);
    }
  }

  /** The answers of a key that hold the text, the newest first. */
  *holding(holder: string, text: string): Iterable<Buffer> {
    for (const { json, endMs } of [...(this.#byHolder.get(holder) ?? [])].toReversed())
      if (endMs > this.nowMs() && json.includes(text)) yield json;
  }

  #drop(answer: ToldAnswer): void {
    this.#answers.delete(answer);
    this.#bytes -= answer.json.length;
    const own = this.#byHolder.get(answer.holder);
    own?.delete(answer);
    if (own?.size === 0) this.#byHolder.delete(answer.holder);
  }
}
