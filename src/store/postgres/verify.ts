/** Proves a ledger in PostgreSQL on one snapshot, beside its writers. */
import { AUDIT_CHAIN, AUDIT_HEAD, type AuditColumns, type AuditHead, AuditProof } from "../audit-rows.js";
import { ARCHIVED_UNTIL } from "../book-rows.js";
import { CHAINS, ChainProof, type DatabaseChainColumns } from "../chain-proof.js";
import type { DigestedValue } from "../digest.js";
import type { VerifyReport } from "../store.js";
import { checks, type SqlDialect, PROBLEMS_MAX, PROBLEMS_PER_CHECK_MAX } from "../verify-checks.js";
import { changedRow, DIGESTED } from "../verify-digests.js";
import {
  ANCHOR_CHAIN,
  ANCHORED,
  type AnchorColumns,
  AnchorProof,
  HEADS_DIGEST,
  type HeadsColumns,
} from "./anchor-proof.js";
import type { Postgres, Row, Session } from "./connection.js";

/** A proof reads everything. */
const VERIFY_MS = 3_600_000;
const ROWS_AT_ONCE = 1_000;

const utc = (format: string) => (timeMs: string) =>
  `to_char(to_timestamp(${timeMs} / 1000) AT TIME ZONE 'UTC', '${format}')`;

/** The text of a list of meters: any other is not read, so that it does not end a proof. */
const METER_ROW = String.raw`\["[a-z0-9_]*","[a-z0-9_]*",[0-9]{1,16}\]`;
const METERS = String.raw`^\[${METER_ROW}(,${METER_ROW})*\]$`;

export const DIALECT: SqlDialect = {
  day: utc("YYYY-MM-DD"),
  month: utc("YYYY-MM"),
  eachMeter: (column) =>
    `jsonb_array_elements(CASE WHEN ${column} ~ '${METERS}' THEN ${column}::jsonb END) AS meter (value)`,
};

const CHECKS = [...checks(DIALECT), { name: "anchors against chains", sql: ANCHORED }];

const COUNTS = `SELECT (SELECT count(*) FROM account) AS accounts, (SELECT count(*) FROM transfer) AS transfers,
  (SELECT count(*) FROM open_hold) AS open_holds,
  (SELECT count(*) FROM audit_event) AS audit_events,
  (SELECT coalesce(sum(transfer_count), 0)::bigint FROM archive_account) AS archived,
  (${ARCHIVED_UNTIL}) AS archived_until`;

type Counts = Record<"accounts" | "transfers" | "open_holds" | "audit_events" | "archived", bigint> & {
  readonly archived_until: bigint | null;
};

export function verifyDatabase(database: Postgres): Promise<VerifyReport> {
  return database.transact(verifyWithin, { snapshot: true, statementMs: VERIFY_MS });
}

/** Proves what a transaction sees. */
export async function verifyWithin(session: Session): Promise<VerifyReport> {
  const rows = [...(await brokenChains(session)), ...(await changedRows(session))];
  const problems = [...rows, ...(await brokenAudit(session)), ...(await brokenAnchors(session))];
  for (const { sql } of CHECKS) {
    const text = `SELECT problem FROM (${sql}) AS problems (problem) LIMIT ${PROBLEMS_PER_CHECK_MAX}`;
    const rows = await session.rows<{ problem: string }>({ text, name: "" });
    problems.push(...rows.map(({ problem }) => problem));
  }
  const [counts] = await session.rows<Counts>({ text: COUNTS, name: "" });
  return {
    holds: problems.length === 0,
    problems: problems.slice(0, PROBLEMS_MAX),
    accountCount: Number(counts?.accounts ?? 0n),
    transferCount: Number(counts?.transfers ?? 0n),
    openHoldCount: Number(counts?.open_holds ?? 0n),
    auditEventCount: Number(counts?.audit_events ?? 0n),
    archivedTransferCount: Number(counts?.archived ?? 0n),
    archivedUntilMs: Number(counts?.archived_until ?? 0n) || undefined,
  };
}

async function brokenChains(session: Session): Promise<readonly string[]> {
  const proof = new ChainProof(PROBLEMS_PER_CHECK_MAX);
  for await (const row of each<DatabaseChainColumns>(session, CHAINS)) {
    proof.take(row);
    if (proof.isFull) break;
  }
  return proof.problems;
}

async function brokenAudit(session: Session): Promise<readonly string[]> {
  const proof = new AuditProof();
  for await (const row of each<AuditColumns>(session, AUDIT_CHAIN)) proof.take(row);
  const [head] = await session.rows<AuditHead>({ text: AUDIT_HEAD, name: "" });
  return proof.end(head);
}

async function brokenAnchors(session: Session): Promise<readonly string[]> {
  const proof = new AnchorProof();
  for await (const row of each<AnchorColumns>(session, ANCHOR_CHAIN)) proof.take(row);
  const [heads] = await session.rows<HeadsColumns>({ text: HEADS_DIGEST, name: "" });
  return proof.end(heads);
}

async function changedRows(session: Session): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const kind of DIGESTED) {
    for await (const row of each<Record<string, DigestedValue>>(session, kind.sql)) {
      const problem = changedRow(kind, row);
      if (problem !== undefined) problems.push(problem);
      if (problems.length === PROBLEMS_PER_CHECK_MAX) return problems;
    }
  }
  return problems;
}

/** All rows of a query, some at a time. */
async function* each<Found extends Row>(session: Session, query: string): AsyncGenerator<Found> {
  // One that is left early stays until the next, or until the snapshot ends.
  await session.run({ text: "CLOSE ALL", name: "" });
  await session.run({ text: `DECLARE proof NO SCROLL CURSOR FOR ${query}`, name: "" });
  const fetch = { text: `FETCH ${ROWS_AT_ONCE} FROM proof`, name: "" };
  for (let rows = await session.rows<Found>(fetch); rows.length > 0; rows = await session.rows<Found>(fetch))
    yield* rows;
}
