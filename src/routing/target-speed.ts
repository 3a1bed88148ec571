/** How fast a target answers, as this node measured it. */
import type { Usage } from "../api/index.js";
import { generatedTokens } from "../api/usage.js";
import type { GatewayError } from "../base/errors.js";
import type { WireRequest } from "../wire/wire.js";

/** After so long without a change, half of what is known is of before. */
const HALF_LIFE_MS = 90_000;
/** Measurements of so long count as one: what weighs is time, and not how many requests came. */
const SLOT_MS = 1_000;
/** With fewer measurements, or only older ones, nothing is known. */
const KNOWN_COUNT_MIN = 5;
const KNOWN_MS = 600_000;
const LATEST_MAX = 5;
/** Bounds of the sizes of requests, in bytes: longer ones are read for longer. */
const SIZE_BYTES = [4_096, 65_536] as const;

/** The mean of what was measured of late. */
export class RecentMean {
  #mean: number | undefined;
  #slotSum = 0;
  #slotCount = 0;
  #slotStartMs = 0;
  /** When the slot began that is the last one in the mean. */
  #meanMs = 0;
  #count = 0;
  #lastMs = 0;
  readonly #latest: number[] = [];

  note(value: number, nowMs: number): void {
    this.#fold(nowMs);
    if (this.#slotCount === 0) this.#slotStartMs = nowMs;
    this.#slotSum += value;
    this.#slotCount += 1;
    this.#count += 1;
    this.#lastMs = nowMs;
    this.#latest.push(value);
    if (this.#latest.length > LATEST_MAX) this.#latest.shift();
  }

  /** Undefined where too little is known. */
  value(nowMs: number): number | undefined {
    if (this.#count < KNOWN_COUNT_MIN || nowMs - this.#lastMs > KNOWN_MS) return undefined;
    this.#fold(nowMs);
    return this.#mean ?? this.#slotSum / this.#slotCount;
  }

  /** The mean of the last few measurements alone. */
  get latest(): number {
    return this.#latest.reduce((sum, value) => sum + value, 0) / this.#latest.length;
  }

  /** Forgets what was measured, and begins with this. */
  restart(value: number, nowMs: number): void {
    [this.#mean, this.#meanMs] = [value, nowMs];
    [this.#slotSum, this.#slotCount] = [0, 0];
  }

  #fold(nowMs: number): void {
    if (this.#slotCount === 0 || nowMs - this.#slotStartMs < SLOT_MS) return;
    const mean = this.#slotSum / this.#slotCount;
    const share = this.#mean === undefined ? 1 : 1 - 2 ** (-(this.#slotStartMs - this.#meanMs) / HALF_LIFE_MS);
    this.#mean = (this.#mean ?? mean) + share * (mean - (this.#mean ?? mean));
    this.#meanMs = this.#slotStartMs;
    [this.#slotSum, this.#slotCount] = [0, 0];
  }
}

/** What an attempt showed. Times are of one monotonic clock. */
export interface MeasuredAttempt {
  readonly request: Pick<WireRequest, "facts">;
  readonly options: { readonly stream: boolean };
  readonly startMs: number;
  /** Undefined where no output came. */
  readonly firstOutputMs: number | undefined;
  readonly endMs: number;
  readonly usage: Usage | undefined;
  readonly error: GatewayError | undefined;
}

export class TargetSpeed {
  /** By the sizes of requests; streams, and then whole answers. */
  readonly #means: (RecentMean | undefined)[] = [];
  /** Milliseconds for each output token, of all answers. */
  readonly perToken = new RecentMean();

  /** To the first output of a stream, or for each output token of a whole answer, of requests of this size. */
  of(isStream: boolean, textBytes: number): RecentMean {
    const size = SIZE_BYTES.filter((bytes) => textBytes > bytes).length;
    return (this.#means[isStream ? size : SIZE_BYTES.length + 1 + size] ??= new RecentMean());
  }

  /** A timeout counts as long as it took; other failures say nothing of the speed. */
  note({ request, options, startMs, firstOutputMs, endMs, usage, error }: MeasuredAttempt): void {
    const isStream = options.stream;
    const mean = this.of(isStream, request.facts.textBytes);
    const outputTokens = usage === undefined ? 0 : Number(generatedTokens(usage));
    const tokens = Math.max(1, outputTokens);
    if (error !== undefined) {
      if (error.reason === "ERROR_REASON_UPSTREAM_TIMEOUT") mean.note(endMs - (firstOutputMs ?? startMs), endMs);
      return;
    }
    mean.note(isStream ? (firstOutputMs ?? endMs) - startMs : (endMs - startMs) / tokens, endMs);
    const generatingMs = endMs - (isStream ? (firstOutputMs ?? startMs) : startMs);
    if (outputTokens > 0) this.perToken.note(generatingMs / tokens, endMs);
  }
}
