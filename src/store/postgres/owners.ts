/**
 * Whose the requests and leases of a batch are. That never changes, so that what is known of it need not be asked of
 * the database before the accounts are locked, which saves each batch a way there and back.
 */
import { OF_NODE } from "../columns.js";
import { Book } from "../../ledger/book.js";
import type { LedgerOperation, RecoverOperation } from "../../ledger/operation.js";
import { isGone, RECOVER_HOLDS_MAX } from "../../ledger/recovery.js";
import type { Session } from "./connection.js";
import { sql } from "./sql.js";

/** How many open requests, and how many leases, are remembered. Of those beyond, the database is asked. */
const REMEMBERED_MAX = 100_000;

const STATEMENTS = {
  requests: sql(`SELECT request_id, account_id, key_id, create_time_ms FROM hold WHERE request_id = ANY($1::text[])`),
  orphans: sql(`SELECT request_id, hold.account_id, key_id, create_time_ms FROM open_hold
    JOIN hold ON hold.sequence = hold_sequence WHERE open_hold.node_id = $1 AND NOT request_id = ANY($2::text[])
    ORDER BY hold_sequence LIMIT ${RECOVER_HOLDS_MAX}`),
  holders: sql("SELECT DISTINCT node_id FROM open_hold"),
  beats: sql("SELECT id, beats FROM node"),
  leases: sql("SELECT account_id FROM lease WHERE id = ANY($1::text[])"),
  leasesOfNodes: sql("SELECT DISTINCT account_id FROM lease WHERE node_id = ANY($1::text[])"),
  leasesOfOthers: sql(`SELECT DISTINCT account_id FROM lease WHERE NOT node_id = ANY($1::text[]) AND ${OF_NODE}`),
} as const;

/** Who a request, a lease or an operation is of, at one moment: with that its counters are known. */
export interface Owner {
  readonly keyId: string;
  readonly accountId: string;
  readonly timeMs: number;
}

/** Whom a batch is about beside the accounts that its operations name. */
export interface Owned {
  /** By request. One that turns out to be of somebody else was guessed wrong: the database must be asked. */
  readonly requests: ReadonlyMap<string, Owner>;
  /** Accounts whose leases are named by id. */
  readonly lessees: readonly string[];
  /** Accounts whose leases may all be ended. */
  readonly ending: readonly string[];
}

interface OwnerColumns {
  readonly request_id: string;
  readonly account_id: string;
  readonly key_id: string;
  readonly create_time_ms: bigint;
}

interface AccountColumns {
  readonly account_id: string;
}

export class Owners {
  readonly #requests = new Map<string, Owner>();
  readonly #leases = new Map<string, string>();

  /** Undefined where the database must be asked. */
  known(operations: readonly LedgerOperation[]): Owned | undefined {
    const requests = new Map<string, Owner>();
    const lessees: string[] = [];
    for (const operation of operations) {
      if (operation.kind === "recover" || operation.kind === "refund") return undefined;
      if (operation.kind === "beat" && operation.isLast) return undefined;
      if (operation.kind === "return") {
        const accountId = this.#leases.get(operation.leaseId);
        if (accountId === undefined) return undefined;
        lessees.push(accountId);
      } else if ("requestId" in operation && !requests.has(operation.requestId)) {
        const owner = this.#requests.get(operation.requestId) ?? ownerBy(operation);
        if (owner === undefined) return undefined;
        requests.set(operation.requestId, owner);
      }
    }
    return { requests, lessees, ending: [] };
  }

  /**
   * As the database knows them, with the holds that recoveries resolve, at most as many of each node as one does. What
   * changes before the accounts are locked is read again.
   */
  async ask(session: Session, operations: readonly LedgerOperation[]): Promise<Owned> {
    const [found, orphans, lessees, ending] = await Promise.all([
      findRequests(session, operations),
      findOrphans(session, operations),
      findLessees(session, operations),
      findEnding(session, operations),
    ]);
    const requests = new Map<string, Owner>();
    for (const row of [...found, ...orphans.requests]) requests.set(row.request_id, toOwner(row));
    for (const operation of operations) {
      const owner = ownerBy(operation);
      if (owner === undefined || !("requestId" in operation) || requests.has(operation.requestId)) continue;
      requests.set(operation.requestId, owner);
    }
    const idsOf = (rows: readonly AccountColumns[]): string[] => rows.map(({ account_id: id }) => id);
    return { requests, lessees: idsOf(lessees), ending: idsOf([...orphans.lessees, ...ending]) };
  }

