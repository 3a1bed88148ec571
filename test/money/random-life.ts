/** An endless random life of a ledger from one seed: what two nodes, five keys and a jumping clock could do next. */
import { UsageSource } from "../../src/api/index.js";
import type {
  HoldOperation,
  KeyBudget,
  MoneyLeaseOperation,
  LedgerOperation,
  ReserveOperation,
} from "../../src/ledger/operation.js";
import { checkpointOf, creditOf, holdOf, settleOf, usage, voidOf } from "../ledger/operations.js";
import type { CreditLine } from "../../src/ledger/rows.js";
import { makersOf } from "./key-line.js";
import type { Limits } from "./running-budgets.js";
import { TEST_ACT } from "../support/acts.js";

export const LIFE_ACCOUNTS = ["acme", "other", "third"] as const;
/** How far back a life still names its requests. */
export const REACH = 250;
/** Shortly before a new month. */
const START_MS = Date.UTC(2026, 10, 30, 23, 58);
const OPEN_MAX = 150;

/** Numbers from 0 to below 1, the same for the same seed (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Of one node among others: its ids are its own, and keys are one account's, whose lock covers their counters. */
export interface NodeLife {
  readonly nodeId: string;
}

export class RandomLife {
  readonly #random: () => number;
  readonly #own: NodeLife | undefined;
  #nowMs = START_MS;
  #made = 0;
  #credits = 0;
  #refunds = 0;
  #debits = 0;
  readonly #leases: Omit<MoneyLeaseOperation, "kind" | "nowMs">[] = [];
  readonly #jobs: ReserveOperation[] = [];

  constructor(random: () => number, own?: NodeLife) {
    this.#random = random;
    this.#own = own;
  }

