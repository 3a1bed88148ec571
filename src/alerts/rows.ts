/** What alerts keep, as the database's rows say it. */
import { AlertSettings, WebhookSettings } from "../api/index.js";

export type Columns = Readonly<Record<string, unknown>>;

export interface AlertRow {
  readonly id: string;
  /** Empty: the operator's. */
  readonly accountId: string;
  readonly settings: AlertSettings;
  /** Undefined where it stands in the settings file. */
  readonly createTimeMs: number | undefined;
  readonly revision: number;
}

export interface StateRow {
  readonly alertId: string;
  readonly subject: string;
  /** The event that said so. */
  readonly eventId: string;
  /** Who saw it last, and when. */
  readonly nodeId: string;
  readonly seenTimeMs: number;
  readonly fireTimeMs: number;
}

export interface EventRow {
  readonly sequence: number;
  readonly id: string;
  readonly type: string;
  readonly accountId: string;
  readonly alertId: string;
  readonly alertName: string;
  readonly subject: string;
  readonly subjectAccountId: string;
  readonly message: string;
  readonly facts: Readonly<Record<string, string>>;
  /** Empty: it ends none. */
  readonly resolvesId: string;
  readonly createTimeMs: number;
}

export interface WebhookRow {
  readonly id: string;
  readonly accountId: string;
  readonly settings: WebhookSettings;
  /** Sealed. */
  readonly secret: Uint8Array;
  readonly previousSecret: Uint8Array | null;
  readonly previousUntilMs: number | null;
  readonly createTimeMs: number;
  readonly revision: number;
}

export type DeliveryStateWord = "waiting" | "delivered" | "failed";

export interface DeliveryRow {
  readonly id: string;
  readonly eventId: string;
  readonly accountId: string;
  /** A webhook's id, or `mailto:` and an address. */
  readonly targetId: string;
  readonly state: DeliveryStateWord;
  /** Attempts that were begun, and those of them before it was last sent anew. */
  readonly attempts: number;
  readonly attemptsFrom: number;
  readonly nextTimeMs: number;
  readonly giveUpMs: number;
  readonly createTimeMs: number;
}

export interface AttemptRow {
  readonly number: number;
  readonly startTimeMs: number;
  readonly durationMs: number;
  readonly status: number;
  readonly problem: string;
  readonly answer: string;
}

export const MAIL_TARGET = "mailto:";

export function toAlert(row: Columns): AlertRow {
  return {
    id: text(row, "id"),
    accountId: text(row, "account_id"),
    settings: AlertSettings.decode(bytes(row, "settings") ?? new Uint8Array()),
    createTimeMs: number(row, "create_time_ms"),
    revision: number(row, "revision"),
  };
}

export function toState(row: Columns): StateRow {
  return {
    alertId: text(row, "alert_id"),
    subject: text(row, "subject"),
    eventId: text(row, "event_id"),
    nodeId: text(row, "node_id"),
    seenTimeMs: number(row, "seen_time_ms"),
    fireTimeMs: number(row, "fire_time_ms"),
  };
}

export function toEvent(row: Columns): EventRow {
  return {
    sequence: number(row, "sequence"),
    id: text(row, "id"),
    type: text(row, "type"),
    accountId: text(row, "account_id"),
    alertId: text(row, "alert_id"),
    alertName: text(row, "alert_name"),
    subject: text(row, "subject"),
    subjectAccountId: text(row, "subject_account_id"),
    message: text(row, "message"),
    facts: toFacts(text(row, "facts")),
    resolvesId: text(row, "resolves_id"),
    createTimeMs: number(row, "create_time_ms"),
  };
}

export function toWebhook(row: Columns): WebhookRow {
  return {
    id: text(row, "id"),
    accountId: text(row, "account_id"),
    settings: WebhookSettings.decode(bytes(row, "settings") ?? new Uint8Array()),
    secret: bytes(row, "secret") ?? new Uint8Array(),
    previousSecret: bytes(row, "previous_secret"),
    previousUntilMs: row["previous_until_ms"] === null ? null : number(row, "previous_until_ms"),
    createTimeMs: number(row, "create_time_ms"),
    revision: number(row, "revision"),
  };
}

export function toDelivery(row: Columns): DeliveryRow {
  const state = text(row, "state");
  return {
    id: text(row, "id"),
    eventId: text(row, "event_id"),
    accountId: text(row, "account_id"),
    targetId: text(row, "target_id"),
    state: state === "waiting" || state === "delivered" ? state : "failed",
    attempts: number(row, "attempts"),
    attemptsFrom: number(row, "attempts_from"),
    nextTimeMs: number(row, "next_time_ms"),
    giveUpMs: number(row, "give_up_ms"),
    createTimeMs: number(row, "create_time_ms"),
  };
}

export function toAttempt(row: Columns): AttemptRow {
  return {
    number: number(row, "number"),
    startTimeMs: number(row, "start_time_ms"),
    durationMs: number(row, "duration_ms"),
    status: number(row, "status"),
    problem: text(row, "problem"),
    answer: text(row, "answer"),
  };
}

export function text(row: Columns, name: string): string {
  const value = row[name];
  return typeof value === "string" ? value : "";
}

export function number(row: Columns, name: string): number {
  return Number(row[name] ?? 0);
}

/** Amounts come as bigints from either database. */
export function nanos(row: Columns, name: string): bigint {
  const value = row[name];
  return typeof value === "bigint" ? value : 0n;
}

export function bytes(row: Columns, name: string): Uint8Array | null {
  const value = row[name];
  return value instanceof Uint8Array ? value : null;
}

function toFacts(json: string): Record<string, string> {
  const facts: Record<string, string> = {};
  const parsed: unknown = JSON.parse(json === "" ? "{}" : json);
  for (const [name, value] of Object.entries(parsed ?? {})) if (typeof value === "string") facts[name] = value;
  return facts;
}
