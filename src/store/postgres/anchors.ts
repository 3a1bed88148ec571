/**
 * Anchors: now and then the ends of all chains are written down together, each time behind the one before, so that
 * nobody rewrites an account, or loses its end, without a trace. The last one goes to a witness outside the database.
 */
import assert from "node:assert";
import { type ChainHead, CHAIN_START } from "../../ledger/hash-chain.js";
import { acceptedLoss, INSERT_LOSS, NEXT_LOSS, type NextLoss } from "../accepted-loss.js";
import { hexOf } from "../digest.js";
import { readWitness, replaceWitness, type WitnessNote } from "../witness.js";
import { type AnchorColumns, anchorHash, HEADS_DIGEST, type HeadsColumns } from "./anchor-proof.js";
import { appendAudit } from "./audit.js";
import type { Postgres, Session } from "./connection.js";
import { UnusableDatabase } from "./failure.js";
import { sql } from "./sql.js";
import { timeOf } from "./time.js";

/** How often there is another, where anything happened. */
const ANCHOR_MS = 60_000;
/** All accounts are read. */
const STATEMENT_MS = 60_000;
/** One number for all nodes: one of them makes an anchor at a time. */
const LOCK = 0x54_4c_47_48;

const LOCKED = sql("SELECT pg_try_advisory_xact_lock($1) AS locked");
const MOVE_HEADS = sql(`INSERT INTO anchor_head (account_id, account_sequence, hash)
  SELECT id, chain_sequence, chain_hash FROM account LEFT JOIN anchor_head ON account_id = id
  WHERE chain_sequence > coalesce(account_sequence, 0)
  ON CONFLICT (account_id) DO UPDATE SET account_sequence = excluded.account_sequence, hash = excluded.hash`);
const HEADS = sql(HEADS_DIGEST);
const LAST = sql("SELECT number, hash FROM anchor ORDER BY number DESC LIMIT 1");
const ONE = sql("SELECT number, hash FROM anchor WHERE number = $1");
const ADD = sql("INSERT INTO anchor (number, create_time_ms, account_count, heads, hash) VALUES ($1, $2, $3, $4, $5)");
const IDENTITY = sql("SELECT database_id FROM identity");
const ACCEPT = sql(INSERT_LOSS);
const NEXT = sql(NEXT_LOSS);

/** Writes down the ends of all chains where any has moved. Undefined where another node does so now. */
async function anchor(session: Session): Promise<ChainHead | undefined> {
  const [lock] = await session.rows<{ locked: boolean }>(LOCKED, [LOCK]);
  if (lock?.locked !== true) return undefined;
  const moved = await session.run(MOVE_HEADS);
  const last = await lastAnchor(session);
  if (moved === 0) return last;
  const [heads] = await session.rows<HeadsColumns>(HEADS);
  assert(heads !== undefined, "the ends of chains have a digest");
  const row = {
    number: BigInt(last.sequence + 1),
    create_time_ms: BigInt(Math.floor(await timeOf(session))),
    ...heads,
  };
  const made = { sequence: last.sequence + 1, hash: anchorHash(last.hash, row) };
  const values = [row.number, row.create_time_ms, row.account_count, Buffer.from(row.heads)];
  await session.run(ADD, [...values, Buffer.from(made.hash, "hex")]);
  return made;
}

async function lastAnchor(session: Session): Promise<ChainHead> {
  const [row] = await session.rows<Pick<AnchorColumns, "number" | "hash">>(LAST);
  return row === undefined ? CHAIN_START : { sequence: Number(row.number), hash: hexOf(row.hash) };
}

export interface AnchorOptions {
  /** Absolute; undefined: the anchors stay in the database. */
  readonly witnessPath: string | undefined;
  /** Derived from the root secret in force. */
  readonly keyCheck: string;
  /** Starts also where the database has lost what the witness knows, and writes that down. */
  readonly acceptLoss: boolean;
  readonly onLossAccepted: (found: string) => void;
  /** Called where no anchor could be made, or noted. */
  readonly onError: (error: unknown) => void;
}

/** Makes anchors while a node runs, and keeps the last one that it knows in its witness. */
export class Anchors {
  readonly #database: Postgres;
  readonly #options: AnchorOptions;
  readonly #timer: NodeJS.Timeout;
  #databaseId = "";
  #running: Promise<void> | undefined;

  private constructor(database: Postgres, options: AnchorOptions) {
    this.#database = database;
    this.#options = options;
    this.#timer = setInterval(() => void this.#next(), ANCHOR_MS).unref();
  }

  /** Rejects with an Error of one line where the database has lost what the witness knows. */
  static async start(database: Postgres, options: AnchorOptions): Promise<Anchors> {
    const { witnessPath, acceptLoss } = options;
    const note = witnessPath === undefined ? undefined : readWitness(witnessPath);
    const found = note === undefined ? undefined : await database.transact((session) => lossOf(session, note));
    if (found !== undefined && !acceptLoss)
      throw new UnusableDatabase(
        `The database at ${database.place} has lost state: ${found}. Restore it from a backup, or start without what is` +
          " lost, once: tollgate serve --accept-loss",
      );
    if (found !== undefined) {
      await database.transact((session) => recordLoss(session, found));
      options.onLossAccepted(found);
    }
    const anchors = new Anchors(database, options);
    if (witnessPath !== undefined) {
      anchors.#databaseId = await database.transact(identityOf);
      await anchors.#next();
    }
    return anchors;
  }

  /** After a last one, so that the witness knows all that this node has written. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#next();
  }

  /** Never rejects: what is not anchored now is later. */
  #next(): Promise<void> {
    this.#running ??= this.#anchor()
      .catch(this.#options.onError)
      .finally(() => (this.#running = undefined));
    return this.#running;
  }

  async #anchor(): Promise<void> {
    const { witnessPath, keyCheck } = this.#options;
    const made = await this.#database.transact(anchor, { statementMs: STATEMENT_MS });
    if (witnessPath === undefined) return;
    // One that another node makes now is noted with the next.
    const head = made ?? (await this.#database.transact(lastAnchor));
    replaceWitness(witnessPath, { databaseId: this.#databaseId, keyCheck, head });
  }
}

/** What of the witness' ledger is not in the database. */
async function lossOf(session: Session, note: WitnessNote | "damaged"): Promise<string | undefined> {
  if (note === "damaged") return "its witness (TOLLGATE_WITNESS) is damaged, so nobody knows what else is";
  if ((await identityOf(session)) !== note.databaseId)
    return "the database is not the one that was here (TOLLGATE_WITNESS)";
  const { sequence: number, hash: noted } = note.head;
  if (number === 0) return undefined;
  const [row] = await session.rows<Pick<AnchorColumns, "number" | "hash">>(ONE, [number]);
  if (row === undefined) {
    const { sequence } = await lastAnchor(session);
    return `the database ends at anchor ${sequence}, but anchor ${number} was made (TOLLGATE_WITNESS)`;
  }
  if (hexOf(row.hash) !== noted) return `anchor ${number} is not the one that was made (TOLLGATE_WITNESS)`;
  return undefined;
}

async function identityOf(session: Session): Promise<string> {
  const [row] = await session.rows<{ database_id: string }>(IDENTITY);
  return row?.database_id ?? "";
}

async function recordLoss(session: Session, found: string): Promise<void> {
  const [next] = await session.rows<NextLoss>(NEXT);
  assert(next !== undefined, "what is counted has a next number");
  const { values, event } = acceptedLoss(next, "store/postgres", found, await timeOf(session));
  await session.run(ACCEPT, values);
  await appendAudit(session, [event]);
}
