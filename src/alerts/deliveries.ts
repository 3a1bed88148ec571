/** Deliveries as people look at them: lists, attempts, and an event sent once more. */
import { unknown } from "../api/check.js";
import type { Act } from "../audit/act.js";
import { TIME_CURSOR, cutPage, decodeToken } from "../store/page.js";
import type { AlertStep, Page, PageRequest, Store } from "../store/store.js";
import { DELIVERED_FOR_MS } from "./event-maker.js";
import { type Owner, ownerValues } from "./pages.js";
import { deliveryRecord } from "./records.js";
import { type AttemptRow, type DeliveryRow, toAttempt, toDelivery } from "./rows.js";

export interface DeliveryFilter {
  readonly webhookId: string;
  readonly eventId: string;
}

const FIRST = { timeMs: Number.MAX_SAFE_INTEGER, id: "" };

export class Deliveries {
  constructor(
    private readonly store: Pick<Store, "alertSteps">,
    private readonly nowMs: () => number,
    /** Called where something is due. */
    private readonly onDue: () => void,
  ) {}

  async find(id: string): Promise<DeliveryRow | undefined> {
    const [[row] = []] = await this.#steps([{ statement: "delivery", values: { id } }]);
    return row && toDelivery(row);
  }

  /** The newest hundred, oldest first. */
  async attempts(id: string): Promise<readonly AttemptRow[]> {
    const [rows = []] = await this.#steps([{ statement: "attempts", values: { id } }]);
    return rows.map(toAttempt).toReversed();
  }

  async list(owner: Owner, filter: DeliveryFilter, { size, token }: PageRequest): Promise<Page<DeliveryRow>> {
    const before = decodeToken("deliveries", token, TIME_CURSOR) ?? FIRST;
    const { webhookId: targetId, eventId } = filter;
    const values = { ...ownerValues(owner), targetId, eventId, ...before, count: size + 1 };
    const [rows = []] = await this.#steps([{ statement: "deliveries", values }]);
    const cursor = ({ createTimeMs, id }: DeliveryRow): typeof FIRST => ({ timeMs: createTimeMs, id });
    return cutPage("deliveries", rows.map(toDelivery), size, cursor);
  }

  async resend(delivery: DeliveryRow, act: Act): Promise<DeliveryRow> {
    const nowMs = this.nowMs();
    const { id } = delivery;
    const steps: AlertStep[] = [
      { statement: "resend", values: { id, nowMs, giveUpMs: nowMs + DELIVERED_FOR_MS } },
      { statement: "delivery", values: { id } },
    ];
    const [, [row] = []] = await this.store.alertSteps(steps, deliveryRecord(act, delivery));
    if (row === undefined) throw unknown("delivery", id);
    this.onDue();
    return toDelivery(row);
  }

  #steps(steps: readonly AlertStep[]): ReturnType<Store["alertSteps"]> {
    return this.store.alertSteps(steps);
  }
}
