/**
 * Answers with an Idempotency-Key in PostgreSQL, where all nodes find them. Of two nodes that claim a key one is first:
 * the other runs nothing.
 */
import { residentBytes } from "../../base/bytes/own-copies.js";
import { GatewayError } from "../../base/errors.js";
import type { AnswerBounds, AnswerRow, AnswerTotals } from "../answer-rows.js";
import type { Postgres, Session } from "./connection.js";
import { sql } from "./sql.js";

export interface AnswersOptions {
  readonly nowMs: () => number;
  /** Called after each sweep of this node, and where one failed. */
  readonly onSwept: (totals: AnswerTotals) => void;
  readonly onError: (error: unknown) => void;
  readonly bounds?: AnswerBounds;
}

const SWEEP_MS = 60_000;
const WAITING_BYTES_MAX = 64 * 1024 * 1024;
const BOUNDS: AnswerBounds = { recordBytesMax: 1024 * 1024 * 1024, rowsMax: 1_000_000 };
/** One number for all nodes: one of them sweeps at a time. */
const SWEEP_LOCK = 0x54_4c_47_41;
/** How many records one turn of a sweep looks at, and how many turns there are at most. */
const TURN_ROWS = 1_000;
const TURNS_MAX = 100;
/**
 * How long a claim is its node's alone: money is held at once behind it, and its waits are bounded far below this. A
 * node that ended has no claims.
 */
const CLAIM_S = 60;

const FIND = sql(`SELECT request_id, print, CASE WHEN record_until_ms > $2 THEN record END AS record FROM answer
  WHERE id = $1 AND until_ms > $2`);
/** No row where another node has the key. */
const PUT = sql(`INSERT INTO answer AS kept (id, account_id, request_id, node_id, claim_time, print, record,
    record_bytes, record_until_ms, until_ms) VALUES ($1, $2, $3, $4, clock_timestamp(), $5, $6, $7, $8, $9)
  ON CONFLICT (id) DO UPDATE SET account_id = excluded.account_id, request_id = excluded.request_id,
    node_id = excluded.node_id, claim_time = excluded.claim_time, print = excluded.print, record = excluded.record,
    record_bytes = excluded.record_bytes, record_until_ms = excluded.record_until_ms, until_ms = excluded.until_ms
  WHERE kept.request_id = excluded.request_id OR kept.node_id = excluded.node_id
    OR kept.claim_time < clock_timestamp() - interval '${CLAIM_S} seconds'
    OR NOT EXISTS (SELECT FROM node WHERE node.id = kept.node_id)`);
const REMOVE = sql("DELETE FROM answer WHERE id = $1 AND node_id = $2");

const LOCKED = sql("SELECT pg_try_advisory_xact_lock($1) AS locked");
const EXPIRE_ROWS = sql("DELETE FROM answer WHERE until_ms <= $1");
const EXPIRE_RECORDS = sql(`UPDATE answer SET record = NULL, record_bytes = 0
  WHERE record_bytes > 0 AND record_until_ms <= $1`);
const TOTALS = sql(`SELECT (SELECT count(*) FROM answer) AS rows,
  (SELECT coalesce(sum(record_bytes), 0) FROM answer WHERE record_bytes > 0) AS bytes`);
/**
 * How much one turn may take of the account that has the most: until it has no more than the next, so that nobody's
 * flood takes all that another has. Equal shares do not take turns one by one.
 */
const ABOVE_NEXT = `SELECT greatest(max(size) - CASE count(*) WHEN 1 THEN 0 ELSE min(size) END, ceil($1 / 8.0))
  FROM largest`;
/** The oldest records, no more than are above the bound, of the account that has the most. */
const DROP_RECORDS = sql(`WITH largest AS (
    SELECT account_id, sum(record_bytes) AS size FROM answer WHERE record_bytes > 0 GROUP BY account_id
    ORDER BY size DESC, account_id LIMIT 2)
  UPDATE answer SET record = NULL, record_bytes = 0 WHERE id IN (
  SELECT id FROM (
    SELECT id, sum(record_bytes) OVER (ORDER BY record_until_ms, id) - record_bytes AS before FROM (
      SELECT id, record_bytes, record_until_ms FROM answer WHERE record_bytes > 0
        AND account_id = (SELECT account_id FROM largest ORDER BY size DESC, account_id LIMIT 1)
      ORDER BY record_until_ms, id LIMIT ${TURN_ROWS}) AS oldest) AS counted
  WHERE before < least($1::numeric, (${ABOVE_NEXT})))`);
