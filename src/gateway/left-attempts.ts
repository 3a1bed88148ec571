/** The usage of attempts whose answer reached no caller: only the operator pays it. */
import type { Usage } from "../api/index.js";
import { totalTokens } from "../api/usage.js";
import type { Uncharged } from "./meter-types.js";

/** Bounded: a request has at most three attempts. */
export class LeftAttempts {
  #uncharged: readonly Uncharged[] = [];
  /** Undefined if the cost of one of them is unknown. */
  #operatorCostNanos: bigint | undefined = 0n;

  /** `operatorCostNanos` is what the operator pays the upstream for the usage; undefined if unknown. */
  add(upstream: string, usage: Usage, operatorCostNanos: bigint | undefined): void {
    this.#uncharged = this.with(upstream, usage);
    this.#operatorCostNanos = this.costWith(operatorCostNanos);
  }

  /** All of it, together with the usage of an answer that is free. */
  with(upstream: string, usage: Usage | undefined): readonly Uncharged[] {
    const tokens = usage === undefined ? 0 : totalTokens(usage);
    return tokens === 0 ? this.#uncharged : [...this.#uncharged, { upstream, tokens }];
  }

  /** What these attempts and the answer cost the operator. */
  costWith(operatorCostNanos: bigint | undefined): bigint | undefined {
    const sum = this.#operatorCostNanos;
    return sum === undefined || operatorCostNanos === undefined ? undefined : sum + operatorCostNanos;
  }
}
