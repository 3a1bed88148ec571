/** An event as receivers read it: the JSON of a webhook, whose members are those of the API's own. */
import type { AlertEvent } from "../api/index.js";
import type { EventRow } from "./rows.js";

export function eventOf(row: EventRow): AlertEvent {
  const { id, type, accountId, alertId, alertName, subject, subjectAccountId, message, facts, resolvesId } = row;
  const createTime = new Date(row.createTimeMs);
  const about = { subject, subjectAccountId, message, facts: { ...facts }, resolvesId };
  return { id, type, createTime, accountId, alertId, alertName, ...about };
}

/** Standard Webhooks asks for `type`, `timestamp` and `data`. */
export function webhookBody(row: EventRow): Buffer {
  const { id, type, accountId, alertId, alertName, subject, subjectAccountId, message, facts, resolvesId } = row;
  const data = {
    id,
    account_id: accountId,
    alert_id: alertId,
    alert_name: alertName,
    subject,
    subject_account_id: subjectAccountId,
    message,
    facts,
    resolves_id: resolvesId,
  };
  return Buffer.from(JSON.stringify({ type, timestamp: new Date(row.createTimeMs).toISOString(), data }));
}
