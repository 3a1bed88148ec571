/**
 * Everything that alerts ask of a database: statements that SQLite and PostgreSQL read alike, by their names. Several
 * of them run in one transaction; what one of them depends on it looks for itself.
 */
import { LEASED } from "./columns.js";

/** A page of what `list` names, the newest first. */
const BEFORE = "(create_time_ms, id) < (:timeMs, :id) ORDER BY create_time_ms DESC, id DESC LIMIT :count";
/** An empty value asks for all. */
const whole = (column: string, name: string): string => `(CAST(:${name} AS text) = '' OR ${column} = :${name})`;
/** `:isAll` asks for those of all accounts; else an empty id is the operator's own. */
const OWNED = "(CAST(:isAll AS bigint) = 1 OR account_id = :accountId)";
/** What of its budgets an account or a key has used, whether it has such budgets or not. */
const used = (owner: string, id: string): string =>
  ["day", "month", "total"]
    .map(
      (period) => `coalesce((SELECT pending_nanos + spent_nanos FROM budget WHERE owner = '${owner}'
      AND owner_id = ${id} AND period = '${period}' AND bucket = :${period}), 0) AS ${period}_nanos`,
    )
    .join(", ");
const EVENTS = `SELECT * FROM event WHERE ${OWNED} AND ${whole("subject_account_id", "subjectAccountId")}
  AND ${whole("alert_id", "alertId")} AND ${whole("type", "type")}`;

const NOT_PAUSED = "NOT EXISTS (SELECT 1 FROM webhook WHERE webhook.id = delivery.target_id AND webhook.paused = 1)";
/** True where fewer than so many deliveries wait for a target: of the newest as many, one does not wait. */
const HAS_ROOM = `(SELECT count(*) FROM (SELECT state FROM delivery WHERE target_id = :targetId
    AND account_id = :accountId ORDER BY create_time_ms DESC, id DESC LIMIT :waitingMax) AS newest
  WHERE state = 'waiting') < :waitingMax`;

