/** A loss that an operator accepted at a start: its row, and the record of the audit log that goes with it. */
import { type AuditEvent, commandAct, eventOf } from "../audit/act.js";
import { changeOf } from "../audit/snapshot.js";
import { systemUser } from "../audit/system-user.js";
import { digestOf } from "./digest.js";

export const INSERT_LOSS = `INSERT INTO accepted_loss (number, accept_time_ms, sequence, found, digest)
  VALUES (?, ?, ?, ?, ?)`;
export const NEXT_LOSS = `SELECT coalesce(max(number), 0) + 1 AS number,
  (SELECT coalesce(max(sequence), 0) FROM transfer) AS last FROM accepted_loss`;

/** The number of the next one, and the last transfer that was left. */
export interface NextLoss {
  readonly number: bigint;
  readonly last: bigint;
}

export interface AcceptedLoss {
  /** Those of `INSERT_LOSS`. */
  readonly values: readonly [bigint, bigint, bigint, string, Uint8Array];
  readonly event: AuditEvent;
}

/** Both are written in one transaction. The resource is the store, such as `store/sqlite`. */
export function acceptedLoss({ number, last }: NextLoss, resource: string, found: string, nowMs: number): AcceptedLoss {
  const timeMs = BigInt(Math.floor(nowMs));
  const act = commandAct("store.accept_loss", systemUser(), nowMs);
  const event = eventOf(act, { resource, accountId: "", ...changeOf({ after: { found, lastTransfer: last } }) });
  return { values: [number, timeMs, last, found, digestOf(number, timeMs, last, found)], event };
}
