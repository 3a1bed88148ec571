/** How often a request is tried, and for how long a target that failed is left alone. */
export interface Retries {
  /** The most attempts of a request, at all targets together. */
  readonly attempts: number;
  /** The longest pause before the second attempt at one target; it doubles with each attempt. */
  readonly backoffMs: number;
  readonly backoffMaxMs: number;
  /** The longest cool-down of a target, whatever its upstream asks for. */
  readonly coolDownMaxMs: number;
}

export const ATTEMPTS_MAX = 10;
export const COOL_DOWN_MS_MAX = 300_000;

/** Where settings say nothing. */
export const DEFAULT_RETRIES: Retries = {
  attempts: 3,
  backoffMs: 400,
  backoffMaxMs: 2_000,
  coolDownMaxMs: COOL_DOWN_MS_MAX,
};
