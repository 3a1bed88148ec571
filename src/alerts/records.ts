/** The records of changes of alerts and webhooks, for the audit log: nothing in them leads to a secret. */
import { hash } from "node:crypto";
import { type Act, type AuditEvent, eventOf } from "../audit/act.js";
import { changeOf } from "../audit/snapshot.js";
import { kindOf } from "./kinds.js";
import type { AlertRow, DeliveryRow, WebhookRow } from "./rows.js";

/** Either is absent where there was, or is, none. */
export interface Changed<Row> {
  readonly before?: Row;
  readonly after?: Row;
}

export function alertRecord(act: Act, { before, after }: Changed<AlertRow>): AuditEvent {
  const { id = "", accountId = "" } = after ?? before ?? {};
  const told = changeOf({ before: before && alertFacts(before), after: after && alertFacts(after) });
  return eventOf(act, { resource: `alerts/${id}`, accountId, ...told });
}

export function webhookRecord(act: Act, { before, after }: Changed<WebhookRow>): AuditEvent {
  const { id = "", accountId = "" } = after ?? before ?? {};
  const told = changeOf({ before: before && webhookFacts(before), after: after && webhookFacts(after) });
  return eventOf(act, { resource: `webhooks/${id}`, accountId, ...told });
}

export function deliveryRecord(act: Act, { id, accountId, eventId }: DeliveryRow): AuditEvent {
  return eventOf(act, { resource: `deliveries/${id}`, accountId, ...changeOf({ after: { eventId, sentAnew: true } }) });
}

export function testRecord(
  act: Act,
  { id, accountId, eventId }: { readonly id: string; readonly accountId: string; readonly eventId: string },
): AuditEvent {
  return eventOf(act, { resource: `webhooks/${id}`, accountId, ...changeOf({ after: { eventId, tested: true } }) });
}

function alertFacts({ accountId, settings }: AlertRow): object {
  return { accountId, ...settings, kind: kindOf(settings.kind)?.word ?? "" };
}

/** What follows the path of a URL may be a credential of its receiver's. */
function webhookFacts({ id, accountId, settings, previousUntilMs, secret }: WebhookRow): object {
  const { origin, pathname, search } = new URL(settings.url);
  const url = `${origin}${pathname}${search === "" ? "" : "?…"}`;
  const previousSecretUntil = previousUntilMs === null ? undefined : new Date(previousUntilMs);
  // It differs with each secret, and tells nothing of any.
  const secretPrint = hash("sha256", Buffer.concat([Buffer.from(id), secret])).slice(0, 8);
  return { accountId, ...settings, url, secretPrint, previousSecretUntil };
}
