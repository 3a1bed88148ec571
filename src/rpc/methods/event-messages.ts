/** Alerts, webhooks and deliveries as messages. */
import { type Alert, type Delivery, type DeliveryAttempt, DeliveryState, type Webhook } from "../../api/index.js";
import { type AlertRow, type AttemptRow, type DeliveryRow, MAIL_TARGET, type WebhookRow } from "../../alerts/rows.js";
import { etagOf } from "../../alerts/rules.js";

const STATES = {
  waiting: DeliveryState.DELIVERY_STATE_WAITING,
  delivered: DeliveryState.DELIVERY_STATE_DELIVERED,
  failed: DeliveryState.DELIVERY_STATE_FAILED,
} as const;

export function alertOf(row: AlertRow, firing: readonly string[]): Alert {
  const { id, accountId, settings, createTimeMs } = row;
  const createTime = createTimeMs === undefined ? undefined : new Date(createTimeMs);
  const etag = createTimeMs === undefined ? "" : etagOf(row);
  return { id, accountId, settings, createTime, firing: [...firing], etag };
}

export function webhookOf(row: WebhookRow, nowMs: number): Webhook {
  const { id, accountId, settings, createTimeMs, previousUntilMs } = row;
  const hasPrevious = previousUntilMs !== null && previousUntilMs > nowMs;
  const previousSecretEndTime = hasPrevious ? new Date(previousUntilMs) : undefined;
  return { id, accountId, settings, createTime: new Date(createTimeMs), previousSecretEndTime, etag: etagOf(row) };
}

export function deliveryOf(row: DeliveryRow, attempts: readonly AttemptRow[] = []): Delivery {
  const { id, eventId, accountId, targetId, state } = row;
  const isMail = targetId.startsWith(MAIL_TARGET);
  return {
    id,
    eventId,
    accountId,
    webhookId: isMail ? "" : targetId,
    email: isMail ? targetId.slice(MAIL_TARGET.length) : "",
    state: STATES[state],
    attemptCount: BigInt(row.attempts),
    nextAttemptTime: state === "waiting" ? new Date(row.nextTimeMs) : undefined,
    createTime: new Date(row.createTimeMs),
    attempts: attempts.map(attemptOf),
  };
}

function attemptOf({ startTimeMs, durationMs, status, problem, answer }: AttemptRow): DeliveryAttempt {
  return { startTime: new Date(startTimeMs), durationMs: BigInt(durationMs), status, problem, answer };
}
