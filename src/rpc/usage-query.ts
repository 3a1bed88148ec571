/** Sums of requests as the protocol asks for them. */
import { usageFrom } from "../api/usage.js";
import { DAY_MS } from "../api/day.js";
import { type QueryUsageRequest, UsageDimension, type UsageSum } from "../api/index.js";
import type { RecordFilter } from "../records/filter.js";
import { type Dimension, DIMENSIONS } from "../records/usage-codes.js";
import type { UsageGroup } from "../records/usage-groups.js";
import type { Caller } from "../keys/caller.js";
import { invalid } from "../api/check.js";
import { accountFilter, isOperator } from "./ownership.js";
import { askedNames } from "./request-filter.js";

const DEFAULT_MS = DAY_MS;
const DIMENSIONS_MAX = 2;

export interface AskedUsage {
  readonly dimensions: readonly Dimension[];
  readonly filter: RecordFilter;
}

/** Throws PARAMETER_INVALID, and RESOURCE_UNKNOWN where the account is another one's. */
export function askedUsage(request: QueryUsageRequest, caller: Caller, nowMs: number): AskedUsage {
  const account = accountFilter(caller, request.accountId);
  const dimensions = request.groupBy.map(dimensionOf);
  if (dimensions.length > DIMENSIONS_MAX) throw invalid("group_by", "must name at most two properties");
  if (new Set(dimensions).size < dimensions.length) throw invalid("group_by", "names a property twice");
  const endMs = request.endTime?.getTime() ?? nowMs + 1;
  const fromMs = request.startTime?.getTime() ?? endMs - DEFAULT_MS;
  if (fromMs >= endMs) throw invalid("start_time", "must come before end_time");
  const names = askedNames(request, account);
  return { dimensions, filter: { fromMs, toMs: endMs - 1, names, tag: request.tag || undefined } };
}

function dimensionOf(asked: UsageDimension): Dimension {
  const name = UsageDimension[asked]?.replace("USAGE_DIMENSION_", "").toLowerCase();
  const dimension = DIMENSIONS.find((each) => each === name);
  if (dimension === undefined) throw invalid("group_by", `must be of ${DIMENSIONS.join(", ")}`);
  return dimension;
}

/** What the operator pays, and what is left for it, is nobody else's business. */
export function sumMessage(group: UsageGroup, caller: Caller): UsageSum {
  const { sums, firstTokenMs, totalMs } = group;
  const seen = isOperator(caller);
  return {
    values: [...group.values],
    requestCount: BigInt(group.requestCount),
    admittedCount: BigInt(group.answeredCount),
    errors: Object.fromEntries(Object.entries(group.errors).map(([reason, count]) => [reason, BigInt(count)])),
    usage: usageFrom((field) => sums[field]),
    costNanos: sums.costNanos,
    chargedNanos: sums.chargedNanos,
    operatorCostNanos: seen ? sums.operatorCostNanos : undefined,
    marginNanos: seen ? sums.marginNanos : undefined,
    firstToken: firstTokenMs && { p50Ms: firstTokenMs.p50, p95Ms: firstTokenMs.p95, p99Ms: firstTokenMs.p99 },
    total: totalMs && { p50Ms: totalMs.p50, p95Ms: totalMs.p95, p99Ms: totalMs.p99 },
  };
}
