/** Sums of requests as the protocol asks for them. */
import { DAY_MS } from "../../base/day.js";
import { timeZoneNamed } from "../../base/time-zone.js";
import {
  type Percentiles,
  type QueryUsageRequest,
  type Usage,
  UsageDimension,
  type UsageSum,
} from "../../api/index.js";
import type { RecordFilter } from "../../records/filter.js";
import { type Dimension, DIMENSIONS, isPeriod } from "../../records/usage-codes.js";
import { NO_ERRORS, type UsageGroup } from "../../records/usage-groups.js";
import type { Caller } from "../../keys/caller.js";
import { invalid } from "../../api/check.js";
import { type Money, moneyFrom, MoneyItself } from "./money-messages.js";
import { accountFilter, isOperator } from "../call/account-scope.js";
import { askedNames, timesOf } from "./request-filter.js";

const DEFAULT_MS = DAY_MS;
const DIMENSIONS_MAX = 2;
const VALUES_MAX = 20_000;
const TAG_NAME_CHARACTERS_MAX = 128;
/** Times are stored in tenths of a millisecond. */
const TENTHS = 10;

export interface AskedUsage {
  readonly dimensions: readonly Dimension[];
  readonly filter: RecordFilter;
  /** How many values of a property are told one by one; 0 for all. */
  readonly valuesMax: number;
}

/** Throws PARAMETER_INVALID, and RESOURCE_UNKNOWN where the account is another one's. */
export function askedUsage(request: QueryUsageRequest, caller: Caller, nowMs: number): AskedUsage {
  const account = accountFilter(caller, request.accountId);
  const { tagName, timeZone } = request;
  const zone = timeZone === "" ? undefined : zoneOf(timeZone);
  if (tagName !== "" && !request.groupBy.includes(UsageDimension.USAGE_DIMENSION_TAG_VALUE))
    throw invalid("tag_name", "needs tag_value in group_by");
  const dimensions = request.groupBy.map((asked) => dimensionOf(asked, request, zone));
  if (dimensions.includes("node") && !isOperator(caller))
    throw invalid("group_by", "must not have node: only operators may group by it");
  if (dimensions.length > DIMENSIONS_MAX) throw invalid("group_by", "must name at most two properties");
  if (new Set(dimensions).size < dimensions.length) throw invalid("group_by", "names a property twice");
  // Without an end there is none: the clock goes on before the day is compared with the ledger, and today is in it.
  const { fromMs, toMs } = timesOf(request, (lastMs) => Math.min(lastMs, nowMs) + 1 - DEFAULT_MS);
  const names = askedNames(request, account);
  const { valuesMax } = request;
  if (valuesMax < 0 || valuesMax > VALUES_MAX) throw invalid("values_max", `must be from 0 to ${VALUES_MAX}`);
  const { tag, httpStatus, minTotalMs: totalMinMs, maxTotalMs: totalMaxMs } = request;
  const bounds = { status: httpStatus || undefined, totalMinMs, totalMaxMs };
  return { dimensions, filter: { fromMs, toMs, names, tag: tag || undefined, ...bounds }, valuesMax };
}

function dimensionOf(
  asked: UsageDimension,
  { tagName }: Pick<QueryUsageRequest, "tagName">,
  zone: string | undefined,
): Dimension {
  if (asked === UsageDimension.USAGE_DIMENSION_TAG_VALUE) {
    if (tagName === "" || tagName.length > TAG_NAME_CHARACTERS_MAX)
      throw invalid("tag_name", `must have 1 to ${TAG_NAME_CHARACTERS_MAX} characters`);
    return `tag=${tagName}`;
  }
  const name = UsageDimension[asked]?.replace("USAGE_DIMENSION_", "").toLowerCase();
  const dimension = DIMENSIONS.find((each) => each === name);
  if (dimension === undefined) throw invalid("group_by", `must be of ${DIMENSIONS.join(", ")}, tag_value`);
  return zone !== undefined && isPeriod(dimension) ? `${dimension}@${zone}` : dimension;
}

function zoneOf(name: string): string | undefined {
  const zone = timeZoneNamed(name);
  if (zone === undefined) throw invalid("time_zone", "must be the name of a time zone, such as Europe/Berlin");
  return zone === "UTC" ? undefined : zone;
}

/** As messages. What the operator pays, and what is left for it, is nobody else's business. */
export function sumMessages(groups: readonly UsageGroup[], caller: Caller): UsageSum[] {
  const seen = isOperator(caller);
  return groups.map((group) => new GroupSum(group, seen));
}

/** A group as a message, each of whose fields is made where it is read: of 20,000 nobody makes all at once. */
class GroupSum extends MoneyItself implements UsageSum {
  constructor(
    private readonly group: UsageGroup,
    private readonly seen: boolean,
  ) {
    super();
  }

  get values(): string[] {
    return [...this.group.values];
  }

  get requestCount(): bigint {
    return BigInt(this.group.requestCount);
  }

  get admittedCount(): bigint {
    return BigInt(this.group.answeredCount);
  }

  get errors(): Record<string, bigint> {
    const { errors } = this.group;
    if (errors === NO_ERRORS) return NO_ERRORS;
    const counts: Record<string, bigint> = {};
    for (const reason in errors) counts[reason] = BigInt(errors[reason] ?? 0);
    return counts;
  }

  get usage(): Usage {
    const { sums, meters } = this.group;
    // Beside other sums they have all tokens that a usage has.
    return { ...sums, meters };
  }

  get costNanos(): bigint {
    return this.group.sums.costNanos;
  }

  get cost(): Money {
    return moneyFrom(this.costNanos);
  }

  get chargedNanos(): bigint {
    return this.group.sums.chargedNanos;
  }

  get charged(): Money {
    return moneyFrom(this.chargedNanos);
  }

  get operatorCostNanos(): bigint | undefined {
    return this.seen ? this.group.sums.operatorCostNanos : undefined;
  }

  get operatorCost(): Money | undefined {
    return this.operatorCostNanos === undefined ? undefined : moneyFrom(this.operatorCostNanos);
  }

  get marginNanos(): bigint | undefined {
    return this.seen ? this.group.sums.marginNanos : undefined;
  }

  get margin(): Money | undefined {
    return this.marginNanos === undefined ? undefined : moneyFrom(this.marginNanos);
  }

  get cacheSavedNanos(): bigint {
    return this.group.sums.cacheSavedNanos;
  }

  get cacheSaved(): Money {
    return moneyFrom(this.cacheSavedNanos);
  }

  get streamedTokens(): bigint {
    return this.group.sums.streamedTokens;
  }

  get streamedMs(): number {
    return Number(this.group.sums.streamedTenths) / TENTHS;
  }

  get firstToken(): Percentiles | undefined {
    return percentilesOf(this.group.firstTokenMs);
  }

  get total(): Percentiles | undefined {
    return percentilesOf(this.group.totalMs);
  }
}

function percentilesOf(times: UsageGroup["totalMs"]): Percentiles | undefined {
  return times && { p50Ms: times.p50, p95Ms: times.p95, p99Ms: times.p99 };
}
