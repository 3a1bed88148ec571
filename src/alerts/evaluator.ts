/** Looks at what alerts watch, behind everything else: by a timer, in pages, and one node at a time for all. */
import { DAY_MS, dayOf } from "../base/day.js";
import { AlertKind } from "../api/index.js";
import { formatUsd } from "../base/money.js";
import type { AlertStep, Store } from "../store/store.js";
import type { EventMaker } from "./event-maker.js";
import { Judge, type Reading } from "./judge.js";
import { kindOf, type Watched } from "./kinds.js";
import { KEY_KINDS, keyReadings, watchesKey } from "./key-readings.js";
import { ACCOUNT_KINDS, accountReadings, watchesAccount } from "./money-readings.js";
import type { NodeWatch } from "./node-watch.js";
import { type AlertRow, type Columns, nanos, type StateRow, text, toState } from "./rows.js";
import type { Rules } from "./rules.js";

export interface EvaluatorParts {
  readonly store: Pick<Store, "alertSteps">;
  readonly rules: Rules;
  readonly maker: EventMaker;
  readonly watch: NodeWatch;
  readonly nodeId: string;
  readonly nowMs: () => number;
  readonly onError: (error: unknown) => void;
  readonly everyMs: number;
  /** Called each minute, where old events are forgotten too. */
  readonly onSweep: () => Promise<void>;
}

/** The rows of a page: what one transaction reads of the ledger, in about a millisecond. */
const PAGE_ROWS = 100;
const STATE_ROWS = 1_000;
/** What another node saw is its own to take back while it still says so, */
const FOREIGN_MS = 120_000;
/** which it does as often as this. */
const SEEN_EVERY_MS = 30_000;
const SWEEP_MS = 60_000;
const DELIVERIES_KEPT_MS = 30 * DAY_MS;
const EVENTS_KEPT_MS = 90 * DAY_MS;
const WEEK_DAYS = 7;
/** The node that has the turn keeps it while it lives; after so many rounds without it another one takes it. */
const TURN_ROUNDS = 4;

export class Evaluator {
  readonly #judge = new Judge();
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> | undefined;
  #closed = false;
  #sweptMs = 0;

  constructor(private readonly parts: EvaluatorParts) {}

