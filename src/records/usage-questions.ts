/** Sums of requests by their properties: equal to the ledger's, or an error that says what to ask instead. */
import { setTimeout as sleep } from "node:timers/promises";
import { DAY_MS, dayNumber, dayOf } from "../base/day.js";
import { invalid } from "../api/check.js";
import { GatewayError } from "../base/errors.js";
import type { RequestStore } from "../store/store.js";
import type { Adopter } from "./adopter.js";
import type { RecordFilter } from "./filter.js";
import {
  COMPARED_BY,
  dayTimes,
  daysBetween,
  groupOf,
  isOfLedger,
  isSameTotal,
  type LedgerDay,
  ledgerDay,
  type Rest,
  restOfDay,
  type Total,
  totalOf,
} from "./ledger-sums.js";
import type { Records } from "./records.js";
import type { Dimension } from "./usage-codes.js";
import { inOrder, merged, type UsageGroup } from "./usage-groups.js";
import type { UsageAsk } from "./usage-snapshot.js";

const AGREED_MAX = 10_000;
/** How far back most questions go. */
const WARM_DAYS = 30;
/** How often a question is asked anew, because records or the ledger changed in days that are over. */
const TRIES_MAX = 4;

export interface UsageParts {
  readonly records: Pick<Records, "usage" | "keptSinceMs">;
  readonly requests: Pick<RequestStore, "summarize">;
  readonly adopter: Pick<Adopter, "adopt">;
  readonly nowMs: () => number;
}

/** What agreed once: while its records are these, and the ledger says that, it agrees. */
interface Agreed {
  readonly state: string;
  readonly total: Total;
}

/** A question beside the ledger, at one moment. */
interface PeriodComparison {
  readonly found: readonly UsageGroup[];
  /** What the ledger has beyond that. */
  readonly rests: readonly Rest[];
  /** The same of days that the question takes a part of: where in the day it belongs is not known. */
  readonly unplaced: readonly Rest[];
  /** What the ledger had before the records were read, and they have not. */
  readonly missing: readonly Rest[];
}

export class UsageQuestions {
  /** Days that are over, and that agreed when they were asked for: by day and account, or by day for all accounts. */
  readonly #agreed = new Map<string, Agreed>();

  constructor(private readonly parts: UsageParts) {}

  /** In the order of their values. Rejects with PARAMETER_INVALID where there are too many, and with OVERLOADED. */
  async ask(dimensions: readonly Dimension[], filter: RecordFilter): Promise<readonly UsageGroup[]> {
    let hasAdopted = false;
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const compared = await this.#compare(dimensions, filter);
      if (compared === undefined) continue;
      const { found, rests, unplaced, missing } = compared;
      if (!hasAdopted && (await this.#adopt(missing))) {
        hasAdopted = true;
        continue;
      }
      const [lost] = unplaced;
      if (lost !== undefined) throw incomplete(lost.row.day);
      const placed = rests.map((rest) => groupOf(rest, dimensions));
      const groups = withRests(found, placed);
      if (rests.some(isBelow) && groups.some(isNegative)) throw disputed(rests.find(isBelow)?.row.day ?? "");
      return groups;
    }
    throw new GatewayError("ERROR_REASON_OVERLOADED", { problem: "records of requests change too quickly" });
  }

