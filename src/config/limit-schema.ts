/** How much may be sent to an upstream or a target, as settings say it. */
import { DEFAULT_QUEUE_WAIT_MS, REQUEST_TOTAL_MS_MAX } from "../base/timeout.js";
import type { z } from "zod";
import type { TargetLimits } from "./settings.js";
import { block, oneOf, span, usd, wholeNumber } from "./values.js";

const LIMIT_MAX = 1_000_000_000;
const QUEUE_LENGTH_MAX = 10_000;
const LEAST_MS = 1_000;

const limit = wholeNumber(1, LIMIT_MAX).optional();
const wait = span("must be a time from 1s to 1h, such as 30s or 2m", LEAST_MS, REQUEST_TOTAL_MS_MAX);

const queue = block({
  length: wholeNumber(1, QUEUE_LENGTH_MAX).describe(
    "The maximum number of requests that wait for a free place, in each process of the gateway",
  ),
  wait: wait.optional().describe("How long a request waits at most; default: 30s"),
});

const budget = block({
  amount: usd.describe("The most that the operator pays in a period, in USD"),
  period: oneOf(["day", "month"]).describe("The UTC `day` or the UTC `month`"),
});

const limitBlock = block({
  requests_per_minute: limit.describe("The maximum number of requests in any 60 seconds; default: no limit"),
  tokens_per_minute: limit.describe("The maximum number of tokens in any 60 seconds; default: no limit"),
  concurrency: limit.describe(
    "The maximum number of concurrent requests; default: no limit, or for an upstream with a `queue` the number of slots that " +
      "its server reports",
  ),
  queue: queue
    .optional()
    .describe("Requests that wait while `concurrency` is reached and no equal target has room; default: none waits"),
  budget: budget
    .optional()
    .describe("What the operator spends there, counted by the `cost` of the targets; default: no limit"),
});

function limitsOf(said: z.output<typeof limitBlock>): TargetLimits {
  return {
    requestsPerMinute: said.requests_per_minute ?? 0,
    tokensPerMinute: said.tokens_per_minute ?? 0,
    concurrency: said.concurrency ?? 0,
    queue: said.queue && { length: said.queue.length, waitMs: said.queue.wait ?? DEFAULT_QUEUE_WAIT_MS },
    budget: said.budget && { amountNanos: said.budget.amount, period: said.budget.period },
  };
}

/** Of an upstream. Its server may report how many requests it works at, so that a queue needs no number. */
export const upstreamLimits = limitBlock.transform(limitsOf);

/** Of a target. */
export const targetLimits = limitBlock.transform((said, context): TargetLimits => {
  if (said.queue !== undefined && said.concurrency === undefined)
    context.addIssue({
      code: "custom",
      message: "needs concurrency, which says when a request waits",
      path: ["queue"],
    });
  return limitsOf(said);
});