  /** Remembers what a batch opened, and forgets what it ended. Whether it becomes durable changes nothing of that. */
  learn(book: Book): void {
    for (const { requestId, accountId, keyId, createTimeMs, state } of book.createdHolds)
      if (state === "held") remember(this.#requests, requestId, { accountId, keyId, timeMs: createTimeMs });
    for (const { requestId } of book.closedHolds) this.#requests.delete(requestId);
    for (const { id, accountId } of book.changedLeases) remember(this.#leases, id, accountId);
    for (const { id } of book.endedLeases) this.#leases.delete(id);
  }
}

function remember<Known>(known: Map<string, Known>, id: string, value: Known): void {
  known.set(id, value);
  if (known.size <= REMEMBERED_MAX) return;
  for (const oldest of known.keys()) {
    known.delete(oldest);
    return;
  }
}

/** Whose a request is by what the operation itself says: so it is where the request is new. */
function ownerBy(operation: LedgerOperation): Owner | undefined {
  if (operation.kind === "hold")
    return { keyId: operation.keyId, accountId: operation.accountId, timeMs: operation.nowMs };
  if (operation.kind !== "settle" || operation.terms === undefined) return undefined;
  const { keyId, accountId, createTimeMs } = operation.terms;
  return { keyId, accountId, timeMs: createTimeMs };
}

export function toOwner(row: Omit<OwnerColumns, "request_id">): Owner {
  return { keyId: row.key_id, accountId: row.account_id, timeMs: Number(row.create_time_ms) };
}

async function findRequests(session: Session, operations: readonly LedgerOperation[]): Promise<OwnerColumns[]> {
  const ids = new Set(operations.flatMap((operation) => ("requestId" in operation ? [operation.requestId] : [])));
  return ids.size === 0 ? [] : session.rows<OwnerColumns>(STATEMENTS.requests, [[...ids]]);
}

async function findLessees(session: Session, operations: readonly LedgerOperation[]): Promise<AccountColumns[]> {
  const ids = operations.flatMap((operation) => (operation.kind === "return" ? [operation.leaseId] : []));
  return ids.length === 0 ? [] : session.rows<AccountColumns>(STATEMENTS.leases, [ids]);
}

/** Of nodes that say good-bye. */
async function findEnding(session: Session, operations: readonly LedgerOperation[]): Promise<AccountColumns[]> {
  const ids = operations.flatMap((operation) =>
    operation.kind === "beat" && operation.isLast ? [operation.nodeId] : [],
  );
  return ids.length === 0 ? [] : session.rows<AccountColumns>(STATEMENTS.leasesOfNodes, [ids]);
}

interface Orphans {
  readonly requests: OwnerColumns[];
  /** Whose leases are of nodes that are gone. */
  readonly lessees: AccountColumns[];
}

async function findOrphans(session: Session, operations: readonly LedgerOperation[]): Promise<Orphans> {
  const found: Orphans = { requests: [], lessees: [] };
  const recoveries = operations.filter((operation) => operation.kind === "recover");
  if (recoveries.length === 0) return found;
  const nodes = new Book();
  const [beats, holders] = await Promise.all([
    session.rows<{ id: string; beats: bigint }>(STATEMENTS.beats),
    session.rows<{ node_id: string }>(STATEMENTS.holders),
  ]);
  for (const { id, beats: count } of beats) nodes.beats.set(id, Number(count));
  for (const operation of recoveries) {
    for (const { node_id: nodeId } of holders)
      if (mayHaveOrphans(nodes, nodeId, operation))
        found.requests.push(...(await orphansOf(session, nodeId, operation)));
    const kept = beats.map(({ id }) => id).filter((id) => !isGone(nodes, id, operation));
    const ended = await session.rows<AccountColumns>(STATEMENTS.leasesOfOthers, [[...kept, operation.nodeId]]);
    found.lessees.push(...ended);
  }
  return found;
}

function mayHaveOrphans(nodes: Book, nodeId: string, operation: RecoverOperation): boolean {
  return nodeId === operation.nodeId ? operation.live !== undefined : isGone(nodes, nodeId, operation);
}

function orphansOf(session: Session, nodeId: string, operation: RecoverOperation): Promise<OwnerColumns[]> {
  const answeredFor = nodeId === operation.nodeId ? [...(operation.live ?? [])] : [];
  return session.rows<OwnerColumns>(STATEMENTS.orphans, [nodeId, answeredFor]);
}
