/** The bytes of requests, or of answers, that are in memory: bounded for each holder, and in all. */
import { GatewayError } from "../errors.js";

const MIB = 1024 * 1024;
/** Less is not counted one by one: there are no more of them than connections. */
const UNCOUNTED_BYTES = 64 * 1024;
/** A body is gone when its request ends, and most end soon. */
const RETRY_MS = "1000";

/** What a budget is of, and what is said where there is no room. */
interface Words {
  /** One holder may take a quarter, and always one of the largest size beside what stands around it. */
  readonly holderBytesMin: number;
  holderFull(limitBytes: number, leftBytes: number): GatewayError;
  full(): GatewayError;
}

const OF_REQUESTS: Words = {
  holderBytesMin: 48 * MIB,
  holderFull: (limitBytes, leftBytes) =>
    new GatewayError("ERROR_REASON_RATE_LIMITED", {
      limit: "request_bytes",
      owner: "the key",
      limit_value: String(limitBytes),
      remaining: String(leftBytes),
      reset_ms: RETRY_MS,
    }),
  full: () => overloaded("the bodies of running requests fill its memory"),
};

/** How much an upstream answers nobody knows before it comes, so it is no limit that a client could keep. */
export const OF_ANSWERS: Words = {
  holderBytesMin: 64 * MIB,
  holderFull: () => overloaded("the answers of the account's running requests fill its share of the memory"),
  full: () => overloaded("the answers of running requests fill its memory"),
};

/** The same of what the ends of streams repeat, where a holder is a key. */
export const OF_STREAM_ENDS: Words = {
  holderBytesMin: 64 * MIB,
  holderFull: () => overloaded("the streams of the key's running requests fill its share of the memory"),
  full: () => overloaded("the streams of running requests fill its memory"),
};

export class ByteBudget {
  readonly #byHolder = new Map<string, number>();
  readonly #max: number;
  readonly #holderMax: number;
  #used = 0;

  constructor(
    max: number,
    private readonly words = OF_REQUESTS,
  ) {
    this.#max = max;
    this.#holderMax = Math.min(max, Math.max(Math.floor(max / 4), words.holderBytesMin));
  }

  /** What is taken now. */
  get used(): number {
    return this.#used;
  }

  /** Takes bytes for a holder. Throws, where the holder has too many or all have, what the budget has words for. */
  take(holder: string, bytes: number): void {
    this.check(holder, bytes);
    this.#byHolder.set(holder, this.#usedBy(holder) + bytes);
    this.#used += bytes;
  }

  /** Throws where so many bytes could not be taken. */
  check(holder: string, bytes: number): void {
    const used = this.#usedBy(holder);
    if (used + bytes > this.#holderMax)
      throw this.words.holderFull(this.#holderMax, Math.max(0, this.#holderMax - used));
    if (this.#used + bytes > this.#max) throw this.words.full();
  }

  give(holder: string, bytes: number): void {
    const left = this.#usedBy(holder) - bytes;
    if (left > 0) this.#byHolder.set(holder, left);
    else this.#byHolder.delete(holder);
    this.#used -= bytes;
  }

  #usedBy(holder: string): number {
    return this.#byHolder.get(holder) ?? 0;
  }
}

/** What one request takes of a budget, and gives back as one. */
export class ByteLease {
  #bytes = 0;

  constructor(
    private readonly budget: ByteBudget,
    private readonly holder: string,
  ) {}

  /** Takes so many in all, where that is much. Throws as the budget does. */
  reach(bytes: number): void {
    if (bytes <= UNCOUNTED_BYTES || bytes <= this.#bytes) return;
    this.budget.take(this.holder, bytes - this.#bytes);
    this.#bytes = bytes;
  }

  giveBack(): void {
    if (this.#bytes === 0) return;
    this.budget.give(this.holder, this.#bytes);
    this.#bytes = 0;
  }
}

function overloaded(problem: string): GatewayError {
  return new GatewayError("ERROR_REASON_OVERLOADED", { problem, retry_after_ms: RETRY_MS });
}
