/** What is asked of the tables of published prices, each in one transaction. */
import type { AuditEvent } from "../audit/act.js";
import { audit, lock, row, rows, type Script } from "./script.js";

/** What made a list. */
export type PriceListCause = "apply" | "accept" | "reject" | "roll_back";

/** A list of prices that was put in force. */
export interface PastPriceListRow {
  readonly revision: number;
  /** Of the snapshot that it is from; 0: the list of the program. */
  readonly serial: number;
  readonly createTimeMs: number;
  readonly actor: string;
  readonly cause: PriceListCause;
}

export interface PriceListRow extends PastPriceListRow {
  /** What differs from the list of the program, as JSON. */
  readonly state: string;
}

/** The last snapshot, and how it was read. */
export interface PriceSnapshotRow {
  /** 0: none was read. */
  readonly serial: number;
  /** The signed file. */
  readonly document: string;
  /** When it was first tried to read one, and when one was last read; 0: never. */
  readonly firstTimeMs: number;
  readonly readTimeMs: number;
  readonly problem: string;
}

interface ListColumns {
  readonly revision: bigint;
  readonly serial: bigint;
  readonly create_time_ms: bigint;
  readonly actor: string;
  readonly cause: PriceListCause;
  readonly state: string;
}

interface SnapshotColumns {
  readonly serial: bigint;
  readonly document: string;
  readonly first_time_ms: bigint;
  readonly read_time_ms: bigint;
  readonly problem: string;
}

/** Older ones cannot be rolled back to. */
const PRICE_LISTS_MAX = 50;

const LOCK_NAME = "prices";
const NEWEST = "SELECT COALESCE(MAX(revision), 0) AS revision FROM price_list";

export const PRICE_LIST_SCRIPTS = {
  *priceListRevision(): Script<number> {
    return yield* newest();
  },

  /** The list in force; undefined where none was put in force. */
  *priceList(): Script<PriceListRow | undefined> {
    const found = yield* row<ListColumns>("SELECT * FROM price_list ORDER BY revision DESC LIMIT 1");
    return found && toList(found);
  },

  /** The last list of a serial. */
  *priceListOf(serial: number): Script<PriceListRow | undefined> {
    const sql = "SELECT * FROM price_list WHERE serial = ? ORDER BY revision DESC LIMIT 1";
    const found = yield* row<ListColumns>(sql, serial);
    return found && toList(found);
  },

  /** The newest first. */
  *pastPriceLists(): Script<readonly PastPriceListRow[]> {
    const sql =
      "SELECT revision, serial, create_time_ms, actor, cause, '' AS state FROM price_list ORDER BY revision DESC";
    return (yield* rows<ListColumns>(sql)).map(toList);
  },

  /** Writes the list that comes after the newest one. False where another one came meanwhile. */
  *commitPriceList(list: PriceListRow, event: AuditEvent): Script<boolean> {
    yield* lock(LOCK_NAME);
    if ((yield* newest()) !== list.revision - 1) return false;
    const { revision, serial, createTimeMs, actor, cause, state } = list;
    const sql =
      "INSERT INTO price_list (revision, serial, create_time_ms, actor, cause, state) VALUES (?, ?, ?, ?, ?, ?)";
    yield* rows(sql, revision, serial, createTimeMs, actor, cause, state);
    yield* rows("DELETE FROM price_list WHERE revision <= ?", revision - PRICE_LISTS_MAX);
    yield* audit(event);
    return true;
  },

  *priceSnapshot(): Script<PriceSnapshotRow | undefined> {
    const found = yield* row<SnapshotColumns>("SELECT * FROM price_snapshot");
    return found && toSnapshot(found);
  },

  /** True for one node alone once the time has come to read the snapshot; the next time is then `nextTimeMs`. */
  *claimPriceSnapshot(nowMs: number, nextTimeMs: number): Script<boolean> {
    const sql = `INSERT INTO price_snapshot (id, serial, document, first_time_ms, read_time_ms, next_time_ms, problem)
      VALUES (1, 0, '', ?, 0, ?, '') ON CONFLICT (id) DO UPDATE SET next_time_ms = excluded.next_time_ms
      WHERE price_snapshot.next_time_ms <= ? RETURNING id`;
    return (yield* row(sql, nowMs, nextTimeMs, nowMs)) !== undefined;
  },

  /** Keeps a snapshot whose serial is above the last one's, or that is the last one. False where it is another. */
  *keepPriceSnapshot(serial: number, document: string, readTimeMs: number, nextTimeMs: number): Script<boolean> {
    const sql = `INSERT INTO price_snapshot (id, serial, document, first_time_ms, read_time_ms, next_time_ms, problem)
      VALUES (1, ?, ?, ?, ?, ?, '') ON CONFLICT (id) DO UPDATE SET serial = excluded.serial,
      document = excluded.document, read_time_ms = excluded.read_time_ms, next_time_ms = excluded.next_time_ms,
      problem = '' WHERE price_snapshot.serial < excluded.serial
      OR (price_snapshot.serial = excluded.serial AND price_snapshot.document = excluded.document) RETURNING id`;
    return (yield* row(sql, serial, document, readTimeMs, readTimeMs, nextTimeMs)) !== undefined;
  },

  *notePriceProblem(problem: string, nowMs: number, nextTimeMs: number): Script<void> {
    const sql = `INSERT INTO price_snapshot (id, serial, document, first_time_ms, read_time_ms, next_time_ms, problem)
      VALUES (1, 0, '', ?, 0, ?, ?) ON CONFLICT (id) DO UPDATE SET problem = excluded.problem`;
    yield* rows(sql, nowMs, nextTimeMs, problem);
  },
};

function* newest(): Script<number> {
  return Number((yield* row<{ revision: bigint }>(NEWEST))?.revision ?? 0);
}

function toList({ revision, serial, create_time_ms, actor, cause, state }: ListColumns): PriceListRow {
  return {
    revision: Number(revision),
    serial: Number(serial),
    createTimeMs: Number(create_time_ms),
    actor,
    cause,
    state,
  };
}

function toSnapshot(found: SnapshotColumns): PriceSnapshotRow {
  const { serial, document, first_time_ms, read_time_ms, problem } = found;
  return {
    serial: Number(serial),
    document,
    firstTimeMs: Number(first_time_ms),
    readTimeMs: Number(read_time_ms),
    problem,
  };
}
