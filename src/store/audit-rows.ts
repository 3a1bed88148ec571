/** The audit log: what is asked of a database, what its rows say, and the chain that proves them. */
import type { Actor, ActorKind, AuditEvent, AuditResult, Door } from "../audit/act.js";
import { digestOf, hexOf } from "./digest.js";
import type { AuditFilter, AuditRow } from "./store.js";

export interface AuditColumns {
  readonly sequence: bigint;
  readonly time_ms: bigint;
  readonly actor_kind: ActorKind;
  readonly actor_id: string;
  readonly actor_name: string;
  readonly actor_account_id: string;
  readonly door: Door;
  readonly address: string;
  readonly request_id: string;
  readonly method: string;
  readonly resource: string;
  readonly account_id: string;
  readonly result: AuditResult;
  readonly reason: string;
  readonly before_json: string;
  readonly after_json: string;
  readonly transfer_id: string;
  readonly hash: Uint8Array;
}

/** All columns but the hash, in the order of the hash. */
const SAID = [
  "sequence",
  "time_ms",
  "actor_kind",
  "actor_id",
  "actor_name",
  "actor_account_id",
  "door",
  "address",
  "request_id",
  "method",
  "resource",
  "account_id",
  "result",
  "reason",
  "before_json",
  "after_json",
  "transfer_id",
] as const satisfies readonly (keyof AuditColumns)[];

/** The end of the chain: its last record, and the hash of that. */
export interface AuditHead {
  readonly sequence: bigint;
  readonly hash: Uint8Array;
}

export const AUDIT_HEAD = "SELECT sequence, hash FROM audit_head WHERE id = 1";
export const MOVE_AUDIT_HEAD = "UPDATE audit_head SET sequence = ?, hash = ? WHERE id = 1";
export const INSERT_AUDIT = `INSERT INTO audit_event (${SAID.join(", ")}, hash)
  VALUES (${[...SAID, "hash"].map(() => "?").join(", ")})`;

/** The values of the next record of the chain, and where it ends then. */
export function nextAudit(
  head: AuditHead,
  event: AuditEvent,
): { readonly values: unknown[]; readonly head: AuditHead } {
  const { actor, timeMs, method, resource, accountId, result, reason, before, after, transferId } = event;
  const { kind, id, name, door, address, requestId } = actor;
  const who = [kind, id, name, actor.accountId, door, address, requestId] as const;
  const sequence = head.sequence + 1n;
  const what = [method, resource, accountId, result, reason, before, after, transferId] as const;
  const said = [sequence, BigInt(Math.floor(timeMs)), ...who, ...what] as const;
  const hash = digestOf(head.hash, ...said);
  return { values: [...said, hash], head: { sequence, hash } };
}

export function toAudit(row: AuditColumns): AuditRow {
  const actor: Actor = {
    kind: row.actor_kind,
    id: row.actor_id,
    name: row.actor_name,
    accountId: row.actor_account_id,
    door: row.door,
    address: row.address,
    requestId: row.request_id,
  };
  return {
    sequence: Number(row.sequence),
    timeMs: Number(row.time_ms),
    actor,
    method: row.method,
    resource: row.resource,
    accountId: row.account_id,
    result: row.result,
    reason: row.reason,
    before: row.before_json,
    after: row.after_json,
    transferId: row.transfer_id,
  };
}

/** The newest records of a filter. Each filter that is used has a statement of its own, which its index answers. */
export function auditQuery(filter: AuditFilter, count: number, beforeSequence: number | undefined): AuditQuery {
  const { accountId, actorId, methods, resource, result, fromMs, toMs } = filter;
  const values: Record<string, string | number> = { before: beforeSequence ?? Number.MAX_SAFE_INTEGER, count };
  const conditions = ["sequence < :before"];
  const add = (name: string, value: string | number | undefined, condition: string): void => {
    if (value === undefined) return;
    values[name] = value;
    conditions.push(condition);
  };
  add("accountId", accountId, "account_id = :accountId");
  add("actorId", actorId, "actor_id = :actorId");
  add("resource", resource, "resource = :resource");
  add("result", result, "result = :result");
  add("fromMs", fromMs, "time_ms >= :fromMs");
  add("toMs", toMs, "time_ms < :toMs");
  for (const [index, method] of (methods ?? []).entries()) values[`method${index}`] = method;
  if (methods !== undefined) conditions.push(`method IN (${methods.map((_, index) => `:method${index}`).join(", ")})`);
  const text = `SELECT ${SAID.join(", ")}, hash FROM audit_event WHERE ${conditions.join(" AND ")}
    ORDER BY sequence DESC LIMIT :count`;
  return { text, values };
}

export interface AuditQuery {
  readonly text: string;
  readonly values: Readonly<Record<string, string | number>>;
}

/** All records in the order of their chain. */
export const AUDIT_CHAIN = `SELECT ${SAID.join(", ")}, hash FROM audit_event ORDER BY sequence`;
const START: Uint8Array = new Uint8Array(32);

/** Follows the chain to the first record that does not fit. */
export class AuditProof {
  readonly problems: string[] = [];
  #last: AuditHead = { sequence: 0n, hash: START };

  /** Takes the rows of `AUDIT_CHAIN` in their order. */
  take(row: AuditColumns): void {
    if (this.problems.length > 0) return;
    const { sequence } = this.#last;
    if (row.sequence !== sequence + 1n)
      this.problems.push(`The audit record ${row.sequence} follows record ${sequence}: some between are gone.`);
    else if (Buffer.compare(row.hash, digestOf(this.#last.hash, ...SAID.map((name) => row[name]))) !== 0)
      this.problems.push(`The audit record ${row.sequence} was changed: its hash does not fit the one before it.`);
    this.#last = row;
  }

  /** Compares where the chain ends with where the database says that it does. */
  end(head: AuditHead | undefined): readonly string[] {
    if (this.problems.length > 0) return this.problems;
    const { sequence, hash } = this.#last;
    if (head === undefined) return ["The audit log does not say where it ends."];
    if (head.sequence === sequence && hexOf(head.hash) === hexOf(hash)) return [];
    return [`The audit log says that its last record is number ${head.sequence}: it ends with number ${sequence}.`];
  }
}
