/** How often a request is tried, as settings say it. */
import { defined } from "../base/defined.js";
import { ATTEMPTS_MAX, COOL_DOWN_MS_MAX } from "../base/retries.js";
import type { RetrySettings } from "./settings.js";
import { block, span, wholeNumber } from "./values.js";

const BACKOFF_MS_LEAST = 10;
const BACKOFF_MS_MAX = 60_000;
const COOL_DOWN_MS_LEAST = 1_000;

const pause = span("must be a time from 10ms to 1m, such as 400ms or 2s", BACKOFF_MS_LEAST, BACKOFF_MS_MAX);
const coolDown = span("must be a time from 1s to 5m, such as 30s or 2m", COOL_DOWN_MS_LEAST, COOL_DOWN_MS_MAX);

/** Of an upstream, a model or a target. */
export const retries = block({
  attempts: wholeNumber(1, ATTEMPTS_MAX)
    .optional()
    .describe("The maximum number of attempts of a request, at all targets together; default: 3"),
  backoff: pause
    .optional()
    .describe(
      "The longest pause before a second attempt at the same target, doubled with each attempt; default: 400ms",
    ),
  backoff_max: pause.optional().describe("The limit of that pause; default: 2s"),
  cool_down_max: coolDown
    .optional()
    .describe("How long a target that failed or is at its rate limit is skipped at most; default: 5m"),
}).transform(({ attempts, backoff, backoff_max, cool_down_max }): RetrySettings =>
  defined({ attempts, backoffMs: backoff, backoffMaxMs: backoff_max, coolDownMaxMs: cool_down_max }),
);
