/** The bytes of requests that are in memory, of all edges together: bounded for each holder, and in all. */
import { GatewayError } from "../errors.js";

const MIB = 1024 * 1024;
/** One key may take a quarter, and always one body of the largest size beside what stands around it. */
const HOLDER_BYTES_MIN = 48 * MIB;
/** A body is gone when its request ends, and most end soon. */
const RETRY_MS = "1000";

export class ByteBudget {
  readonly #byHolder = new Map<string, number>();
  readonly #max: number;
  readonly #holderMax: number;
  #used = 0;

  constructor(max: number) {
    this.#max = max;
    this.#holderMax = Math.min(max, Math.max(Math.floor(max / 4), HOLDER_BYTES_MIN));
  }

  /** What is taken now. */
  get used(): number {
    return this.#used;
  }

  /** Takes bytes for a holder. Throws RATE_LIMITED where the holder has too many, OVERLOADED where all have. */
  take(holder: string, bytes: number): void {
    this.check(holder, bytes);
    this.#byHolder.set(holder, this.#usedBy(holder) + bytes);
    this.#used += bytes;
  }

  /** Throws where so many bytes could not be taken. */
  check(holder: string, bytes: number): void {
    if (this.#usedBy(holder) + bytes > this.#holderMax) throw this.#holderFull(holder);
    if (this.#used + bytes > this.#max) throw full();
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

  #holderFull(holder: string): GatewayError {
    return new GatewayError("ERROR_REASON_RATE_LIMITED", {
      limit: "request_bytes",
      owner: "the key",
      limit_value: String(this.#holderMax),
      remaining: String(Math.max(0, this.#holderMax - this.#usedBy(holder))),
      reset_ms: RETRY_MS,
    });
  }
}

function full(): GatewayError {
  const problem = "the bodies of running requests fill its memory";
  return new GatewayError("ERROR_REASON_OVERLOADED", { problem, retry_after_ms: RETRY_MS });
}
