/**
 * What the operator spends at upstreams and targets that have a budget. Each process adds its own part to the database
 * every second, and reads there what all of them spent.
 */
import { DAY_MS, dayOf } from "../base/day.js";
import type { OperatorSpending, SubjectLimits } from "./target-limiter.js";

/** In nano-USD, in a day such as 2026-11-21 or a month such as 2026-11. */
export interface OperatorCost {
  readonly subject: string;
  readonly bucket: string;
  readonly costNanos: bigint;
}

export interface SpendingStore {
  /** Adds the costs, in one transaction, and returns what their sums are then. */
  addOperatorCosts(costs: readonly OperatorCost[]): Promise<readonly OperatorCost[]>;
}

export interface StoredSpendingOptions {
  readonly store: SpendingStore;
  /** The time of day. */
  readonly nowMs: () => number;
  readonly onError: (error: unknown) => void;
}

const FLUSH_MS = 1_000;
/** What the database did not tell may be spent: its budget is looked at again after this time. */
const UNREAD_WAIT_MS = 1_000;

interface Sum {
  readonly subject: string;
  readonly bucket: string;
  /** What all processes had spent when it was read last; undefined before that. */
  stored: bigint | undefined;
  /** What this process spent since. */
  added: bigint;
}

type Budgeted = Pick<SubjectLimits, "subject" | "budget">;

export class StoredSpending implements OperatorSpending {
  /** By subject. There are as many as the settings have budgets. */
  readonly #sums = new Map<string, Sum>();
  #timer: NodeJS.Timeout | undefined;
  #flushing: Promise<void> = Promise.resolve();
  #reading: Promise<void> | undefined;

  constructor(private readonly options: StoredSpendingOptions) {}

  waitMs(limits: Budgeted): number | Promise<number> {
    const sum = this.#sumOf(limits);
    if (sum.stored !== undefined) return this.#waitMs(sum, limits);
    // Requests that come meanwhile wait for the same answer.
    this.#reading ??= this.flush().finally(() => (this.#reading = undefined));
    return this.#reading.then(() => this.#waitMs(sum, limits));
  }

  add(limits: Budgeted, costNanos: bigint): void {
    this.#sumOf(limits).added += costNanos;
  }

  /** Never rejects. What could not be written is tried again. */
  flush(): Promise<void> {
    this.#flushing = this.#flushing.then(() => this.#write());
    return this.#flushing;
  }

  close(): Promise<void> {
    clearInterval(this.#timer);
    return this.#sums.size === 0 ? Promise.resolve() : this.flush();
  }

  async #write(): Promise<void> {
    const sums = [...this.#sums.values()];
    const costs = sums.map(({ subject, bucket, added }) => ({ subject, bucket, costNanos: added }));
    for (const sum of sums) sum.added = 0n;
    try {
      const found = await this.options.store.addOperatorCosts(costs);
      for (const sum of sums)
        sum.stored = found.find((one) => one.subject === sum.subject && one.bucket === sum.bucket)?.costNanos ?? 0n;
      // Periods that are over are written once more, and forgotten.
      for (const [name, sum] of this.#sums) if (name !== sum.subject && sum.added === 0n) this.#sums.delete(name);
    } catch (error) {
      for (const [index, sum] of sums.entries()) sum.added += costs[index]?.costNanos ?? 0n;
      this.options.onError(error);
    }
  }

  #sumOf({ subject, budget }: Budgeted): Sum {
    this.#timer ??= setInterval(() => void this.flush(), FLUSH_MS).unref();
    const bucket = bucketOf(budget?.period, this.options.nowMs());
    const known = this.#sums.get(subject);
    if (known?.bucket === bucket) return known;
    // A part of the period before that is not written yet is written with what is read of this one.
    if (known !== undefined && known.added > 0n) this.#sums.set(`${subject} ${known.bucket}`, known);
    const sum: Sum = { subject, bucket, stored: undefined, added: 0n };
    this.#sums.set(subject, sum);
    return sum;
  }

  #waitMs({ stored, added }: Sum, { budget }: Budgeted): number {
    if (budget === undefined) return 0;
    if (stored === undefined) return UNREAD_WAIT_MS;
    if (stored + added < budget.amountNanos) return 0;
    return endOf(budget.period, this.options.nowMs()) - this.options.nowMs();
  }
}

type Period = NonNullable<SubjectLimits["budget"]>["period"];

function bucketOf(period: Period | undefined, nowMs: number): string {
  return period === "month" ? dayOf(nowMs).slice(0, 7) : dayOf(nowMs);
}

/** When the period ends, in UTC. */
function endOf(period: Period, nowMs: number): number {
  const now = new Date(nowMs);
  if (period === "month") return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1);
  return (Math.floor(nowMs / DAY_MS) + 1) * DAY_MS;
}
