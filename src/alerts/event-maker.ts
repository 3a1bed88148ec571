/** Makes events with their deliveries, in one transaction: each is listed once, and goes to all that it should. */
import { invalid } from "../api/check.js";
import type { Act } from "../audit/act.js";
import type { AlertStep, StepRows, Store } from "../store/store.js";
import { kindOf } from "./kinds.js";
import type { Reading } from "./judge.js";
import { testRecord } from "./records.js";
import {
  type AlertRow,
  type DeliveryRow,
  MAIL_TARGET,
  type StateRow,
  text,
  toDelivery,
  type WebhookRow,
} from "./rows.js";

/** How long an event is sent for. */
export const DELIVERED_FOR_MS = 24 * 3_600_000;
/** Events that wait for one target: what comes behind them is listed, and not sent there. */
const WAITING_MAX = 1_000;
/** Where so many deliveries wait for a webhook, it is not tested. */
const TESTED_WAITING_MAX = 100;

export interface EventMakerParts {
  readonly store: Pick<Store, "alertSteps">;
  readonly nodeId: string;
  readonly makeId: () => string;
  readonly nowMs: () => number;
  /** False where no mail can be sent. */
  readonly sendsMail: boolean;
  /** Called where an event was made. */
  readonly onMade: () => void;
}

export class EventMaker {
  constructor(private readonly parts: EventMakerParts) {}

  /** Says that an alert's condition is met. False where that was said already, by whichever node. */
  async fire(alert: AlertRow, reading: Reading): Promise<boolean> {
    const { nowMs, nodeId } = this.parts;
    const id = this.#eventId();
    const state = { alertId: alert.id, subject: reading.subject, eventId: id, nodeId, nowMs: nowMs() };
    const event = { ...this.#event(id, alert, reading, "fired") };
    return this.#make(alert, id, [
      { statement: "countEvent", values: {} },
      { statement: "fire", values: state },
      { statement: "insertFired", values: event },
    ]);
  }

  /** Says that it is over. */
  async resolve(alert: AlertRow, reading: Reading, state: StateRow): Promise<boolean> {
    const id = this.#eventId();
    const event = { ...this.#event(id, alert, reading, "resolved"), resolvesId: state.eventId };
    const { alertId, subject, eventId } = state;
    return this.#make(
      alert,
      id,
      [
        { statement: "countEvent", values: {} },
        { statement: "insertResolved", values: event },
      ],
      [{ statement: "forget", values: { alertId, subject, eventId } }],
    );
  }

  /** Sends a test to one webhook. Rejects with PARAMETER_INVALID where too much waits for it already. */
  async test({ id: webhookId, accountId }: WebhookRow, act: Act): Promise<DeliveryRow> {
    const id = this.#eventId();
    const values = {
      id,
      type: "test",
      accountId,
      subject: `webhook ${webhookId}`,
      subjectAccountId: accountId,
      message: "This is a test of a webhook.",
      facts: "{}",
      createTimeMs: this.parts.nowMs(),
      targetId: webhookId,
      waitingMax: TESTED_WAITING_MAX,
    };
    const deliveryId = this.#deliveryId();
    const steps: AlertStep[] = [
      // A change is recorded where its first step finds a row.
      { statement: "roomForTest", values: { accountId, targetId: webhookId, waitingMax: TESTED_WAITING_MAX } },
      { statement: "countEvent", values: {} },
      { statement: "insertTest", values },
      this.#delivery(deliveryId, id, accountId, webhookId),
      { statement: "delivery", values: { id: deliveryId } },
    ];
    const rows = await this.parts.store.alertSteps(steps, testRecord(act, { id: webhookId, accountId, eventId: id }));
    const made = rows.at(-1)?.[0];
    if (made === undefined) {
      const problem = `has ${TESTED_WAITING_MAX} deliveries that wait: let it answer, end its pause, or delete it`;
      throw invalid("id", problem);
    }
    this.parts.onMade();
    return toDelivery(made);
  }

  async #make(
    alert: AlertRow,
    eventId: string,
    steps: readonly AlertStep[],
    behind: readonly AlertStep[] = [],
  ): Promise<boolean> {
    const targets = await this.targets(alert);
    const deliveries = targets.map((target) => this.#delivery(this.#deliveryId(), eventId, alert.accountId, target));
    const rows: StepRows = await this.parts.store.alertSteps([...steps, ...deliveries, ...behind]);
    const isMade = (rows[steps.length - 1]?.length ?? 0) > 0;
    if (isMade) this.parts.onMade();
    return isMade;
  }

  /** Where the alert's events go: the webhooks that it names, or all of its account, and its mail addresses. */
  async targets({ accountId, settings }: AlertRow): Promise<readonly string[]> {
    const values = { isAll: 0, accountId, afterId: "", count: 1_000 };
    const [rows = []] = await this.parts.store.alertSteps([{ statement: "webhooks", values }]);
    const ids = rows.map((row) => text(row, "id"));
    const webhooks = settings.webhookIds.length === 0 ? ids : ids.filter((id) => settings.webhookIds.includes(id));
    const emails = this.parts.sendsMail ? settings.emails : [];
    return [...webhooks, ...emails.map((email) => MAIL_TARGET + email)];
  }

  #event(id: string, alert: AlertRow, reading: Reading, change: "fired" | "resolved"): Record<string, string | number> {
    return {
      id,
      type: `${kindOf(alert.settings.kind)?.word ?? "alert"}.${change}`,
      accountId: alert.accountId,
      alertId: alert.id,
      alertName: alert.settings.name,
      subject: reading.subject,
      subjectAccountId: reading.subjectAccountId,
      message: reading.message,
      facts: JSON.stringify(reading.facts),
      createTimeMs: this.parts.nowMs(),
    };
  }

  #delivery(id: string, eventId: string, accountId: string, targetId: string): AlertStep {
    const nowMs = this.parts.nowMs();
    const values = {
      id,
      eventId,
      accountId,
      targetId,
      nowMs,
      giveUpMs: nowMs + DELIVERED_FOR_MS,
      waitingMax: WAITING_MAX,
    };
    return { statement: "insertDelivery", values };
  }

  #eventId(): string {
    return `evt_${this.parts.makeId()}`;
  }

  #deliveryId(): string {
    return `dlv_${this.parts.makeId()}`;
  }
}
