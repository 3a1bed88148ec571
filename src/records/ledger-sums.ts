/**
 * Sums of records made equal to the ledger's: whatever the ledger has beyond the records stands under `unknown`, so
 * that no grouping shows more or less money than was moved.
 */
import { DAY_MS, dayNumber, dayOf } from "../base/day.js";
import { mapInTurns } from "../base/event-loop/turns.js";
import { metersBeyond, NO_METERS } from "../api/meters.js";
import { NO_USAGE } from "../api/usage.js";
import type { RequestStore, UsageSum, UsageSummaryRow } from "../store/store.js";
import { UNKNOWN } from "./columns.js";
import type { RecordFilter } from "./filter.js";
import type { Dimension } from "./usage-codes.js";
import type { UsageGroup } from "./usage-groups.js";
import type { TimeSpan } from "./usage-snapshot.js";
import { SUMS, type SumName } from "./usage-sums.js";

const PAGE_ROWS = 1_000;
const SPLIT = "\u0000";

/** What the ledger's sums can be narrowed to. */
const LEDGER_NAMES: ReadonlySet<string> = new Set(["account", "key", "model"]);

/** True where the ledger's own sums know all that the question is narrowed to, but for its times. */
export function isOfLedger({ fromMs: _from, toMs: _to, names, ...rest }: RecordFilter): boolean {
  return (
    Object.values(rest).every((value) => value === undefined) &&
    Object.keys(names).every((name) => LEDGER_NAMES.has(name))
  );
}

/** The days from one moment to another. */
export function daysBetween({ fromMs, toMs }: TimeSpan): readonly string[] {
  const first = dayNumber(fromMs);
  const count = Math.max(0, dayNumber(toMs) - first + 1);
  return Array.from({ length: count }, (_, place) => dayOf((first + place) * DAY_MS));
}

/** The ledger's sums of one day, read before those of the records. */
export async function ledgerDay(
  day: string,
  account: string | undefined,
  requests: Pick<RequestStore, "summarize">,
): Promise<readonly UsageSummaryRow[]> {
  const rows: UsageSummaryRow[] = [];
  for (let token = ""; ;) {
    const page = await requests.summarize(account, { fromDay: day, toDay: day }, { size: PAGE_ROWS, token });
    rows.push(...page.rows);
    token = page.nextPageToken;
    if (token === "") return rows;
  }
}

/** What the ledger has of a day beyond the records, with whose it is. Less than they have is below zero. */
export interface Rest {
  readonly row: UsageSummaryRow;
  readonly group: UsageGroup;
}

/** The ledger's sums of a day, and whether it is over: else records may be newer than what the ledger said. */
export interface LedgerDay {
  readonly day: string;
  readonly account: string | undefined;
  readonly rows: readonly UsageSummaryRow[];
  readonly isOver: boolean;
}

/** What records are asked for, to compare them with a day of the ledger. */
export const COMPARED_BY: readonly Dimension[] = ["key", "model"];

export async function restOfDay(
  { day, account, rows }: LedgerDay,
  groups: readonly UsageGroup[],
): Promise<readonly Rest[]> {
  // A day may have as many of both as there are keys and models.
  const found = new Map(await mapInTurns(groups, (group) => [group.values.join(SPLIT), group] as const));
  const rests = await mapInTurns(rows, (row) => {
    const name = row.keyId + SPLIT + row.model;
    const group = beyond(row, found.get(name));
    found.delete(name);
    return group === undefined ? [] : [{ row, group }];
  });
  const others = await mapInTurns([...found.values()], (told) => {
    const [keyId = "", model = ""] = told.values;
    const row = { ...NO_SUM, day, accountId: account ?? UNKNOWN, keyId, model };
    const group = beyond(row, told);
    return group === undefined ? [] : [{ row, group }];
  });
  return [...rests.flat(), ...others.flat()];
}

/** As a group of what was asked for. */
export function groupOf({ row, group }: Rest, dimensions: readonly Dimension[]): UsageGroup {
  return { ...group, values: dimensions.map((each) => valueOf(each, row)) };
}

/** The day, wholly. */
export function dayTimes(day: string): TimeSpan {
  const fromMs = Date.parse(day);
  return { fromMs, toMs: fromMs + DAY_MS - 1 };
}

const NO_SUM: UsageSum = {
  requestCount: 0,
  usage: NO_USAGE,
  costNanos: 0n,
  refundedNanos: 0n,
  operatorCostNanos: 0n,
  marginNanos: 0n,
};
const TOTALS = ["costNanos", "operatorCostNanos", "marginNanos"] as const;

/** What changes with each request that is charged, and with no refund. */
export type Total = Pick<UsageSum, "requestCount" | (typeof TOTALS)[number]>;

export function totalOf(sums: readonly Total[]): Total {
  const total = { requestCount: 0, costNanos: 0n, operatorCostNanos: 0n, marginNanos: 0n };
  for (const one of sums) {
    total.requestCount += one.requestCount;
    for (const name of TOTALS) total[name] += one[name];
  }
  return total;
}

export function isSameTotal(one: Total, other: Total): boolean {
  return one.requestCount === other.requestCount && TOTALS.every((name) => one[name] === other[name]);
}

function valueOf(dimension: Dimension, row: UsageSummaryRow): string {
  switch (dimension) {
    case "day":
      return row.day;
    case "account":
      return row.accountId;
    case "key":
      return row.keyId;
    case "model":
      return row.model;
    default:
      return UNKNOWN;
  }
}

type Sums = Record<SumName, bigint>;

function sumOf(row: UsageSummaryRow, name: SumName): bigint {
  switch (name) {
    case "costNanos":
    case "chargedNanos":
      return row.costNanos;
    case "operatorCostNanos":
    case "marginNanos":
      return row[name];
    // The ledger's sums do not have them.
    case "cacheSavedNanos":
    case "streamedTokens":
    case "streamedTenths":
      return 0n;
    default:
      return row.usage[name];
  }
}

/** The ledger's sums of a day do not have them. */
const UNCOMPARED: ReadonlySet<SumName> = new Set([
  "chargedNanos",
  "cacheSavedNanos",
  "streamedTokens",
  "streamedTenths",
]);
const COMPARED = SUMS.filter((name) => !UNCOMPARED.has(name));

/** Undefined where nothing is. */
function beyond(row: UsageSummaryRow, group: UsageGroup | undefined): UsageGroup | undefined {
  const count = row.requestCount - (group?.settledCount ?? 0);
  const of = (name: SumName): bigint => sumOf(row, name) - (group?.sums[name] ?? 0n);
  const meters = metersBeyond(row.usage.meters, group?.meters ?? NO_METERS);
  if (count === 0 && meters.length === 0 && COMPARED.every((name) => of(name) === 0n)) return undefined;
  const sums = Object.fromEntries(SUMS.map((name) => [name, UNCOMPARED.has(name) ? 0n : of(name)])) as Sums;
  // What was above the money that an account had is no charge.
  sums.chargedNanos = sums.costNanos;
  return {
    values: [],
    requestCount: count,
    answeredCount: count,
    settledCount: count,
    errors: {},
    sums,
    meters,
    firstTokenMs: undefined,
    totalMs: undefined,
  };
}
