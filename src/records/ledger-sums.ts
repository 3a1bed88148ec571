/**
 * Sums of records made equal to the ledger's: whatever the ledger has beyond the records stands under `unknown`, so
 * that no grouping shows more or less money than was moved.
 */
import { DAY_MS, dayNumber, dayOf } from "../api/day.js";
import { mapInTurns } from "../api/turns.js";
import type { RequestStore, UsageSummaryRow } from "../store/store.js";
import { UNKNOWN } from "./columns.js";
import type { RecordFilter } from "./filter.js";
import type { Dimension } from "./usage-codes.js";
import type { UsageGroup } from "./usage-groups.js";
import { SUMS, type SumName } from "./usage-sums.js";

const PAGE_ROWS = 1_000;
const SPLIT = "\u0000";

export type AskRecords = (dimensions: readonly Dimension[], filter: RecordFilter) => Promise<readonly UsageGroup[]>;

/** A filter that the ledger's own sums know as well: whole days, and an account, a key and a model. */
export interface LedgerFilter {
  readonly account: string | undefined;
  readonly key: string | undefined;
  readonly model: string | undefined;
  readonly days: readonly string[];
}

/** What the ledger's sums can be narrowed to. */
const LEDGER_NAMES: ReadonlySet<string> = new Set(["account", "key", "model"]);

/** Undefined where no day of the question can be compared with the ledger. */
export function ledgerFilter({ fromMs, toMs, names, ...rest }: RecordFilter, nowMs: number): LedgerFilter | undefined {
  if (Object.values(rest).some((value) => value !== undefined)) return undefined;
  if (Object.keys(names).some((name) => !LEDGER_NAMES.has(name))) return undefined;
  const first = Math.ceil(fromMs / DAY_MS);
  // Of today nothing comes after now.
  const last = toMs >= nowMs ? dayNumber(nowMs) : Math.floor((toMs + 1) / DAY_MS) - 1;
  const days = Array.from({ length: Math.max(0, last - first + 1) }, (_, place) => dayOf((first + place) * DAY_MS));
  return days.length === 0 ? undefined : { account: names.account, key: names.key, model: names.model, days };
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

/** What the ledger has of a day beyond the records, with whose it is. */
export interface Rest {
  readonly row: UsageSummaryRow;
  readonly group: UsageGroup;
}

export async function restOfDay(
  rows: readonly UsageSummaryRow[],
  filter: RecordFilter,
  ask: AskRecords,
): Promise<readonly Rest[]> {
  const groups = await ask(["key", "model"], filter);
  // A day may have as many of both as there are keys and models.
  const found = new Map(await mapInTurns(groups, (group) => [group.values.join(SPLIT), group] as const));
  const rests = await mapInTurns(rows, (row) => {
    const group = beyond(row, found.get(row.keyId + SPLIT + row.model));
    return group === undefined ? [] : [{ row, group }];
  });
  return rests.flat();
}

/** As a group of what was asked for. */
export function groupOf({ row, group }: Rest, dimensions: readonly Dimension[]): UsageGroup {
  return { ...group, values: dimensions.map((each) => valueOf(each, row)) };
}

/** The day, wholly. */
export function dayTimes(day: string): { readonly fromMs: number; readonly toMs: number } {
  const fromMs = Date.parse(day);
  return { fromMs, toMs: fromMs + DAY_MS - 1 };
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
    default:
      return row.usage[name];
  }
}

/** The ledger's sums of a day do not tell what of the cost was charged. */
const COMPARED = SUMS.filter((name) => name !== "chargedNanos");

/** Undefined where nothing is: records that are newer than what the ledger said are right all the same. */
function beyond(row: UsageSummaryRow, group: UsageGroup | undefined): UsageGroup | undefined {
  const count = row.requestCount - (group?.settledCount ?? 0);
  const of = (name: SumName): bigint => sumOf(row, name) - (group?.sums[name] ?? 0n);
  if (count < 0 || (count === 0 && COMPARED.every((name) => of(name) === 0n))) return undefined;
  const sums = Object.fromEntries(SUMS.map((name) => [name, of(name)])) as Sums;
  // What was above the money that an account had is no charge.
  sums.chargedNanos = sums.costNanos;
  return {
    values: [],
    requestCount: count,
    answeredCount: count,
    settledCount: count,
    errors: {},
    sums,
    firstTokenMs: undefined,
    totalMs: undefined,
  };
}