  /** Compares the last days with the ledger, one after the other: whoever asks first need not wait for all of them. */
  async warm(pauseMs: number): Promise<void> {
    const today = dayNumber(this.parts.nowMs());
    for (let ago = 1; ago <= WARM_DAYS; ago++) {
      await sleep(pauseMs, undefined, { ref: false });
      const day = dayOf((today - ago) * DAY_MS);
      if (this.#isOver(day)) await this.#agrees(day, undefined);
    }
  }

  /** Undefined where a day that agreed does not any more. */
  async #compare(dimensions: readonly Dimension[], filter: RecordFilter): Promise<PeriodComparison | undefined> {
    const { records } = this.parts;
    const { account } = filter.names;
    const days = await this.#daysOf(filter);
    const over = days.filter((day) => this.#isOver(day));
    const scope = over.every((day) => this.#agreed.has(nameOf(day, undefined))) ? undefined : account;
    const agreed: (readonly [string, Agreed])[] = [];
    // First the ledger: what ends meanwhile is in the records alone, and nothing is looked for that is on its way.
    const looked: LedgerDay[] = [];
    for (const day of days) {
      const isOver = this.#isOver(day);
      const known = isOver ? await this.#agrees(day, scope) : undefined;
      if (known !== undefined) agreed.push([day, known]);
      else if (isOver || this.#isWhole(day, filter)) looked.push(await this.#ledgerDay(day, isOver ? scope : account));
    }
    if (!(await this.#isUnchanged(over, scope, agreed, looked))) return undefined;
    const asked = [{ dimensions, filter }, ...looked.map(comparison)];
    const { groups, states } = await records.usage(
      asked,
      agreed.map(([day]) => dayTimes(day)),
    );
    const changed = agreed.filter(([, { state }], at) => state !== states[at]);
    for (const [day] of changed) this.#agreed.delete(nameOf(day, scope));
    if (changed.length > 0) return undefined;
    const [found = [], ...others] = groups;
    const [told, missing]: [Rest[], Rest[]] = [[], []];
    for (const [at, day] of looked.entries()) {
      const before = await restOfDay(day, others[at] ?? []);
      missing.push(...before.filter((rest) => isAbout(rest, filter)));
      told.push(...(day.isOver || !before.some(isBelow) ? before : await this.#restByNow(day, others[at] ?? [])));
    }
    const rests = told.filter((rest) => isAbout(rest, filter));
    const isPlaced = ({ row }: Rest): boolean => this.#isWhole(row.day, filter);
    return { found, rests: rests.filter(isPlaced), unplaced: rests.filter((rest) => !isPlaced(rest)), missing };
  }

  /**
   * The rest of a day whose records say more than the ledger did before they were read. The ledger has the charge of a
   * record before anybody sees it, so that it knows by now what ended meanwhile. What it does not know was lost with a
   * process, or waits for a database that does not take it: that was not charged.
   */
  async #restByNow({ day, account }: LedgerDay, groups: readonly UsageGroup[]): Promise<readonly Rest[]> {
    return restOfDay(await this.#ledgerDay(day, account), groups);
  }

  /** Those of the question that the ledger or the records know anything of. */
  async #daysOf({ fromMs, toMs, names }: RecordFilter): Promise<readonly string[]> {
    const lastMs = Math.min(toMs, this.parts.nowMs());
    if (lastMs < fromMs) return [];
    const span = { fromDay: dayOf(fromMs), toDay: dayOf(lastMs) };
    const { rows } = await this.parts.requests.summarize(names.account, span, { size: 1, token: "" });
    const firstMs = Math.min(
      rows[0] === undefined ? Infinity : Date.parse(rows[0].day),
      this.parts.records.keptSinceMs,
    );
    return daysBetween({ fromMs: Math.max(fromMs, firstMs), toMs: lastMs });
  }

  async #ledgerDay(day: string, account: string | undefined): Promise<LedgerDay> {
    const rows = await ledgerDay(day, account, this.parts.requests);
    return { day, account, rows, isOver: this.#isOver(day) };
  }

  /** All keys and models are compared, so that whoever asks for another one finds the day compared. */
  async #agrees(day: string, account: string | undefined): Promise<Agreed | undefined> {
    const known = this.#agreed.get(nameOf(day, account));
    if (known !== undefined) return known;
    const told = await this.#ledgerDay(day, account);
    const { groups, states } = await this.parts.records.usage([comparison(told)], [dayTimes(day)]);
    const rests = await restOfDay(told, groups[0] ?? []);
    if (rests.length > 0) return undefined;
    const agreed = { state: states[0] ?? "", total: totalOf(told.rows) };
    if (this.#agreed.size < AGREED_MAX) this.#agreed.set(nameOf(day, account), agreed);
    return agreed;
  }

  /** A charge may come days late, as from the journal of a node that was away: then its day is compared anew. */
  async #isUnchanged(
    over: readonly string[],
    scope: string | undefined,
    agreed: readonly (readonly [string, Agreed])[],
    looked: readonly LedgerDay[],
  ): Promise<boolean> {
    const [fromDay, toDay] = [over[0], over.at(-1)];
    if (fromDay === undefined || toDay === undefined || agreed.length === 0) return true;
    const { total } = await this.parts.requests.summarize(scope, { fromDay, toDay }, { size: 1, token: "" });
    const read = looked.flatMap(({ isOver, rows }) => (isOver ? rows : []));
    if (isSameTotal(total, totalOf([...agreed.map(([, one]) => one.total), ...read]))) return true;
    for (const [day] of agreed) this.#agreed.delete(nameOf(day, scope));
    return false;
  }

  /** True where the ledger's sums of the day are of what the question asks for. */
  #isWhole(day: string, filter: RecordFilter): boolean {
    const { fromMs, toMs } = dayTimes(day);
    // Of today nothing comes after now.
    return isOfLedger(filter) && filter.fromMs <= fromMs && (filter.toMs >= toMs || filter.toMs >= this.parts.nowMs());
  }

  /** Of a day that was over an hour ago every request has been settled, by recovery where by nobody else. */
  #isOver(day: string): boolean {
    return dayTimes(day).toMs + 3_600_000 < this.parts.nowMs();
  }

  /** True where requests got a record. */
  async #adopt(rests: readonly Rest[]): Promise<boolean> {
    const { adopter, nowMs, records } = this.parts;
    const days = rests.filter(({ group }) => group.requestCount > 0).map(({ row }) => dayTimes(row.day));
    // What is not kept any more is not made anew.
    const [fromMs, toMs] = [
      Math.max(records.keptSinceMs, Math.min(...days.map((day) => day.fromMs))),
      Math.max(...days.map((day) => day.toMs)),
    ];
    if (days.length === 0 || fromMs > toMs) return false;
    const adopting = adopter.adopt(fromMs, toMs);
    if (fromMs + DAY_MS <= nowMs()) return (await adopting) > 0;
    // Of today it is mostly what ended just now, whose record is on its way: nobody waits for the search for others.
    adopting.catch(() => undefined);
    return false;
  }
}

function nameOf(day: string, account: string | undefined): string {
  return `${day} ${account ?? ""}`;
}

/** What is asked of the records of a day. */
function comparison({ day, account }: LedgerDay): UsageAsk {
  return { dimensions: COMPARED_BY, filter: { ...dayTimes(day), names: account === undefined ? {} : { account } } };
}

function isAbout({ row }: Rest, { names: { account, key, model } }: RecordFilter): boolean {
  return (
    (account === undefined || row.accountId === account) &&
    (key === undefined || row.keyId === key) &&
    (model === undefined || row.model === model)
  );
}

function isBelow({ group }: Rest): boolean {
  return group.requestCount < 0 || group.sums.costNanos < 0n;
}

function isNegative({ requestCount, sums }: UsageGroup): boolean {
  return requestCount < 0 || sums.costNanos < 0n;
}

function incomplete(day: string): GatewayError {
  return invalid(
    "start_time",
    `takes a part of ${day} or of its requests, whose records are not complete: ask for whole days, and for no more ` +
      "than an account, a key and a model",
  );
}

function disputed(day: string): GatewayError {
  return invalid("group_by", `must be day, account, key and model alone: records of ${day} say more than the ledger`);
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
