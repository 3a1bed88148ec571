/** Looks at what alerts watch, behind everything else: by a timer, in pages, and one node at a time for all. */
import type { AlertStep, Store } from "../store/store.js";
import type { EventMaker } from "./event-maker.js";
import { Judge, type Reading } from "./judge.js";
import { kindOf, type Watched } from "./kinds.js";
import { ACCOUNT_KINDS, accountReadings, watchesAccount } from "./money-readings.js";
import { type AlertRow, type Columns, type StateRow, text, toState } from "./rows.js";
import type { Rules } from "./rules.js";

/** What a node itself sees of an alert's subjects. */
export type NodeReadings = (alert: AlertRow, nowMs: number) => readonly Reading[];

export interface EvaluatorParts {
  readonly store: Pick<Store, "alertSteps">;
  readonly rules: Rules;
  readonly maker: EventMaker;
  readonly nodeId: string;
  readonly nowMs: () => number;
  readonly onError: (error: unknown) => void;
  readonly everyMs: number;
}

/** The rows of a page: what one transaction reads of the ledger, in about a millisecond. */
const PAGE_ROWS = 100;
const DAY_MS = 86_400_000;
const WEEK_DAYS = 7;
/** The node that has the turn keeps it while it lives; after so many rounds without it another one takes it. */
const TURN_ROUNDS = 4;

export class Evaluator {
  readonly #judge = new Judge();
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> | undefined;
  #closed = false;

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
    if (alerts.length === 0) return;
    const [rows = []] = await this.#steps([{ statement: "states", values: {} }]);
    const states = new Map(rows.map(toState).map((state) => [placeOf(state.alertId, state.subject), state]));
    if (await this.#hasTurn()) await this.#lookAtAccounts(of(alerts, "ledger"), states);
  }

  async #hasTurn(): Promise<boolean> {
    const { nodeId, nowMs, everyMs } = this.parts;
    const untilMs = nowMs() + TURN_ROUNDS * everyMs;
    const values = { name: "ledger", nodeId, nowMs: nowMs(), untilMs };
    const [rows = []] = await this.#steps([{ statement: "turn", values }]);
    return rows.length > 0;
  }

  async #lookAtAccounts(alerts: readonly AlertRow[], states: ReadonlyMap<string, StateRow>): Promise<void> {
    const watching = alerts.filter(({ settings }) => ACCOUNT_KINDS.has(settings.kind));
    for (const id of watchedAccounts(watching)) {
      for await (const row of this.#pages("accounts", { id })) {
        const own = watching.filter((alert) => watchesAccount(alert, text(row, "id")));
        for (const alert of own)
          for (const reading of accountReadings(alert, row, this.parts.nowMs()))
            await this.#tell(alert, reading, states);
      }
    }
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

  async #tell(alert: AlertRow, reading: Reading, states: ReadonlyMap<string, StateRow>): Promise<void> {
    const { maker, nowMs } = this.parts;
    const state = states.get(placeOf(alert.id, reading.subject));
    const timeMs = nowMs();
    const verdict = this.#judge.judge(alert.id, reading, state !== undefined, alert.settings.forMinutes, timeMs);
    if (verdict === "fire") await maker.fire(alert, reading);
    if (verdict === "resolve" && state !== undefined) await maker.resolve(alert, reading, state);
  }

  #steps(steps: readonly AlertStep[]): ReturnType<Store["alertSteps"]> {
    return this.parts.store.alertSteps(steps);
  }
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

function dayOf(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 10);
}

function placeOf(alertId: string, subject: string): string {
  return `${alertId} ${subject}`;
}