  get #prefix(): string {
    return this.#own === undefined ? "" : `${this.#own.nodeId}-`;
  }

  whole(below: number): number {
    return Math.floor(this.#random() * below);
  }

  /** New budgets of an account; zero is none. */
  limits(): Limits {
    const some = (most: number): bigint => (this.whole(2) === 0 ? 0n : BigInt(this.whole(most)));
    const wide = { week: some(8_000), quarter: some(50_000) };
    return { day: some(2_000), month: some(20_000), total: 0n, request: some(60), ...wide };
  }

  /** A credit line of an account, or none. */
  line(): CreditLine | undefined {
    const periods = ["day", "week", "month", "quarter"] as const;
    const period = periods[this.whole(8)];
    return period && { amountNanos: BigInt(1 + this.whole(5_000)), period };
  }

  /** The next operation, where so many holds are open. */
  next(openCount: number): LedgerOperation {
    this.#nowMs += this.#advanceMs();
    const roll = this.whole(1_000);
    if (openCount > OPEN_MAX) return roll < 950 || this.#own !== undefined ? this.#settle() : this.#recover();
    if (this.#own !== undefined && roll < 130) return this.#settle();
    if (roll < 35) return this.#lease();
    if (roll < 50) return { kind: "return", leaseId: this.#leased().leaseId, nowMs: this.#nowMs };
    if (roll < 51) return { kind: "recall", accountId: this.#account(), nowMs: this.#nowMs };
    if (roll < 53) return this.#lateSettle();
    if (roll < 130) return this.#leasedHold();
    if (roll < 145) return this.#reserve();
    if (roll < 190) return this.#line();
    if (roll < 194) return { kind: "return", leaseId: this.#job().jobId, nowMs: this.#nowMs };
    if (roll < 360) return this.#hold();
    if (roll < 780) return this.#settle();
    if (roll < 870) return this.#checkpoint();
    if (roll < 940) return this.#credit();
    if (roll < 955) return this.#refund();
    if (roll < 960) return this.#debit();
    if (roll < 965) return { kind: "renew", accountId: this.#known(), nowMs: this.#nowMs };
    if (this.#own !== undefined) return this.#hold();
    return roll < 997 ? this.#beat() : this.#recover();
  }

  /** The clock stands, goes, and now and then leaps or jumps back. */
  #advanceMs(): number {
    const roll = this.whole(2_000);
    if (roll > 10) return this.whole(4);
    return [16_000, 130_000, -20_000, -90_000, 3_600_000, 86_400_000][roll] ?? 1_000;
  }

  #node(): string {
    return this.#own?.nodeId ?? `node_${this.whole(2) + 1}`;
  }

  /** One of the last requests, or now and then one that does not exist. */
  #requestId(): string {
    return `${this.#prefix}r${this.#made + 1 - this.whole(Math.min(REACH, this.#made + 1))}`;
  }

  #account(): string {
    return this.whole(200) === 0 ? "nobody" : this.#known();
  }

  #known(): string {
    return LIFE_ACCOUNTS[this.whole(LIFE_ACCOUNTS.length)] ?? "acme";
  }

  #hold(): LedgerOperation {
    const again = this.whole(40) === 0;
    if (!again) this.#made += 1;
    const amountNanos = BigInt(this.whole(this.whole(10) === 0 ? 1_000 : 40));
    const share = BigInt(this.whole(3));
    return holdOf({
      ...this.#owner(),
      requestId: again ? this.#requestId() : `${this.#prefix}r${this.#made}`,
      nodeId: this.#node(),
      amountNanos,
      leastNanos: (amountNanos * share) / 2n,
      nowMs: this.#nowMs,
      expireTimeMs: this.#nowMs + 1 + this.whole(120_000),
    });
  }

  #owner(): Pick<HoldOperation, "accountId" | "keyId" | "budgets"> {
    const accountId = this.#account();
    const keyId = `${this.#own === undefined ? "" : `${accountId}/`}key_${this.whole(5)}`;
    const budgets: KeyBudget[] = [];
    for (const makerId of [undefined, ...makersOf(keyId)]) {
      if (this.whole(3) === 0) budgets.push({ period: "day", limitNanos: BigInt(this.whole(3_000)), makerId });
      if (this.whole(6) === 0) budgets.push({ period: "week", limitNanos: BigInt(this.whole(12_000)), makerId });
      if (this.whole(6) === 0) budgets.push({ period: "month", limitNanos: BigInt(this.whole(30_000)), makerId });
      if (this.whole(9) === 0) budgets.push({ period: "quarter", limitNanos: BigInt(this.whole(80_000)), makerId });
      if (this.whole(20) === 0) budgets.push({ period: "total", limitNanos: BigInt(this.whole(100_000)), makerId });
    }
    return { accountId, keyId, budgets };
  }

  /** Small requests, so that now and then there is enough for so many of them. */
  #lease(): LedgerOperation {
    // As with real ids, what comes later need not be sorted behind.
    const number = this.#leases.length + 1;
    const leaseId = `l${number % 7}_${number}`;
    const { keyId, budgets, accountId, nodeId } = holdOf({ ...this.#owner(), nodeId: this.#node() });
    const requestNanos = BigInt(this.whole(3));
    const lease = { leaseId, nodeId, accountId, keyId, budgets, requestNanos, amountNanos: BigInt(this.whole(60)) };
    this.#leases.push(lease);
    return { kind: "lease", ...lease, nowMs: this.#nowMs };
  }

  /** One of the last leases; the first of all where there is none yet. */
  #leased(): Omit<MoneyLeaseOperation, "kind" | "nowMs"> {
    const found = this.#leases[this.#leases.length - 1 - this.whole(Math.min(8, this.#leases.length))];
    const none = { leaseId: "l0", nodeId: "node_1", accountId: "acme", keyId: "key_0", budgets: [] };
    return found ?? { ...none, requestNanos: 1n, amountNanos: 1n };
  }

  /** Mostly by the node and key of the lease, and small enough. */
  #leasedHold(): LedgerOperation {
    const { leaseId, nodeId, accountId, keyId, budgets } = this.#leased();
    this.#made += 1;
    const amountNanos = BigInt(this.whole(6));
    const who = { accountId, keyId, budgets, nodeId: this.whole(20) === 0 ? this.#node() : nodeId };
    const times = { nowMs: this.#nowMs, expireTimeMs: this.#nowMs + 60_000 };
    return holdOf({ requestId: `r${this.#made}`, leaseId, amountNanos, leastNanos: amountNanos, ...who, ...times });
  }

  #reserve(): LedgerOperation {
    const { keyId, budgets, accountId } = holdOf(this.#owner());
    const jobId = `${this.#prefix}j${this.#jobs.length + 1}`;
    const amountNanos = BigInt(this.whole(this.whole(10) === 0 ? 2_000 : 40));
    const who = { jobId, accountId, keyId, budgets };
    const job: ReserveOperation = { kind: "reserve", ...who, amountNanos, nowMs: this.#nowMs };
    // Now and then once more, by the same or for another.
    const again = this.whole(20) === 0 ? this.#job() : job;
    if (again === job) this.#jobs.push(job);
    const other = this.whole(40) === 0 ? { keyId, budgets } : {};
    return { ...again, ...other, nowMs: this.#nowMs };
  }

  /** One of the last jobs; the first of all where there is none yet. */
  #job(): ReserveOperation {
    const found = this.#jobs[this.#jobs.length - 1 - this.whole(Math.min(4, this.#jobs.length))];
    const none = { jobId: "j0", accountId: "acme", keyId: "key_0", budgets: [] };
    return found ?? { kind: "reserve", ...none, amountNanos: 1n, nowMs: this.#nowMs };
  }

  /** One line of a job, new or once more, within its bound or above it. */
  #line(): LedgerOperation {
    const { jobId, accountId, keyId, budgets } = this.#job();
    const { model, price, nodeId } = holdOf({});
    const times = { createTimeMs: this.#nowMs, expireTimeMs: this.#nowMs + 60_000 };
    const who = { accountId, keyId: this.whole(40) === 0 ? "key_0" : keyId, budgets, nodeId };
    const terms = { ...who, model, price, ...times, jobId, amountNanos: BigInt(this.whole(30)) };
    const given = { requestId: `${jobId}:${this.whole(8)}`, nowMs: this.#nowMs, terms };
    return this.whole(6) === 0 ? voidOf(given) : settleOf({ ...given, costNanos: BigInt(this.whole(40)) });
  }

  /** The settlement of a request whose hold was lost. */
  #lateSettle(): LedgerOperation {
    this.#made += 1;
    const { accountId, keyId, budgets, nodeId, model, price } = holdOf({ ...this.#owner(), nodeId: this.#node() });
    const times = { createTimeMs: this.#nowMs, expireTimeMs: this.#nowMs + 60_000 };
    const terms = { accountId, keyId, budgets, nodeId, model, price, ...times, amountNanos: BigInt(this.whole(40)) };
    const given = { requestId: `r${this.#made}`, nowMs: this.#nowMs, terms };
    return this.whole(6) === 0 ? voidOf(given) : settleOf({ ...given, costNanos: BigInt(this.whole(60)) });
  }

  #settle(): LedgerOperation {
    const requestId = this.#requestId();
    const nowMs = this.#nowMs;
    if (this.whole(6) === 0) return voidOf({ requestId, nowMs });
    const usageSource = this.whole(2) === 0 ? UsageSource.USAGE_SOURCE_REPORTED : UsageSource.USAGE_SOURCE_COUNTED;
    return settleOf({ requestId, costNanos: BigInt(this.whole(60)), usageSource, nowMs });
  }

  #checkpoint(): LedgerOperation {
    const [costNanos, tokens] = [BigInt(this.whole(20)), BigInt(this.whole(20))];
    return checkpointOf({ requestId: this.#requestId(), costNanos, usage: usage(tokens), nowMs: this.#nowMs });
  }

  #credit(): LedgerOperation {
    const again = this.#credits > 0 && this.whole(4) === 0;
    if (!again) this.#credits += 1;
    const creditId = `${this.#prefix}c${again ? 1 + this.whole(this.#credits) : this.#credits}`;
    return creditOf(BigInt(this.whole(60)), { creditId, accountId: this.#account(), nowMs: this.#nowMs });
  }

  #refund(): LedgerOperation {
    const again = this.#refunds > 0 && this.whole(4) === 0;
    if (!again) this.#refunds += 1;
    const refundId = `${this.#prefix}f${again ? 1 + this.whole(this.#refunds) : this.#refunds}`;
    const amountNanos = BigInt(this.whole(3) === 0 ? 0 : this.whole(30));
    const note = { reason: "the answer was cut", actor: "key_op" };
    return {
      kind: "refund",
      refundId,
      requestId: this.#requestId(),
      amountNanos,
      nowMs: this.#nowMs,
      act: TEST_ACT,
      ...note,
    };
  }

  #debit(): LedgerOperation {
    const again = this.#debits > 0 && this.whole(4) === 0;
    if (!again) this.#debits += 1;
    const debitId = `${this.#prefix}d${again ? 1 + this.whole(this.#debits) : this.#debits}`;
    const [accountId, amountNanos] = [this.#account(), BigInt(1 + this.whole(60))];
    const note = { reason: "never paid", actor: "key_op" };
    return { kind: "debit", debitId, accountId, amountNanos, nowMs: this.#nowMs, act: TEST_ACT, ...note };
  }

  #beat(): LedgerOperation {
    const isFirst = this.whole(3) === 0 ? false : undefined;
    return { kind: "beat", nodeId: this.#node(), nowMs: this.#nowMs, isLast: this.whole(6) === 0, isFirst };
  }

  #recover(): LedgerOperation {
    const silent = this.whole(2) === 0 ? [] : [{ nodeId: this.#node(), beats: 1 + this.whole(8) }];
    return { kind: "recover", nodeId: this.#node(), nowMs: this.#nowMs, silent, live: this.#live() };
  }

  /** Some of the last requests, where a node is in doubt of its own. */
  #live(): ReadonlySet<string> | undefined {
    if (this.whole(2) === 0) return undefined;
    return new Set(Array.from({ length: this.whole(REACH) }, () => this.#requestId()));
  }
}