export const ALERT_STATEMENTS = {
  alert: "SELECT * FROM alert WHERE id = :id",
  alerts: `SELECT * FROM alert WHERE ${OWNED} AND id > :afterId ORDER BY id LIMIT :count`,
  countAlerts: "SELECT count(*) AS count FROM alert WHERE account_id = :accountId",
  insertAlert: `INSERT INTO alert (id, account_id, settings, create_time_ms, revision)
    VALUES (:id, :accountId, :settings, :createTimeMs, 1) RETURNING id`,
  replaceAlert: `UPDATE alert SET settings = :settings, revision = revision + 1
    WHERE id = :id AND revision = :revision RETURNING revision`,
  deleteAlert: "DELETE FROM alert WHERE id = :id RETURNING id",
  deleteStates: "DELETE FROM alert_state WHERE alert_id = :id",

  states: `SELECT * FROM alert_state WHERE (alert_id, subject) > (:alertId, :subject)
    ORDER BY alert_id, subject LIMIT :count`,
  statesOf: "SELECT * FROM alert_state WHERE alert_id = :alertId ORDER BY subject LIMIT 100",
  /** Nothing where the alert tells of the subject already. */
  fire: `INSERT INTO alert_state (alert_id, subject, event_id, node_id, fire_time_ms, seen_time_ms)
    VALUES (:alertId, :subject, :eventId, :nodeId, :nowMs, :nowMs) ON CONFLICT DO NOTHING`,
  seen: `UPDATE alert_state SET seen_time_ms = :nowMs, node_id = :nodeId
    WHERE alert_id = :alertId AND subject = :subject AND event_id = :eventId`,
  forget: "DELETE FROM alert_state WHERE alert_id = :alertId AND subject = :subject AND event_id = :eventId",
  /** A row where the turn is this node's until then. */
  turn: `INSERT INTO alert_turn (name, node_id, until_ms) VALUES (:name, :nodeId, :untilMs)
    ON CONFLICT (name) DO UPDATE SET node_id = excluded.node_id, until_ms = excluded.until_ms
    WHERE alert_turn.node_id = excluded.node_id OR alert_turn.until_ms < :nowMs RETURNING node_id`,
  endTurn: "DELETE FROM alert_turn WHERE name = :name AND node_id = :nodeId",

  countEvent: `INSERT INTO event_count (id, newest) VALUES (1, 1)
    ON CONFLICT (id) DO UPDATE SET newest = event_count.newest + 1 RETURNING newest`,
  /**
   * What fired only where its state is this event's; what resolves only once, where it was told of, and of the account
   * that was told of: a subject that is gone does not say whose it was.
   */
  insertFired: `INSERT INTO event (sequence, id, type, account_id, alert_id, alert_name, subject, subject_account_id,
      message, facts, resolves_id, create_time_ms)
    SELECT newest, :id, :type, :accountId, :alertId, :alertName, :subject, :subjectAccountId, :message, :facts, NULL,
      CAST(:createTimeMs AS bigint) FROM event_count WHERE EXISTS (SELECT 1 FROM alert_state
      WHERE alert_state.alert_id = :alertId AND alert_state.subject = :subject AND alert_state.event_id = :id)
    RETURNING sequence`,
  insertResolved: `INSERT INTO event (sequence, id, type, account_id, alert_id, alert_name, subject,
      subject_account_id, message, facts, resolves_id, create_time_ms)
    SELECT newest, :id, :type, :accountId, :alertId, :alertName, :subject,
      coalesce((SELECT subject_account_id FROM event WHERE id = :resolvesId), :subjectAccountId), :message, :facts,
      :resolvesId, CAST(:createTimeMs AS bigint) FROM event_count WHERE EXISTS (SELECT 1 FROM alert_state
      WHERE alert_state.alert_id = :alertId AND alert_state.subject = :subject
        AND alert_state.event_id = :resolvesId)
    ON CONFLICT DO NOTHING RETURNING sequence`,
  roomForTest: `SELECT 1 AS room WHERE ${HAS_ROOM}`,
  insertTest: `INSERT INTO event (sequence, id, type, account_id, alert_id, alert_name, subject, subject_account_id,
      message, facts, resolves_id, create_time_ms)
    SELECT newest, :id, :type, :accountId, '', '', :subject, :subjectAccountId, :message, :facts, NULL,
      CAST(:createTimeMs AS bigint) FROM event_count WHERE ${HAS_ROOM}`,
  event: "SELECT * FROM event WHERE id = :id",
  events: `${EVENTS} AND create_time_ms >= :fromMs AND create_time_ms < :toMs AND sequence < :before
    ORDER BY sequence DESC LIMIT :count`,
  eventsAfter: `${EVENTS} AND sequence > :after ORDER BY sequence LIMIT :count`,
  newestEvent: "SELECT coalesce(max(sequence), 0) AS newest FROM event",
  sweepEvents: `DELETE FROM event WHERE sequence IN (SELECT sequence FROM event WHERE create_time_ms < :beforeMs
    AND NOT EXISTS (SELECT 1 FROM delivery WHERE event_id = event.id) ORDER BY create_time_ms LIMIT 500)`,

  memberEmail: `SELECT gateway_user.id AS id FROM gateway_user JOIN membership ON membership.user_id = gateway_user.id
    WHERE gateway_user.email = :email AND membership.account_id = :accountId LIMIT 1`,

  webhook: "SELECT * FROM webhook WHERE id = :id",
  webhooks: `SELECT * FROM webhook WHERE ${OWNED} AND id > :afterId ORDER BY id LIMIT :count`,
  countWebhooks: "SELECT count(*) AS count FROM webhook WHERE account_id = :accountId",
  insertWebhook: `INSERT INTO webhook (id, account_id, settings, paused, secret, previous_secret,
    previous_until_ms, create_time_ms, revision)
    VALUES (:id, :accountId, :settings, :paused, :secret, NULL, NULL, :createTimeMs, 1) RETURNING id`,
  replaceWebhook: `UPDATE webhook SET settings = :settings, paused = :paused, secret = :secret,
    previous_secret = :previousSecret,
    previous_until_ms = :previousUntilMs, revision = revision + 1 WHERE id = :id AND revision = :revision
    RETURNING revision`,
  /** Nothing where another node was first, or its secret is another one meanwhile. */
  sealAnew: `UPDATE webhook SET secret = :secret, previous_secret = :previousSecret
    WHERE id = :id AND secret = :was RETURNING id`,
  deleteWebhook: "DELETE FROM webhook WHERE id = :id RETURNING id",

  /** Nothing where there is no such event, as where another node was first to make it. */
  insertDelivery: `INSERT INTO delivery (id, event_id, account_id, target_id, state, attempts, attempts_from,
      next_time_ms, busy_until_ms, give_up_ms, create_time_ms, end_time_ms)
    SELECT :id, event.id, :accountId, :targetId, 'waiting', 0, 0, CAST(:nowMs AS bigint), 0,
      CAST(:giveUpMs AS bigint), CAST(:nowMs AS bigint), NULL FROM event WHERE event.id = :eventId AND ${HAS_ROOM}
    ON CONFLICT DO NOTHING`,
  /**
   * Takes what is due for itself until then. A target that is slow has two attempts at once and an account so many,
   * whoever else waits, and accounts take turns. What waits for a webhook that is paused is not due.
   */
  claimDue: `UPDATE delivery SET attempts = attempts + 1, busy_until_ms = :busyUntilMs,
      next_time_ms = :busyUntilMs WHERE id IN (
    WITH busy AS (SELECT account_id, target_id FROM delivery WHERE state = 'waiting'
        AND next_time_ms > :nowMs AND next_time_ms <= :busyUntilMs AND busy_until_ms > :nowMs),
      of_account AS (SELECT account_id, count(*) AS running FROM busy GROUP BY account_id),
      of_target AS (SELECT account_id, target_id, count(*) AS running FROM busy GROUP BY account_id, target_id),
      due AS (SELECT id, account_id, target_id, next_time_ms,
          row_number() OVER (PARTITION BY account_id, target_id ORDER BY next_time_ms, id) AS place
        FROM delivery WHERE state = 'waiting' AND next_time_ms <= :nowMs AND ${NOT_PAUSED}),
      able AS (SELECT due.id, due.next_time_ms, coalesce(of_account.running, 0) +
          row_number() OVER (PARTITION BY due.account_id ORDER BY due.next_time_ms, due.id) AS turn
        FROM due LEFT JOIN of_account ON of_account.account_id = due.account_id
        LEFT JOIN of_target ON of_target.account_id = due.account_id AND of_target.target_id = due.target_id
        WHERE place + coalesce(of_target.running, 0) <= 2)
    SELECT id FROM able WHERE turn <= :accountCount ORDER BY turn, next_time_ms, id LIMIT :count)
    AND state = 'waiting' AND next_time_ms <= :nowMs RETURNING *`,
  /** What is due and not taken waits for an attempt to end, behind which everybody looks again. */
  nextDue: `SELECT next_time_ms AS next FROM delivery WHERE state = 'waiting' AND next_time_ms > :nowMs
    AND ${NOT_PAUSED} ORDER BY next_time_ms LIMIT 1`,
  /** What waits for a paused webhook ends when its time is over, since nobody tries it any more. */
  giveUpPaused: `UPDATE delivery SET state = 'failed', end_time_ms = :nowMs WHERE id IN (
    SELECT id FROM delivery WHERE state = 'waiting' AND give_up_ms <= :nowMs AND busy_until_ms <= :nowMs
      AND NOT ${NOT_PAUSED} ORDER BY next_time_ms LIMIT 500) AND state = 'waiting'`,
  insertAttempt: `INSERT INTO delivery_attempt (delivery_id, number, start_time_ms, duration_ms, status, problem,
    answer) VALUES (:deliveryId, :number, :startTimeMs, :durationMs, :status, :problem, :answer)
    ON CONFLICT (delivery_id, number) DO NOTHING`,
  /** Only whoever began the newest attempt says how it ended. */
  endAttempt: `UPDATE delivery SET state = :state, next_time_ms = :nextTimeMs, busy_until_ms = 0,
    end_time_ms = :endTimeMs WHERE id = :id AND attempts = :number AND state = 'waiting'`,
  postpone: `UPDATE delivery SET attempts = attempts - 1, next_time_ms = :nextTimeMs, busy_until_ms = 0
    WHERE id = :id AND attempts = :number AND state = 'waiting'`,
  resend: `UPDATE delivery SET state = 'waiting', attempts_from = attempts, next_time_ms = :nowMs, busy_until_ms = 0,
    give_up_ms = :giveUpMs, end_time_ms = NULL WHERE id = :id RETURNING id`,
  dropDeliveries: "DELETE FROM delivery WHERE target_id = :targetId AND state = 'waiting'",
  delivery: "SELECT * FROM delivery WHERE id = :id",
  attempts: "SELECT * FROM delivery_attempt WHERE delivery_id = :id ORDER BY number DESC LIMIT 100",
  deliveries: `SELECT * FROM delivery WHERE ${OWNED} AND ${whole("target_id", "targetId")}
    AND ${whole("event_id", "eventId")} AND ${BEFORE}`,
  sweepAttempts: `DELETE FROM delivery_attempt WHERE delivery_id IN (SELECT id FROM delivery
    WHERE end_time_ms < :beforeMs ORDER BY end_time_ms LIMIT 500)`,
  sweepDeliveries: `DELETE FROM delivery WHERE id IN (SELECT id FROM delivery WHERE end_time_ms < :beforeMs
    ORDER BY end_time_ms LIMIT 500)`,

  /** What alerts watch: each row is found by its key, so that no page takes long. */
  accounts: `SELECT id, name, budget_day_nanos, budget_month_nanos, budget_total_nanos,
    credits_posted - debits_posted - debits_pending + ${LEASED} AS available_nanos,
    debits_posted - debited_nanos + debits_pending - ${LEASED} AS spent_nanos,
    ${used("account", "account.id")},
    coalesce((SELECT sum(spent_nanos) FROM budget WHERE owner = 'account' AND owner_id = account.id
      AND period = 'day' AND bucket >= :weekDay AND bucket < :day), 0) AS week_nanos,
    (SELECT min(bucket) FROM budget WHERE owner = 'account' AND owner_id = account.id
      AND period = 'day' AND bucket >= :weekDay AND bucket < :day) AS week_first_day
    FROM account WHERE id > :afterId AND ${whole("id", "id")} ORDER BY id LIMIT :count`,
  keys: `SELECT id, account_id, settings, create_time_ms, ${used("key", "key.id")},
    (SELECT max(bucket) FROM budget WHERE owner = 'key' AND owner_id = key.id AND period = 'day') AS last_day,
    coalesce((SELECT last_use_time_ms FROM key_use WHERE key_id = key.id), 0) AS last_use_time_ms
    FROM key WHERE id > :afterId AND revoke_time_ms IS NULL AND ${whole("account_id", "accountId")}
    AND ${whole("id", "id")} ORDER BY id LIMIT :count`,
  noteOverage: `INSERT INTO alert_note (name, value)
    SELECT :name, CAST(coalesce(sum(nanos), 0) AS bigint) FROM operator_total WHERE kind = 'overage'
    ON CONFLICT DO NOTHING`,
  noted: "SELECT value FROM alert_note WHERE name = :name",
  /** How many problems the last proof of the ledger had, whichever node made it. */
  noteProof: `INSERT INTO alert_note (name, value) VALUES ('proof', :problems)
    ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
  /** The newest day that a nightly export has, by its number. */
  noteExport: `INSERT INTO alert_note (name, value) VALUES ('export', :day)
    ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE excluded.value > alert_note.value`,
  sweepNotes: "DELETE FROM alert_note WHERE name LIKE 'overage %' AND name < :before",
  overage: "SELECT CAST(coalesce(sum(nanos), 0) AS bigint) AS nanos FROM operator_total WHERE kind = 'overage'",
} as const satisfies Readonly<Record<string, string>>;

export type AlertStatement = keyof typeof ALERT_STATEMENTS;
export type StepValue = string | number | bigint | Uint8Array | null;

/** One statement with its values. */
export interface AlertStep {
  readonly statement: AlertStatement;
  readonly values: Readonly<Record<string, StepValue>>;
}

/** The rows of each step of a transaction, in the order of the steps. */
export type StepRows = readonly (readonly Readonly<Record<string, unknown>>[])[];
