/** Sums of requests by their properties, equal to the ledger wherever that can be compared. */
import { setTimeout as sleep } from "node:timers/promises";
import { DAY_MS, dayNumber, dayOf } from "../api/day.js";
import type { RequestStore } from "../store/store.js";
import type { Adopter } from "./adopter.js";
import type { RecordFilter } from "./filter.js";
import { dayTimes, groupOf, ledgerDay, ledgerFilter, type Rest, restOfDay } from "./ledger-sums.js";
import type { Records } from "./records.js";
import type { Dimension } from "./usage-codes.js";
import type { UsageGroup } from "./usage-groups.js";
import { SUMS, type SumName } from "./usage-scan.js";

const VERIFIED_MAX = 10_000;
/** How far back most questions go. */
const WARM_DAYS = 30;
const SPLIT = "\u0000";

export interface UsageParts {
  readonly records: Pick<Records, "usage">;
  readonly requests: Pick<RequestStore, "summarize">;
  readonly adopter: Pick<Adopter, "adopt">;
  readonly nowMs: () => number;
}

export class UsageQuestions {
  /** Days of accounts that are over and agree with the ledger: nothing changes in them but refunds. */
  readonly #verified = new Set<string>();

  constructor(private readonly parts: UsageParts) {}

  /** In the order of their values. Rejects with PARAMETER_INVALID where there are too many, and with OVERLOADED. */
  async ask(dimensions: readonly Dimension[], filter: RecordFilter): Promise<readonly UsageGroup[]> {
    const { records } = this.parts;
    let rests = await this.#rests(filter);
    if (rests.some(({ group }) => group.requestCount > 0) && (await this.#adopt(rests)))
      rests = await this.#rests(filter);
    const found = await records.usage(dimensions, filter);
    if (rests.length === 0) return found;
    const groups = new Map(found.map((group) => [group.values.join(SPLIT), group]));
    for (const rest of rests) {
      const group = groupOf(rest, dimensions);
      const id = group.values.join(SPLIT);
      const known = groups.get(id);
      groups.set(id, known === undefined ? group : merged(known, group));
    }
    return [...groups.values()].toSorted((a, b) => (a.values.join(SPLIT) < b.values.join(SPLIT) ? -1 : 1));
  }

  /** Compares the last days with the ledger, one after the other: whoever asks first need not wait for all of them. */
  async warm(pauseMs: number): Promise<void> {
    const today = dayNumber(this.parts.nowMs());
    for (let ago = 1; ago <= WARM_DAYS; ago++) {
      await sleep(pauseMs, undefined, { ref: false });
      await this.#restsOfDay(dayOf((today - ago) * DAY_MS), undefined);
    }
  }

  /** What the ledger has beyond the records. */
  async #rests(filter: RecordFilter): Promise<readonly Rest[]> {
    const asked = ledgerFilter(filter, this.parts.nowMs());
    if (asked === undefined) return [];
    const { account, key, model } = asked;
    const rests: Rest[] = [];
    for (const day of asked.days)
      for (const rest of await this.#restsOfDay(day, account))
        if ((key === undefined || rest.row.keyId === key) && (model === undefined || rest.row.model === model))
          rests.push(rest);
    return rests;
  }

  /** All keys and models are compared, so that whoever asks for another one finds the day compared. */
  async #restsOfDay(day: string, account: string | undefined): Promise<readonly Rest[]> {
    if (this.#isVerified(day, account)) return [];
    const { records, requests } = this.parts;
    // First the ledger: what ends meanwhile is in the records alone, and no request is missed.
    const rows = await ledgerDay(day, account, requests);
    const names = account === undefined ? {} : { account };
    const found = await restOfDay(rows, { ...dayTimes(day), names }, (by, of) => records.usage(by, of));
    if (found.length === 0) this.#verify(day, account);
    return found;
  }

  #isVerified(day: string, account: string | undefined): boolean {
    return this.#verified.has(`${day} `) || (account !== undefined && this.#verified.has(`${day} ${account}`));
  }

  #verify(day: string, account: string | undefined): void {
    // Of a day that was over an hour ago every request has been settled, by recovery where by nobody else.
    const isOver = dayTimes(day).toMs + 3_600_000 < this.parts.nowMs();
    if (isOver && this.#verified.size < VERIFIED_MAX) this.#verified.add(`${day} ${account ?? ""}`);
  }

  /** True where requests got a record. */
  async #adopt(rests: readonly Rest[]): Promise<boolean> {
    const days = rests.map(({ row }) => dayTimes(row.day));
    const [fromMs, toMs] = [Math.min(...days.map((day) => day.fromMs)), Math.max(...days.map((day) => day.toMs))];
    return (await this.parts.adopter.adopt(fromMs, toMs)) > 0;
  }
}

function merged(a: UsageGroup, b: UsageGroup): UsageGroup {
  const sums = Object.fromEntries(SUMS.map((name) => [name, a.sums[name] + b.sums[name]])) as Record<SumName, bigint>;
  return {
    ...a,
    requestCount: a.requestCount + b.requestCount,
    answeredCount: a.answeredCount + b.answeredCount,
    settledCount: a.settledCount + b.settledCount,
    sums,
  };
}
