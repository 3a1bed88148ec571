/** The list of events, and those who wait for the next. */
import { unknown } from "../api/check.js";
import type { CancelSignal } from "../base/cancellation.js";
import { SEQUENCE_CURSOR, cutPage, decodeToken } from "../store/page.js";
import type { AlertStep, Page, PageRequest, Store } from "../store/store.js";
import { type Owner, ownerValues } from "./pages.js";
import { type EventRow, number, toEvent } from "./rows.js";

export interface EventFilter {
  readonly subjectAccountId: string;
  readonly alertId: string;
  readonly type: string;
}

export interface Period {
  readonly fromMs: number | undefined;
  readonly toMs: number | undefined;
}

/** Events that another node made are seen after so long at most. */
const LOOK_MS = 1_000;
const BATCH = 100;

export class Events {
  readonly #waiting = new Set<() => void>();
  #timer: NodeJS.Timeout | undefined;
  #newest = 0;

  constructor(private readonly store: Pick<Store, "alertSteps">) {}

  async find(id: string): Promise<EventRow | undefined> {
    const [[row] = []] = await this.#steps([{ statement: "event", values: { id } }]);
    return row && toEvent(row);
  }

  async list(
    owner: Owner,
    filter: EventFilter,
    { fromMs, toMs }: Period,
    { size, token }: PageRequest,
  ): Promise<Page<EventRow>> {
    const before = decodeToken("events", token, SEQUENCE_CURSOR) ?? Number.MAX_SAFE_INTEGER;
    const period = { fromMs: fromMs ?? 0, toMs: toMs ?? Number.MAX_SAFE_INTEGER };
    const values = { ...ownerValues(owner), ...filterValues(filter), ...period, before, count: size + 1 };
    const [rows = []] = await this.#steps([{ statement: "events", values }]);
    return cutPage("events", rows.map(toEvent), size, ({ sequence }) => sequence);
  }

  /**
   * Hands over events in their order as they are made, until the signal ends it: those after `afterPlace`, or undefined
   * for those from now on. `push` may make it wait.
   */
  async watch(
    owner: Owner,
    filter: EventFilter,
    afterPlace: number | undefined,
    signal: CancelSignal,
    push: (events: readonly EventRow[]) => Promise<void> | undefined,
  ): Promise<void> {
    let after = afterPlace ?? (await this.#readNewest());
    for (;;) {
      signal.throwIfAborted();
      const values = { ...ownerValues(owner), ...filterValues(filter), after, count: BATCH };
      const seen = this.#newest;
      const [rows = []] = await this.#steps([{ statement: "eventsAfter", values }]);
      const events = rows.map(toEvent);
      if (events.length > 0) await push(events);
      after = events.at(-1)?.sequence ?? Math.max(after, seen);
      if (events.length < BATCH) await this.#changed(after, signal);
    }
  }

  /** Tells those who wait that there may be events. */
  poke(): void {
    void this.#look();
  }

  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Resolves where there is an event behind that place, or the signal aborts. */
  #changed(after: number, signal: CancelSignal): Promise<void> {
    if (this.#newest > after || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        if (this.#newest <= after && !signal.aborted) return;
        this.#waiting.delete(done);
        signal.removeEventListener("abort", done);
        if (this.#waiting.size === 0) this.close();
        resolve();
      };
      this.#waiting.add(done);
      signal.addEventListener("abort", done, { once: true });
      this.#timer ??= setInterval(() => void this.#look(), LOOK_MS).unref();
    });
  }

  /** One question for all who wait. */
  async #look(): Promise<void> {
    if (this.#waiting.size === 0) return;
    try {
      await this.#readNewest();
    } catch {
      // The database is away; the next look finds what was made meanwhile.
      return;
    }
    for (const tell of this.#waiting) tell();
  }

  async #readNewest(): Promise<number> {
    const [[row] = []] = await this.#steps([{ statement: "newestEvent", values: {} }]);
    const newest = row === undefined ? 0 : number(row, "newest");
    this.#newest = Math.max(this.#newest, newest);
    return newest;
  }

  #steps(steps: readonly AlertStep[]): ReturnType<Store["alertSteps"]> {
    return this.store.alertSteps(steps);
  }
}

/** The place of the event that a caller has, which must be one that it may see. */
export function placeAfter(event: EventRow | undefined, id: string, owner: Owner): number {
  if (event !== undefined && (owner === undefined || owner === event.accountId)) return event.sequence;
  throw unknown("event", id);
}

function filterValues({ subjectAccountId, alertId, type }: EventFilter): Record<string, string> {
  return { subjectAccountId, alertId, type };
}
