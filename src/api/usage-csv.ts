/** Sums of QueryUsage as CSV. */
import { formatUsd } from "../base/money.js";
import { cell, line } from "../base/csv.js";
import { enumWord } from "./descriptors.js";
import type { Percentiles, UsageDimension, UsageSum } from "./index.js";
import { metersCell } from "./meters.js";
import { isCostUnknown, NO_USAGE, USAGE_FIELDS } from "./usage.js";

const COUNTS = ["request_count", "admitted_count", "error_count", "errors"];
const MONEY = ["cost_usd", "charged_usd", "operator_cost_usd", "margin_usd"];
const TIMES = ["first_token", "total"].flatMap((name) => ["p50", "p95", "p99"].map((share) => `${name}_${share}_ms`));
const STREAMED = ["cache_saved_usd", "streamed_tokens", "streamed_ms"];
const TOKENS = USAGE_FIELDS.map((field) => field.replaceAll(/[A-Z]|\d/g, (part) => `_${part.toLowerCase()}`));

/** The titles: the properties that were asked for, what else is known of them, then what is told of each sum. */
export function usageHead(groupBy: readonly UsageDimension[], known: readonly string[] = []): string {
  const asked = groupBy.map((dimension) => enumWord("tollgate.v1.UsageDimension", dimension));
  return line([...asked, ...known, ...COUNTS, ...TOKENS, ...MONEY, ...TIMES, "meters", ...STREAMED]);
}

/** `known` stands under the titles of the same place. */
export function usageLine(sum: UsageSum, known: readonly string[] = []): string {
  const usage = sum.usage ?? NO_USAGE;
  const errors = Object.entries(sum.errors);
  const errorCount = errors.reduce((count, [, of]) => count + of, 0n);
  return line([
    // A name may be anything, also of somebody who means harm.
    ...[...sum.values, ...known].map(cell),
    `${sum.requestCount}`,
    `${sum.admittedCount}`,
    `${errorCount}`,
    errors.map(([reason, count]) => `${reason}=${count}`).join(" "),
    ...USAGE_FIELDS.map((field) => `${usage[field]}`),
    ...[sum.costNanos, sum.chargedNanos].map(usd),
    ...(isCostUnknown(sum, sum.chargedNanos) ? ["", ""] : [sum.operatorCostNanos, sum.marginNanos].map(usd)),
    ...times(sum.firstToken),
    ...times(sum.total),
    metersCell(usage.meters),
    usd(sum.cacheSavedNanos),
    `${sum.streamedTokens}`,
    sum.streamedMs.toFixed(1),
  ]);
}

function usd(nanos: bigint | undefined): string {
  return nanos === undefined ? "" : formatUsd(nanos);
}

function times(percentiles: Percentiles | undefined): string[] {
  if (percentiles === undefined) return ["", "", ""];
  return [percentiles.p50Ms, percentiles.p95Ms, percentiles.p99Ms].map((timeMs) => timeMs.toFixed(2));
}
