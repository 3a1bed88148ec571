/** The quotas of requests: how much accounts and keys may use in windows of time, counted in the database. */
import type { Quota, QuotaUse } from "../api/index.js";
import { GatewayError } from "../base/errors.js";
import type {
  QuotaChange,
  QuotaClaim,
  QuotaCounts,
  QuotaName,
  QuotaResult,
  QuotaState,
  QuotaTake,
} from "../store/quota-scripts.js";
import { quotaRefusal, warningOf } from "./quota-words.js";
import { type DayStart, isEndless, quotaWindow } from "./quota-window.js";

/** Changes of one account that wait for one transaction. More are refused. */
const WAITING_MAX = 10_000;
const CHANGES_AT_ONCE = 256;

/** A quota as the settings say it, with its glob compiled. */
export interface OwnQuota extends Quota {
  matches(model: string): boolean;
}

/** The quotas of an account, and when the days of all quotas under it start. */
export interface AccountQuotas {
  readonly limits: readonly OwnQuota[];
  readonly dayStart: DayStart;
}

/** What the quotas need to know of a caller. */
export interface QuotaCaller {
  readonly keyId: string;
  readonly accountId: string;
  /** Absent: the key has no quotas. */
  readonly quotas?: readonly OwnQuota[] | undefined;
  readonly maker: QuotaCaller | undefined;
  readonly accountLimits: { readonly quotas?: AccountQuotas | undefined } | undefined;
}

/** The most that a request can use. */
export interface QuotaNeed {
  readonly tokens: number;
  readonly nanos: bigint;
  /** The least money that the request accepts. */
  readonly leastNanos: bigint;
}

export interface QuotaStore {
  changeQuotas(accountId: string, changes: readonly QuotaChange[]): Promise<readonly QuotaResult[]>;
  quotasOf(owner: QuotaName["owner"], ownerId: string): Promise<readonly QuotaState[]>;
}

/** A quota of a caller and whose it is. */
export interface QuotaSubject {
  readonly owner: QuotaName["owner"];
  readonly ownerId: string;
  readonly quota: OwnQuota;
}

interface CallerQuotas {
  readonly subjects: readonly QuotaSubject[];
  readonly dayStart: DayStart;
}

interface Waiting {
  readonly change: QuotaChange;
  readonly resolve: (result: QuotaResult) => void;
  readonly reject: (error: unknown) => void;
}

const UTC: DayStart = { timeZone: "", hour: 0 };
const NO_QUOTAS: CallerQuotas = { subjects: [], dayStart: UTC };

export interface QuotasOptions {
  readonly store: QuotaStore;
  readonly nowMs: () => number;
  /** Called where what a request did not use could not be given back: the quotas count it until their windows end. */
  readonly onLost: (error: unknown) => void;
}

/** Counts requests in the quotas of their callers. */
export class Quotas {
  readonly #options: QuotasOptions;
  /** By caller object: a changed key has a new one. */
  readonly #callers = new WeakMap<QuotaCaller, CallerQuotas>();
  /** Of accounts with changes that are not written. While a transaction runs, further changes gather for the next. */
  readonly #waiting = new Map<string, Waiting[]>();
  readonly #writing = new Set<Promise<void>>();

  constructor(options: QuotasOptions) {
    this.#options = options;
  }

  /**
   * Counts a request with the most that it can use; undefined if the caller has no quota for the model. Rejects with
   * QUOTA_EXCEEDED, BUDGET_EXCEEDED or LEDGER_UNAVAILABLE, and then counts nothing.
   */
  take(caller: QuotaCaller, model: string, need: QuotaNeed): Promise<QuotaGrant> | undefined {
    const { subjects, dayStart } = this.#quotasOf(caller);
    if (subjects.length === 0) return undefined;
    const matching = subjects.filter(({ quota }) => quota.matches(model));
    return matching.length === 0 ? undefined : this.#take(caller.accountId, matching, dayStart, need);
  }

  /** How much of an owner's quotas is used, in their order. */
  async usesOf(owner: QuotaName["owner"], ownerId: string, limits: readonly Quota[]): Promise<QuotaUse[]> {
    if (limits.length === 0) return [];
    const nowMs = this.#options.nowMs();
    const states = await this.#options.store.quotasOf(owner, ownerId);
    return limits.map(({ period, model }) => {
      const state = states.find((one) => one.period === period && one.model === model && nowMs < one.endMs);
      return useOf({ period, model }, state);
    });
  }

