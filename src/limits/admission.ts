/** What the gateway asks of a request's limits while it runs. */
import type { CallMetadata } from "../api/channel.js";
import type { AdmissionResult, Demand } from "../coordination/coordination.js";

export const DEGRADED_HEADER = "x-tollgate-degraded";
const NO_HEAD: CallMetadata = Object.freeze({});
export const NOTHING: readonly Demand[] = [];

/**
 * A request that is inside its limits of requests and concurrency. Its tokens, and what is limited for its model, are
 * taken once it was read.
 */
export interface Admission {
  /**
   * The headers `x-ratelimit-{limit,remaining,reset}-{requests,tokens}`, of the limits that are set, and
   * `x-tollgate-degraded` where this node decided by its own share of them.
   */
  readonly head: CallMetadata;
  /**
   * Where nodes share limits, the question for the first half waits for `reserve` and goes with it. A request that
   * fails before that asks here first: throws or rejects with RATE_LIMITED, which comes before what it failed with.
   */
  enter(): Promise<void> | undefined;
  /**
   * Takes an upper bound of its tokens, and what is limited for the model. Throws or rejects with RATE_LIMITED, and
   * then takes nothing.
   *
   * A bound above the whole limit of tokens reserves just the limit: it is only a bound, so that the request passes
   * once the window is empty, rather than never. What it then uses beyond is taken at the correction, and later
   * requests wait for it.
   */
  reserve(tokens: number, model: string): Promise<void> | undefined;
  /**
   * Says how many tokens the request used in all. What was reserved above that is given back; what is missing is taken.
   */
  correct(usedTokens: number): void;
  /** Frees the request's slots. Repeating it changes nothing. */
  release(): void;
}

/** Of a caller without limits, where nodes share none. */
export const UNLIMITED: Admission = Object.freeze({
  head: NO_HEAD,
  enter: () => undefined,
  reserve: () => undefined,
  correct: () => undefined,
  release: () => undefined,
});

/**
 * Of a caller without limits, where nodes share them: what it was remembered under is compared with what is shared,
 * while its request is read.
 */
export class ComparedAdmission implements Admission {
  readonly #comparing: Promise<void>;
  #isDegraded = false;

  /** `answer` is of an admission without demands. */
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
