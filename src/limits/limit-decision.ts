/** How the gateway applies a request's limits while the request runs. */
import type { CallMetadata } from "../api/channel.js";
import type { AdmissionResult, Demand } from "../coordination/coordination.js";

export const DEGRADED_HEADER = "x-tollgate-degraded";
const NO_HEAD: CallMetadata = Object.freeze({});
export const NOTHING: readonly Demand[] = [];

/**
 * A request that was admitted by its limits of requests and concurrency. Its tokens, and the limits of its model, are
 * taken after the request is read.
 */
export interface LimitDecision {
  /**
   * The headers `x-ratelimit-{limit,remaining,reset}-{requests,tokens}` of the limits that are set, and
   * `x-tollgate-degraded` if this node decided by its own share of the limits.
   */
  readonly head: CallMetadata;
  /**
   * Takes the limits of requests and concurrency now. If nodes share limits, they are otherwise taken together with the
   * tokens in `reserve`. A request that fails before `reserve` calls this first, because RATE_LIMITED takes precedence
   * over its own error. Throws or rejects with RATE_LIMITED.
   */
  enter(): Promise<void> | undefined;
  /**
   * Takes an upper bound of the request's tokens, and the limits of its model. Throws or rejects with RATE_LIMITED, and
   * then takes nothing.
   *
   * If the bound is above the whole token limit, only the limit is taken, so that the request passes once the window is
   * empty and is not refused forever. Tokens used beyond that are taken in `correct`, and later requests wait for them.
   *
   * A second call, for another model that answers instead, first gives back what the call before took.
   */
  reserve(tokens: number, model: string): Promise<void> | undefined;
  /**
   * Sets how many tokens the request used in all. Gives back what was reserved above that, and takes what is missing.
   */
  correct(usedTokens: number): void;
  /** Frees the request's concurrency slots. A second call changes nothing. */
  release(): void;
}

/** The admission of a caller without limits if nodes share no limits. */
export const UNLIMITED: LimitDecision = Object.freeze({
  head: NO_HEAD,
  enter: () => undefined,
  reserve: () => undefined,
  correct: () => undefined,
  release: () => undefined,
});

/**
 * The admission of a caller without limits if nodes share limits. While the request is read, the node checks that what
 * it remembers of the caller is still current.
 */
export class ComparedAdmission implements LimitDecision {
  readonly #comparing: Promise<void>;
  #isDegraded = false;

  /** `answer` is the result of an admission that takes no limits. */
  constructor(answer: AdmissionResult | Promise<AdmissionResult>) {
    this.#comparing = this.#compare(answer);
    // Whoever has to know asks; a request that failed before anybody did is refused for that.
    this.#comparing.catch(() => undefined);
  }

  async #compare(answer: AdmissionResult | Promise<AdmissionResult>): Promise<void> {
    this.#isDegraded = (await answer).degraded === true;
  }

  get head(): CallMetadata {
    return this.#isDegraded ? { [DEGRADED_HEADER]: "limits" } : NO_HEAD;
  }

  enter(): Promise<void> {
    return this.#comparing;
  }

  reserve(): Promise<void> {
    return this.#comparing;
  }

  correct(): void {}

  release(): void {}
}
