/** Sums of requests by their properties, equal to the ledger wherever that can be compared. */
import { setTimeout as sleep } from "node:timers/promises";
import { DAY_MS, dayNumber, dayOf } from "../api/day.js";
import type { RequestStore, UsageSummaryRow } from "../store/store.js";
import type { Adopter } from "./adopter.js";
import type { RecordFilter } from "./filter.js";
import { type AskRecords, dayTimes, groupOf, ledgerDay, ledgerFilter, type Rest, restOfDay } from "./ledger-sums.js";
import type { Records } from "./records.js";
import type { Dimension } from "./usage-codes.js";
import { inOrder, merged, type UsageGroup } from "./usage-groups.js";

const VERIFIED_MAX = 10_000;
/** How far back most questions go. */
const WARM_DAYS = 30;

/** A day that is not known to agree, and the ledger's sums of it. */
interface OpenDay {
  readonly day: string;
  readonly rows: readonly UsageSummaryRow[];
}

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
    let { found, rests } = await this.#compared(dimensions, filter);
    if (rests.some(({ group }) => group.requestCount > 0) && (await this.#adopt(rests)))
      ({ found, rests } = await this.#compared(dimensions, filter));
    return withRests(
      found,
      rests.map((rest) => groupOf(rest, dimensions)),
    );
  }

  /** Compares the last days with the ledger, one after the other: whoever asks first need not wait for all of them. */
  async warm(pauseMs: number): Promise<void> {
    const today = dayNumber(this.parts.nowMs());
    for (let ago = 1; ago <= WARM_DAYS; ago++) {
      await sleep(pauseMs, undefined, { ref: false });
      const day = dayOf((today - ago) * DAY_MS);
      await this.#restsOfDay({ day, rows: await ledgerDay(day, undefined, this.parts.requests) }, undefined);
    }
  }

  /** What was asked for, and what the ledger has beyond the same records. */
  async #compared(
    dimensions: readonly Dimension[],
    filter: RecordFilter,
  ): Promise<{ readonly found: readonly UsageGroup[]; readonly rests: readonly Rest[] }> {
    const { records, requests, nowMs } = this.parts;
    const asked = ledgerFilter(filter, nowMs());
    const { account, key, model } = asked ?? {};
    const rests: Rest[] = [];
    const open: OpenDay[] = [];
    for (const day of asked?.days ?? []) {
      if (this.#isVerified(day, account)) continue;
      // First the ledger: what ends meanwhile is in the records alone, and no request is missed.
      const one = { day, rows: await ledgerDay(day, account, requests) };
      if (this.#isOver(day)) rests.push(...(await this.#restsOfDay(one, account)));
      else open.push(one);
    }
    // Asked in one turn, all see the same records: one that comes meanwhile is in none of them.
    const [found, ...others] = await Promise.all([
      records.usage(dimensions, filter),
      ...open.map((one) => this.#restsOfDay(one, account)),
    ]);
    const isAsked = ({ row }: Rest): boolean =>
      (key === undefined || row.keyId === key) && (model === undefined || row.model === model);
    return { found, rests: [...rests, ...others.flat()].filter(isAsked) };
  }

  /** All keys and models are compared, so that whoever asks for another one finds the day compared. */
  async #restsOfDay({ day, rows }: OpenDay, account: string | undefined): Promise<readonly Rest[]> {
    const names = account === undefined ? {} : { account };
    const ask: AskRecords = (by, of) => this.parts.records.usage(by, of);
    const found = rows.length === 0 ? [] : await restOfDay(rows, { ...dayTimes(day), names }, ask);
    if (found.length === 0) this.#verify(day, account);
    return found;
  }

  #isVerified(day: string, account: string | undefined): boolean {
    return this.#verified.has(`${day} `) || (account !== undefined && this.#verified.has(`${day} ${account}`));
  }

  /** Of a day that was over an hour ago every request has been settled, by recovery where by nobody else. */
  #isOver(day: string): boolean {
    return dayTimes(day).toMs + 3_600_000 < this.parts.nowMs();
  }

  #verify(day: string, account: string | undefined): void {
    if (this.#isOver(day) && this.#verified.size < VERIFIED_MAX) this.#verified.add(`${day} ${account ?? ""}`);
  }

  /** True where requests got a record. */
  async #adopt(rests: readonly Rest[]): Promise<boolean> {
    const days = rests.map(({ row }) => dayTimes(row.day));
    const [fromMs, toMs] = [Math.min(...days.map((day) => day.fromMs)), Math.max(...days.map((day) => day.toMs))];
    const adopting = this.parts.adopter.adopt(fromMs, toMs);
    if (fromMs + DAY_MS <= this.parts.nowMs()) return (await adopting) > 0;
    // Of today it is mostly what ended just now, whose record is on its way: nobody waits for the search for others.
    adopting.catch(() => undefined);
    return false;
  }
}

/** Each of the few rests is put where it belongs among the groups, of which there may be 20,000 in order. */
function withRests(found: readonly UsageGroup[], rests: readonly UsageGroup[]): readonly UsageGroup[] {
  if (rests.length === 0) return found;
  const all = [...found];
  for (const rest of rests) {
    let [low, high] = [0, all.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const group = all[middle];
      if (group !== undefined && inOrder(group, rest) < 0) low = middle + 1;
      else high = middle;
    }
    const known = all[low];
    if (known !== undefined && inOrder(known, rest) === 0) all[low] = { ...merged(known, rest), ...timesOf(known) };
    else all.splice(low, 0, rest);
  }
  return all;
}

/** What a crash lost has no times: those that are known stay. */
function timesOf({ firstTokenMs, totalMs }: UsageGroup): Pick<UsageGroup, "firstTokenMs" | "totalMs"> {
  return { firstTokenMs, totalMs };
}