  start(): void {
    this.#timer = setTimeout(() => {
      void this.round().finally(() => {
        if (!this.#closed) this.start();
      });
    }, this.parts.everyMs).unref();
  }

  /** A changed alert waits anew. */
  forget(alertId: string): void {
    this.#judge.forget(alertId);
  }

  /** Looks once. Never rejects. Whoever asks while it looks shares that look. */
  round(): Promise<void> {
    this.#round ??= this.#look()
      .catch(this.parts.onError)
      .finally(() => (this.#round = undefined));
    return this.#round;
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#round;
    const { nodeId: node } = this.parts;
    // The next node need not wait for the end of the turn.
    await this.#steps([{ statement: "endTurn", values: { name: "ledger", nodeId: node } }]).catch(this.parts.onError);
  }

  async #look(): Promise<void> {
    const alerts = await this.parts.rules.active();
    await this.#sweepNow();
    const states = await this.#states();
    const gone = new Set(states.map(({ alertId }) => alertId).filter((id) => this.parts.rules.isGoneFromFile(id)));
    if (alerts.length === 0 && gone.size === 0) return;
    const told = new Told(states);
    for (const alert of of(alerts, "node")) await this.#lookHere(alert, told);
    if (!(await this.#hasTurn())) return;
    await this.#lookAtLedger(of(alerts, "ledger"), told);
    // As where an alert is deleted over the API: it tells nothing more, and what comes by its name is a new one.
    for (const id of gone) await this.#steps([{ statement: "deleteStates", values: { id } }]);
  }

  /** All that was told of and not taken back: as many as alerts watch, so that they are read in pages. */
  async #states(): Promise<readonly StateRow[]> {
    const states: StateRow[] = [];
    for (let after = { alertId: "", subject: "" }; ;) {
      const [rows = []] = await this.#steps([{ statement: "states", values: { ...after, count: STATE_ROWS } }]);
      for (const row of rows) states.push(toState(row));
      const last = states.at(-1);
      if (rows.length < STATE_ROWS || last === undefined) return states;
      after = { alertId: last.alertId, subject: last.subject };
    }
  }

  /** What another node told of is its own to take back, while it lives and says so. */
  async #lookHere(alert: AlertRow, told: Told): Promise<void> {
    const { nodeId, nowMs, watch } = this.parts;
    for (const reading of told.withGone(alert, watch.readings(alert, nowMs()))) {
      const state = told.find(alert.id, reading.subject);
      const ageMs = state === undefined ? 0 : nowMs() - state.seenTimeMs;
      if (state !== undefined && state.nodeId !== nodeId && ageMs < FOREIGN_MS) continue;
      await this.#tell(alert, reading, state);
      // Between met and over it is this node's still: another one that is well must not take it back.
      if (state === undefined || reading.isOver || ageMs < SEEN_EVERY_MS) continue;
      const values = { alertId: alert.id, subject: state.subject, eventId: state.eventId, nodeId, nowMs: nowMs() };
      await this.#steps([{ statement: "seen", values }]);
    }
  }

  async #lookAtLedger(alerts: readonly AlertRow[], told: Told): Promise<void> {
    const found = new Map(alerts.map((alert) => [alert, [] as Reading[]]));
    const { nowMs, watch } = this.parts;
    const ofAccounts = alerts.filter(({ settings }) => ACCOUNT_KINDS.has(settings.kind));
    for (const id of watchedAccounts(ofAccounts))
      for await (const row of this.#pages("accounts", { id }))
        for (const alert of ofAccounts)
          if (watchesAccount(alert, text(row, "id"))) found.get(alert)?.push(...accountReadings(alert, row, nowMs()));
    const ofKeys = alerts.filter(({ settings }) => KEY_KINDS.has(settings.kind));
    for (const accountId of watchedAccounts(ofKeys))
      for await (const row of this.#pages("keys", { accountId, id: "" }))
        for (const alert of ofKeys)
          if (watchesKey(alert, text(row, "id"), text(row, "account_id")))
            found.get(alert)?.push(...keyReadings(alert, row, nowMs()));
    for (const [alert, readings] of found) {
      const { kind } = alert.settings;
      if (kind === AlertKind.ALERT_KIND_MODEL_RETIRING) readings.push(...watch.retiring(alert, nowMs()));
      if (kind === AlertKind.ALERT_KIND_OVERAGE) readings.push(await this.#overage(alert));
      if (kind === AlertKind.ALERT_KIND_PROOF_FAILED) readings.push(...(await this.#proof()));
      for (const reading of told.withGone(alert, readings))
        await this.#tell(alert, reading, told.find(alert.id, reading.subject));
    }
  }

  /** What the operator paid since the day's first look, which the database remembers for all nodes. */
  async #overage({ settings: { amountNanos } }: AlertRow): Promise<Reading> {
    const name = `overage ${dayOf(this.parts.nowMs())}`;
    const [, [noted] = [], [row] = []] = await this.#steps([
      { statement: "noteOverage", values: { name } },
      { statement: "noted", values: { name } },
      { statement: "overage", values: {} },
    ]);
    const since = noted === undefined || row === undefined ? 0n : nanos(row, "nanos") - nanos(noted, "value");
    return {
      subject: "operator",
      subjectAccountId: "",
      isMet: since >= amountNanos,
      // Tomorrow begins with nothing.
      isOver: since < amountNanos,
      message: `The operator paid ${formatUsd(since)} today for requests that cost more than their accounts had.`,
      facts: { overage_nanos: String(since) },
    };
  }

  /** What the last proof said, on whichever node; nothing before the first one. */
  async #proof(): Promise<readonly Reading[]> {
    const [[noted] = []] = await this.#steps([{ statement: "noted", values: { name: "proof" } }]);
    if (noted === undefined) return [];
    const problems = nanos(noted, "value");
    return [
      {
        subject: "ledger",
        subjectAccountId: "",
        isMet: problems > 0n,
        isOver: problems === 0n,
        message:
          problems === 0n
            ? "The verification of the ledger passes again."
            : "The verification of the ledger failed: `tollgate ledger verify` says what is wrong.",
        facts: { problems: String(problems) },
      },
    ];
  }

  /** Forgets old events and deliveries, a few hundred at a time. */
  async #sweepNow(): Promise<void> {
    const nowMs = this.parts.nowMs();
    if (nowMs - this.#sweptMs < SWEEP_MS) return;
    this.#sweptMs = nowMs;
    const endedMs = nowMs - DELIVERIES_KEPT_MS;
    await this.#steps([
      { statement: "giveUpPaused", values: { nowMs } },
      { statement: "sweepAttempts", values: { beforeMs: endedMs } },
      { statement: "sweepDeliveries", values: { beforeMs: endedMs } },
      { statement: "sweepEvents", values: { beforeMs: nowMs - EVENTS_KEPT_MS } },
      { statement: "sweepNotes", values: { before: `overage ${dayOf(nowMs - WEEK_DAYS * DAY_MS)}` } },
    ]);
    await this.parts.onSweep();
  }

  async #hasTurn(): Promise<boolean> {
    const { nodeId, nowMs, everyMs } = this.parts;
    const untilMs = nowMs() + TURN_ROUNDS * everyMs;
    const values = { name: "ledger", nodeId, nowMs: nowMs(), untilMs };
    const [rows = []] = await this.#steps([{ statement: "turn", values }]);
    return rows.length > 0;
  }

  async *#pages(statement: "accounts" | "keys", values: AlertStep["values"]): AsyncGenerator<Columns> {
    for (let afterId = ""; ;) {
      const asked = { ...values, ...buckets(this.parts.nowMs()), afterId, count: PAGE_ROWS };
      const [rows = []] = await this.#steps([{ statement, values: asked }]);
      yield* rows;
      const last = rows.at(-1);
      if (rows.length < PAGE_ROWS || last === undefined) return;
      afterId = text(last, "id");
    }
  }

  async #tell(alert: AlertRow, reading: Reading, state: StateRow | undefined): Promise<void> {
    const { maker, nowMs } = this.parts;
    const verdict = this.#judge.judge(alert.id, reading, state !== undefined, alert.settings.forMinutes, nowMs());
    if (verdict === "fire") await maker.fire(alert, reading);
    if (verdict === "resolve" && state !== undefined) await maker.resolve(alert, reading, state);
  }

  #steps(steps: readonly AlertStep[]): ReturnType<Store["alertSteps"]> {
    return this.parts.store.alertSteps(steps);
  }
}

