/** The audit log as CSV. */
import { cell, line } from "../base/csv.js";
import { enumWord } from "./descriptors.js";
import type { AuditEvent, ListAuditEventsResponse } from "./index.js";

const COLUMNS = ["sequence", "time", "actor_kind", "actor_id", "actor_name", "actor_account_id", "door", "address"];
COLUMNS.push("request_id", "method", "resource", "account_id", "result", "reason", "transfer_id", "before", "after");

/** The titles: what stands before the first page. */
export function auditHead(): string {
  return line(COLUMNS);
}

export function auditLines({ auditEvents }: ListAuditEventsResponse): string {
  return auditEvents.map(eventLine).join("");
}

function eventLine({ sequence, time, actor, result, ...event }: AuditEvent): string {
  const who = [
    enumWord("tollgate.v1.ActorKind", actor?.kind ?? 0),
    cell(actor?.id ?? ""),
    cell(actor?.name ?? ""),
    cell(actor?.accountId ?? ""),
    enumWord("tollgate.v1.AuditDoor", actor?.door ?? 0),
    cell(actor?.address ?? ""),
    cell(actor?.requestId ?? ""),
  ];
  const what = [event.method, event.resource, event.accountId].map(cell);
  const told = [event.reason, event.transferId, event.before, event.after].map(cell);
  const word = enumWord("tollgate.v1.AuditResult", result);
  return line([`${sequence}`, time?.toISOString() ?? "", ...who, ...what, word, ...told]);
}