  async #take(
    accountId: string,
    subjects: readonly QuotaSubject[],
    dayStart: DayStart,
    { tokens, nanos, leastNanos }: QuotaNeed,
  ): Promise<QuotaGrant> {
    const nowMs = Math.floor(this.#options.nowMs());
    const claims = subjects.map((subject) => claimOf(subject, dayStart, nowMs));
    const needed = { requests: 1n, tokens: BigInt(Math.ceil(tokens)), nanos };
    const change: QuotaTake = { kind: "take", claims, ...needed, leastNanos, nowMs };
    const result = await this.#enqueue(accountId, change).catch((cause: unknown) => {
      throw cause instanceof GatewayError ? cause : new GatewayError("ERROR_REASON_LEDGER_UNAVAILABLE", {}, { cause });
    });
    if (result.kind === "refused") throw quotaRefusal(result, { ...needed, nanos: leastNanos }, nowMs);
    if (result.kind !== "taken") throw new GatewayError("ERROR_REASON_INTERNAL", {}, { cause: result });
    const taken = { ...needed, nanos: result.nanos };
    const { states } = result;
    const correct = (counts: QuotaCounts): void => this.#correct(accountId, states, counts);
    return new QuotaGrant(taken, warningOf(states, subjects), correct);
  }

  /** Resolves once nothing waits to be written. */
  async close(): Promise<void> {
    while (this.#writing.size > 0) await Promise.all(this.#writing);
  }

  #correct(accountId: string, windows: readonly QuotaState[], counts: QuotaCounts): void {
    this.#enqueue(accountId, { kind: "correct", windows, ...counts }).catch(this.#options.onLost);
  }

  #enqueue(accountId: string, change: QuotaChange): Promise<QuotaResult> {
    return new Promise((resolve, reject) => {
      const waiting = this.#waiting.get(accountId);
      if (waiting !== undefined && waiting.length >= WAITING_MAX)
        throw new GatewayError("ERROR_REASON_OVERLOADED", { problem: "too many requests wait for quotas" });
      if (waiting !== undefined) {
        waiting.push({ change, resolve, reject });
        return;
      }
      this.#waiting.set(accountId, [{ change, resolve, reject }]);
      const writing = this.#write(accountId).finally(() => this.#writing.delete(writing));
      this.#writing.add(writing);
    });
  }

  async #write(accountId: string): Promise<void> {
    const waiting = this.#waiting.get(accountId) ?? [];
    while (waiting.length > 0) {
      const batch = waiting.splice(0, CHANGES_AT_ONCE);
      try {
        const changes = batch.map(({ change }) => change);
        const results = await this.#options.store.changeQuotas(accountId, changes);
        for (const [place, result] of results.entries()) batch[place]?.resolve(result);
      } catch (error) {
        // It is not known whether the database has it. To send it again might give back twice.
        for (const { reject } of batch) reject(error);
      }
    }
    this.#waiting.delete(accountId);
  }

  #quotasOf(caller: QuotaCaller): CallerQuotas {
    let found = this.#callers.get(caller);
    if (found === undefined) this.#callers.set(caller, (found = quotasOf(caller)));
    return found;
  }
}

/** A request as its quotas count it, until it ends. */
export class QuotaGrant {
  #isSettled = false;

  constructor(
    private readonly taken: QuotaCounts,
    /** What the header `x-tollgate-quota` says; undefined where no quota warns. */
    readonly warning: string | undefined,
    private readonly correct: (counts: QuotaCounts) => void,
  ) {}

  /** The most money that the request may cost. */
  get nanos(): bigint {
    return this.taken.nanos;
  }

  /** Counts what the request used in place of what it could use. A second call changes nothing. */
  settle(used: { readonly tokens: number; readonly nanos: bigint; readonly isCounted: boolean }): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    const { requests, tokens, nanos } = this.taken;
    const change = {
      requests: (used.isCounted ? 1n : 0n) - requests,
      tokens: BigInt(Math.ceil(used.tokens)) - tokens,
      nanos: used.nanos - nanos,
    };
    if (change.requests !== 0n || change.tokens !== 0n || change.nanos !== 0n) this.correct(change);
  }

  /** Counts nothing: the request did not start. */
  giveBack(): void {
    this.settle({ tokens: 0, nanos: 0n, isCounted: false });
  }
}

function claimOf({ owner, ownerId, quota }: QuotaSubject, dayStart: DayStart, nowMs: number): QuotaClaim {
  const { period, model, requests, tokens, amountNanos } = quota;
  const limits = { requests, tokens, nanos: amountNanos };
  return { owner, ownerId, period, model, limits, ...quotaWindow(period, nowMs, dayStart) };
}

/** Without a state no window is open, and nothing is used. */
function useOf(name: Pick<Quota, "period" | "model">, state: QuotaState | undefined): QuotaUse {
  if (state === undefined)
    return { ...name, requests: 0n, tokens: 0n, amountNanos: 0n, startTime: undefined, resetTime: undefined };
  const { requests, tokens, nanos: amountNanos, startMs, endMs } = state;
  const resetTime = isEndless(endMs) ? undefined : new Date(endMs);
  return { ...name, requests, tokens, amountNanos, startTime: new Date(startMs), resetTime };
}

/** The quotas of a caller: those of its key, of the keys that created it, and of its account. */
function quotasOf(caller: QuotaCaller): CallerQuotas {
  const subjects: QuotaSubject[] = [];
  for (let key: QuotaCaller | undefined = caller; key !== undefined; key = key.maker)
    for (const quota of key.quotas ?? []) subjects.push({ owner: "key", ownerId: key.keyId, quota });
  const account = caller.accountLimits?.quotas;
  for (const quota of account?.limits ?? []) subjects.push({ owner: "account", ownerId: caller.accountId, quota });
  return subjects.length === 0 ? NO_QUOTAS : { subjects, dayStart: account?.dayStart ?? UTC };
}