/** What was told of and not taken back. */
class Told {
  readonly #states: ReadonlyMap<string, StateRow>;

  constructor(states: readonly StateRow[]) {
    this.#states = new Map(states.map((state) => [placeOf(state.alertId, state.subject), state]));
  }

  find(alertId: string, subject: string): StateRow | undefined {
    return this.#states.get(placeOf(alertId, subject));
  }

  /** The readings, and one for each subject that was told of and is not there any more, or is well. */
  withGone(alert: AlertRow, readings: readonly Reading[]): readonly Reading[] {
    const seen = new Set(readings.map(({ subject }) => subject));
    const gone = [...this.#states.values()].filter(
      ({ alertId, subject }) => alertId === alert.id && !seen.has(subject),
    );
    return [...readings, ...gone.map(({ subject }) => goneReading(subject))];
  }
}

function goneReading(subject: string): Reading {
  const message = `Resolved: ${subject}.`;
  return { subject, subjectAccountId: "", isMet: false, isOver: true, message, facts: {} };
}

function of(alerts: readonly AlertRow[], watched: Watched): readonly AlertRow[] {
  return alerts.filter(({ settings }) => kindOf(settings.kind)?.watched === watched);
}

/** The accounts that are read: each that an alert watches by name, or all, which is an empty id. */
function watchedAccounts(alerts: readonly AlertRow[]): readonly string[] {
  const ids = new Set(alerts.map(({ accountId, settings }) => settings.watchedAccountId || accountId));
  return ids.has("") ? [""] : [...ids];
}

/** The names of the days and the month of now, as budgets have them. */
function buckets(nowMs: number): AlertStep["values"] {
  const day = dayOf(nowMs);
  return { day, month: day.slice(0, 7), total: "", weekDay: dayOf(nowMs - WEEK_DAYS * DAY_MS) };
}

function placeOf(alertId: string, subject: string): string {
  return `${alertId} ${subject}`;
}
