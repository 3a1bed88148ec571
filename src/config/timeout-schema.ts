/** How long an upstream may take, as settings say it. */
import { defined } from "../base/defined.js";
import { DEFAULT_TIMEOUTS, REQUEST_TOTAL_MS_MAX } from "../base/timeout.js";
import { block, oneOf, span } from "./values.js";
import type { TimeoutSettings } from "./settings.js";

const LEAST_MS = 1_000;
const PROFILE_NAMES = ["default", "interactive", "batch"] as const;

/**
 * Timeouts for a kind of work, by name. `interactive` is for people who wait: a target that does not begin soon is
 * left. `batch` is for work that may take long.
 */
const PROFILES: Readonly<Record<(typeof PROFILE_NAMES)[number], TimeoutSettings>> = {
  default: DEFAULT_TIMEOUTS,
  interactive: { firstOutputMs: 10_000, idleMs: 15_000, totalMs: 120_000 },
  batch: { firstOutputMs: 900_000, idleMs: 120_000, totalMs: REQUEST_TOTAL_MS_MAX },
};

const time = span("must be a time from 1s to 1h, such as 30s or 10m", LEAST_MS, REQUEST_TOTAL_MS_MAX);

const phases = {
  profile: oneOf(PROFILE_NAMES)
    .optional()
    .describe("Timeouts for a kind of work; the other fields of the block replace single ones; see docs/routing.md"),
  first_output: time
    .optional()
    .describe("From the request to the first output of a stream; pings are not output; default: 120s"),
  idle: time.optional().describe("The longest pause between two reads of an answer that has begun; default: 30s"),
  total: time.optional().describe("All of it, to the end of the answer; default: 600s"),
};

function asTimeouts({ profile, first_output, idle, total }: ReturnType<typeof said.parse>): TimeoutSettings {
  const written = defined({ firstOutputMs: first_output, idleMs: idle, totalMs: total });
  return { ...(profile === undefined ? {} : PROFILES[profile]), ...written };
}

const said = block(phases);

/** Of a model or a target. A connection is shared by all models of its upstream, so they say nothing of connecting. */
export const timeouts = said.transform(asTimeouts);

/** Of an upstream. */
export const upstreamTimeouts = block({
  connect: time.optional().describe("For a new connection; default: 3s"),
  ...phases,
}).transform(({ connect, ...rest }): TimeoutSettings => ({ ...asTimeouts(rest), connectMs: connect }));