const DROP_ROWS = sql(`WITH largest AS (
    SELECT account_id, count(*) AS size FROM answer GROUP BY account_id ORDER BY size DESC, account_id LIMIT 2)
  DELETE FROM answer WHERE id IN (
  SELECT id FROM answer WHERE account_id = (SELECT account_id FROM largest ORDER BY size DESC, account_id LIMIT 1)
  ORDER BY until_ms, id LIMIT least($1::bigint, (${ABOVE_NEXT})::bigint))`);

interface Columns {
  readonly request_id: string;
  readonly print: Uint8Array;
  readonly record: Uint8Array | null;
}

export class PostgresAnswers {
  #sweeper: NodeJS.Timeout | undefined;
  #waitingBytes = 0;
  #closed = false;

  constructor(
    private readonly database: Postgres,
    private readonly nodeId: string,
    private readonly options: AnswersOptions,
  ) {
    const sweep = (): void => void this.sweep().catch(options.onError);
    this.#sweeper = setInterval(sweep, SWEEP_MS).unref();
  }

  async find(id: Uint8Array): Promise<Pick<AnswerRow, "requestId" | "print" | "record"> | undefined> {
    this.#checkOpen();
    const [found] = await this.database.rows<Columns>(FIND, [id, this.options.nowMs()]);
    return found && { requestId: found.request_id, print: found.print, record: found.record };
  }

  /** Resolves once it is durable. Rejects with OVERLOADED where another node has the key. */
  async put(row: AnswerRow): Promise<void> {
    this.#checkOpen();
    const { id, accountId, requestId, print, record, recordUntilMs, untilMs } = row;
    const bytes = record?.length ?? 0;
    const waiting = record ? residentBytes(record) : 0;
    if (this.#waitingBytes + waiting > WAITING_BYTES_MAX)
      throw new GatewayError("ERROR_REASON_OVERLOADED", { problem: "stored answers are behind" });
    this.#waitingBytes += waiting;
    try {
      const values = [id, accountId, requestId, this.nodeId, print, record, bytes, recordUntilMs, untilMs];
      if ((await this.database.run(PUT, values)) === 0)
        throw new GatewayError("ERROR_REASON_OVERLOADED", {
          problem: "another node runs a request with this Idempotency-Key",
          retry_after_ms: "1000",
        });
    } finally {
      this.#waitingBytes -= waiting;
    }
  }

  async remove(id: Uint8Array): Promise<void> {
    this.#checkOpen();
    await this.database.run(REMOVE, [id, this.nodeId]);
  }

  /** Forgets what is over its time, then what is over the bounds, where no other node does so now. */
  async sweep(): Promise<void> {
    const bounds = this.options.bounds ?? BOUNDS;
    const totals = await this.database.transact((session) => swept(session, this.options.nowMs(), bounds), {
      statementMs: SWEEP_MS,
    });
    if (totals !== undefined) this.options.onSwept(totals);
  }

  close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#sweeper);
    return Promise.resolve();
  }

  #checkOpen(): void {
    if (this.#closed) throw new GatewayError("ERROR_REASON_OVERLOADED", { problem: "it is stopping" });
  }
}

async function swept(
  session: Session,
  nowMs: number,
  { recordBytesMax, rowsMax }: AnswerBounds,
): Promise<AnswerTotals | undefined> {
  const [lock] = await session.rows<{ locked: boolean }>(LOCKED, [SWEEP_LOCK]);
  if (lock?.locked !== true) return undefined;
  await session.run(EXPIRE_ROWS, [nowMs]);
  await session.run(EXPIRE_RECORDS, [nowMs]);
  let evicted = 0;
  for (let left = TURNS_MAX; ; left -= 1) {
    const [totals] = await session.rows<{ rows: bigint; bytes: bigint }>(TOTALS);
    const [rows, recordBytes] = [Number(totals?.rows ?? 0n), Number(totals?.bytes ?? 0n)];
    if (left === 0 || (rows <= rowsMax && recordBytes <= recordBytesMax)) return { rows, recordBytes, evicted };
    if (recordBytes > recordBytesMax) evicted += await session.run(DROP_RECORDS, [recordBytes - recordBytesMax]);
    if (rows > rowsMax) await session.run(DROP_ROWS, [rows - rowsMax]);
  }
}
