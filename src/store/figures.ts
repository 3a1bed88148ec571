/** What lists of accounts and keys show beside their rows: balances, what was spent of late, and the last use. */
import { OF_NODE } from "./columns.js";
import { toBalance, type BalanceColumns } from "./account-rows.js";

/** In nano-USD; a period without requests is zero. */
export interface Spent {
  readonly dayNanos: bigint;
  readonly monthNanos: bigint;
  readonly totalNanos: bigint;
  /** Set aside for requests that run. */
  readonly heldNanos: bigint;
}

export interface AccountFigureRow {
  readonly id: string;
  readonly availableNanos: bigint;
  readonly heldNanos: bigint;
  readonly spentNanos: bigint;
  readonly grantedNanos: bigint;
  readonly spent: Spent;
}

export interface KeyFigureRow {
  readonly id: string;
  readonly lastUseTimeMs: number | undefined;
  readonly spent: Spent;
}

/** A key and when it was used last. */
export interface KeyUse {
  readonly keyId: string;
  readonly timeMs: number;
}

/** What the operator spent at an upstream or a target in a UTC day or month, in nano-USD. */
export interface OperatorCost {
  readonly subject: string;
  readonly bucket: string;
  readonly costNanos: bigint;
}

/** Which day and month is meant, as counters name them: 2026-11-21 and 2026-11. */
export interface Buckets {
  readonly day: string;
  readonly month: string;
}

export interface FigureStore {
  /** Of those that exist, in any order. */
  ofAccounts(ids: readonly string[], buckets: Buckets): Promise<AccountFigureRow[]>;
  /** Of each id. */
  ofKeys(ids: readonly string[], buckets: Buckets): Promise<KeyFigureRow[]>;
  /** Keeps the later of each. It is no money and no change of a key: nothing proves it. */
  noteUses(uses: readonly KeyUse[]): Promise<void>;
  /** Adds the costs, in one transaction, and returns what their sums are then. */
  addOperatorCosts(costs: readonly OperatorCost[]): Promise<OperatorCost[]>;
}

export interface SpentColumns {
  readonly owner_id: string;
  readonly period: string;
  readonly spent_nanos: bigint;
  readonly pending_nanos: bigint;
}

/** The counters of one owner. */
export const SPENT = `SELECT owner_id, period, spent_nanos, pending_nanos FROM budget WHERE owner = ? AND owner_id = ?
  AND (period, bucket) IN (VALUES ('day', ?), ('month', ?), ('total', ''))`;
/**
 * What nodes' leases of the keys' accounts have left, for each key and each that made it: its counters have that as
 * pending, and nobody's request does. `ids` is how a driver takes the ids of the keys.
 */
export const leasedByKey = (ids: string): string => `WITH RECURSIVE leased (key_id, nanos) AS (
  SELECT key_id, rest_nanos FROM lease WHERE ${OF_NODE}
    AND account_id IN (SELECT account_id FROM key WHERE id ${ids})
  UNION ALL SELECT key.maker_id, leased.nanos FROM leased JOIN key ON key.id = leased.key_id
  WHERE key.maker_id IS NOT NULL)
  SELECT key_id, SUM(nanos) AS nanos FROM leased GROUP BY key_id`;
export interface LeasedColumns {
  readonly key_id: string;
  readonly nanos: bigint;
}

export const LAST_USE = "SELECT last_use_time_ms FROM key_use WHERE key_id = ?";
export const NOTE_USE = `INSERT INTO key_use (key_id, last_use_time_ms) VALUES (?, ?) ON CONFLICT (key_id) DO UPDATE
  SET last_use_time_ms = excluded.last_use_time_ms WHERE excluded.last_use_time_ms > key_use.last_use_time_ms`;

export const ADD_OPERATOR_COST = `INSERT INTO operator_cost (subject, bucket, cost_nanos) VALUES (?, ?, ?)
  ON CONFLICT (subject, bucket) DO UPDATE SET cost_nanos = operator_cost.cost_nanos + excluded.cost_nanos`;
export const OPERATOR_COST = "SELECT cost_nanos FROM operator_cost WHERE subject = ? AND bucket = ?";

/** `leasedNanos` is what leases have left: pending, and held by no request. */
export function toSpent(rows: readonly SpentColumns[], leasedNanos = 0n): Spent {
  const of = (period: string): SpentColumns | undefined => rows.find((row) => row.period === period);
  return {
    dayNanos: of("day")?.spent_nanos ?? 0n,
    monthNanos: of("month")?.spent_nanos ?? 0n,
    totalNanos: of("total")?.spent_nanos ?? 0n,
    heldNanos: (of("total")?.pending_nanos ?? 0n) - leasedNanos,
  };
}

export function toAccountFigures(row: BalanceColumns, spent: Spent): AccountFigureRow {
  const { availableNanos, heldNanos, spentNanos, grantedNanos } = toBalance(row, []);
  return { id: row.id, availableNanos, heldNanos, spentNanos, grantedNanos, spent };
}
