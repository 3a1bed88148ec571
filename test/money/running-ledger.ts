/**
 * The ledger once more, with running sums instead of recounts, so that a million operations can be compared one by one.
 * It knows neither transfers nor rows nor batches.
 */
import {
  type BeatOperation,
  type CheckpointOperation,
  type DebitOperation,
  type HoldOperation,
  isHeldByOthers,
  type LedgerOperation,
  type LedgerResult,
  type RecoverOperation,
  type RefundOperation,
  type SettleOperation,
  type Shortage,
} from "../../src/ledger/operation.js";
import { UsageSource } from "../../src/api/index.js";
import { makersOf } from "./key-line.js";

export interface Limits {
  readonly day: bigint;
  readonly month: bigint;
  readonly total: bigint;
  readonly request: bigint;
}

export interface Sums {
  granted: bigint;
  held: bigint;
  spent: bigint;
}

interface Request {
  readonly hold: HoldOperation;
  readonly granted: bigint;
  /** What counts it. */
  readonly names: readonly string[];
  state: "held" | "settled" | "voided" | "expired";
  byRecovery: boolean;
  paid: bigint;
  refunded: bigint;
  overage: bigint;
  noteCost: bigint;
  noteTokens: bigint;
}

const LENGTHS = { day: 10, month: 7, total: 0 } as const;
const PERIODS = ["day", "month", "total"] as const;
const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);

const days = new Map<number, string>();

function dayOf(timeMs: number): string {
  const number = Math.floor(timeMs / 86_400_000);
  const known = days.get(number) ?? new Date(timeMs).toISOString().slice(0, 10);
  days.set(number, known);
  return known;
}

export class RunningLedger {
  readonly accounts = new Map<string, Sums>();
  readonly limits = new Map<string, Limits>();
  /** What the operator paid. */
  overage = 0n;
  readonly open = new Map<string, Request>();
  readonly #requests = new Map<string, Request>();
  readonly #credits = new Map<string, { readonly accountId: string; readonly amount: bigint }>();
  readonly #refunds = new Map<string, { requestId: string; amount: bigint }>();
  readonly #debits = new Map<string, { accountId: string; taken: bigint; missing: bigint }>();
  readonly #beats = new Map<string, number>();
  /** Held and spent together, by owner, period and bucket. */
  readonly #used = new Map<string, bigint>();
  /** What of that is spent. */
  readonly #spent = new Map<string, bigint>();
  readonly #windowMax: number;

  /** Requests that ended are forgotten once so many came after them. */
  constructor(accounts: readonly string[], windowMax: number) {
    for (const id of accounts) this.accounts.set(id, { granted: 0n, held: 0n, spent: 0n });
    this.#windowMax = windowMax;
  }

  /** A start of the process ends all leases: nobody else can be alive. */
  restart(): void {
    this.#beats.clear();
  }

  decide(operation: LedgerOperation): LedgerResult {
    switch (operation.kind) {
      case "hold":
        return this.#hold(operation);
      case "settle":
        return this.#settle(operation);
      case "checkpoint":
        return this.#checkpoint(operation);
      case "credit":
        return this.#credit(operation.creditId, operation.accountId, operation.amountNanos);
      case "refund":
        return this.#refund(operation);
      case "debit":
        return this.#debit(operation);
      case "beat":
        return this.#beat(operation);
      case "recover":
        return this.#recover(operation);
      default:
        return operation satisfies never;
    }
  }

  #hold(hold: HoldOperation): LedgerResult {
    const known = this.#requests.get(hold.requestId);
    if (known !== undefined) {
      const who = (one: HoldOperation): string => [one.accountId, one.keyId, one.nodeId, one.amountNanos].join(" ");
      const same = known.state === "held" && who(known.hold) === who(hold) && known.granted >= hold.leastNanos;
      return same ? { kind: "held", amountNanos: known.granted } : { kind: "refused", problem: "id_taken" };
    }
    const sums = this.accounts.get(hold.accountId);
    if (sums === undefined) return { kind: "refused", problem: "unknown_account" };
    const { leastNanos: neededNanos } = hold;
    const availableNanos = sums.granted - sums.held - sums.spent;
    let passing: Shortage | undefined;
    if (availableNanos < neededNanos) {
      passing = { kind: "balance_too_low", availableNanos, heldNanos: sums.held, neededNanos };
      if (!isHeldByOthers(passing)) return passing;
    }
    let granted = least(availableNanos, hold.amountNanos);
    for (const limit of this.#limitsOf(hold)) {
      const { owner, makerId, period, limitNanos, used, spent } = limit;
      const remainingNanos = used > limitNanos ? 0n : limitNanos - used;
      if (remainingNanos < neededNanos) {
        const heldNanos = (spent > limitNanos ? 0n : limitNanos - spent) - remainingNanos;
        const said = { owner, makerId, period, limitNanos, remainingNanos, heldNanos, neededNanos };
        const short: Shortage = { kind: "budget_exceeded", ...said };
        if (!isHeldByOthers(short)) return short;
        passing ??= short;
      }
      granted = least(granted, remainingNanos);
    }
    if (passing !== undefined) return passing;
    const none = { byRecovery: false, paid: 0n, refunded: 0n, overage: 0n, noteCost: 0n, noteTokens: 0n };
    const request: Request = { hold, granted, names: this.#namesOf(hold), state: "held", ...none };
    this.#requests.set(hold.requestId, request);
    this.open.set(hold.requestId, request);
    sums.held += granted;
    this.#use(request, granted);
    this.#forget();
    return { kind: "held", amountNanos: granted };
  }

  *#limitsOf(hold: HoldOperation) {
    for (const { period, limitNanos, makerId } of hold.budgets) {
      const used = this.#usedOf("key", makerId ?? hold.keyId, hold, period);
      yield { owner: "key" as const, makerId, period, limitNanos, ...used };
    }
    const limits = this.limits.get(hold.accountId);
    if (limits === undefined) return;
    const account = { owner: "account", makerId: undefined } as const;
    if (limits.request > 0n)
      yield { ...account, period: "request" as const, limitNanos: limits.request, used: 0n, spent: 0n };
    for (const period of PERIODS)
      if (limits[period] > 0n)
        yield {
          ...account,
          period,
          limitNanos: limits[period],
          ...this.#usedOf("account", hold.accountId, hold, period),
        };
  }

  #name(owner: "key" | "account", id: string, hold: HoldOperation, period: keyof typeof LENGTHS): string {
    return `${owner} ${id} ${dayOf(hold.nowMs).slice(0, LENGTHS[period])}`;
  }

  #namesOf(hold: HoldOperation): string[] {
    const names = PERIODS.map((period) => this.#name("account", hold.accountId, hold, period));
    for (const id of [hold.keyId, ...makersOf(hold.keyId)])
      for (const period of PERIODS) names.push(this.#name("key", id, hold, period));
    return names;
  }

  #usedOf(owner: "key" | "account", id: string, hold: HoldOperation, period: keyof typeof LENGTHS) {
    const name = this.#name(owner, id, hold, period);
    return { used: this.#used.get(name) ?? 0n, spent: this.#spent.get(name) ?? 0n };
  }

  #use({ names }: Request, nanos: bigint): void {
    for (const name of names) this.#used.set(name, (this.#used.get(name) ?? 0n) + nanos);
  }

  #checkpoint({ requestId, costNanos, usage }: CheckpointOperation): LedgerResult {
    const request = this.#requests.get(requestId);
    if (request === undefined) return { kind: "refused", problem: "unknown_request" };
    const tokens = usage.outputTokens;
    if (request.state !== "held" || costNanos < request.noteCost || tokens < request.noteTokens)
      return { kind: "noted" };
    request.noteCost = costNanos;
    request.noteTokens = tokens;
    return { kind: "noted" };
  }

  #settle(settle: SettleOperation): LedgerResult {
    const request = this.#requests.get(settle.requestId);
    if (request === undefined) return { kind: "refused", problem: "unknown_request" };
    const nothing = settle.usageSource === UsageSource.USAGE_SOURCE_NONE;
    const late = request.byRecovery && request.state !== "settled";
    const counts = request.state === "held" || (late && !nothing);
    if (counts && nothing) this.#free(request, "voided");
    else if (counts) this.#charge(request, settle.costNanos);
    return { kind: "settled", chargedNanos: request.paid, overageNanos: request.overage, repeated: !counts };
  }

  #free(request: Request, state: "voided" | "expired"): void {
    this.accounts.get(request.hold.accountId)!.held -= request.granted;
    this.#use(request, -request.granted);
    this.open.delete(request.hold.requestId);
    request.state = state;
  }

  #charge(request: Request, cost: bigint): void {
    if (request.state === "held") this.#free(request, "voided");
    const sums = this.accounts.get(request.hold.accountId)!;
    request.paid = least(cost, sums.granted - sums.held - sums.spent);
    request.overage = cost - request.paid;
    request.state = "settled";
    sums.spent += request.paid;
    this.overage += request.overage;
    this.#use(request, request.paid);
    for (const name of request.names) this.#spent.set(name, (this.#spent.get(name) ?? 0n) + request.paid);
  }

  #credit(creditId: string, accountId: string, amount: bigint): LedgerResult {
    const sums = this.accounts.get(accountId);
    if (sums === undefined) return { kind: "refused", problem: "unknown_account" };
    const known = this.#credits.get(creditId);
    const same = known === undefined || (known.accountId === accountId && known.amount === amount);
    if (!same) return { kind: "refused", problem: "id_taken" };
    if (known === undefined) {
      this.#credits.set(creditId, { accountId, amount });
      sums.granted += amount;
    }
    const availableNanos = sums.granted - sums.held - sums.spent;
    return { kind: "credited", availableNanos, repeated: known !== undefined };
  }

  #available(accountId: string): bigint {
    const sums = this.accounts.get(accountId)!;
    return sums.granted - sums.held - sums.spent;
  }

  #refund({ refundId, requestId, amountNanos: wanted }: RefundOperation): LedgerResult {
    const request = this.#requests.get(requestId);
    if (request === undefined) return { kind: "refused", problem: "unknown_request" };
    const known = this.#refunds.get(refundId);
    if (known !== undefined) {
      const same = known.requestId === requestId && (wanted === 0n || wanted === known.amount);
      if (!same) return { kind: "refused", problem: "id_taken" };
      const availableNanos = this.#available(request.hold.accountId);
      return { kind: "refunded", amountNanos: known.amount, availableNanos, repeated: true };
    }
    const refundableNanos = request.paid - request.refunded;
    const amount = wanted === 0n ? refundableNanos : wanted;
    if (amount === 0n || amount > refundableNanos) return { kind: "refund_too_high", refundableNanos };
    this.#refunds.set(refundId, { requestId, amount });
    request.refunded += amount;
    this.accounts.get(request.hold.accountId)!.granted += amount;
    const availableNanos = this.#available(request.hold.accountId);
    return { kind: "refunded", amountNanos: amount, availableNanos, repeated: false };
  }

  #debit({ debitId, accountId, amountNanos }: DebitOperation): LedgerResult {
    if (!this.accounts.has(accountId)) return { kind: "refused", problem: "unknown_account" };
    const known = this.#debits.get(debitId);
    const same = known === undefined || (known.accountId === accountId && known.taken + known.missing === amountNanos);
    if (!same) return { kind: "refused", problem: "id_taken" };
    const taken = known?.taken ?? least(amountNanos, this.#available(accountId));
    const missing = amountNanos - taken;
    if (known === undefined) this.#take(debitId, { accountId, taken, missing });
    const availableNanos = this.#available(accountId);
    const repeated = known !== undefined;
    return { kind: "debited", debitedNanos: taken, receivableNanos: missing, availableNanos, repeated };
  }

  #take(debitId: string, debit: { accountId: string; taken: bigint; missing: bigint }): void {
    this.#debits.set(debitId, debit);
    this.accounts.get(debit.accountId)!.granted -= debit.taken;
  }

  #beat({ nodeId, isLast }: BeatOperation): LedgerResult {
    const beats = (this.#beats.get(nodeId) ?? 0) + 1;
    if (isLast) this.#beats.delete(nodeId);
    else this.#beats.set(nodeId, beats);
    const others = [...this.#beats].filter(([other]) => other !== nodeId);
    return { kind: "beaten", others: others.map(([other, count]) => ({ nodeId: other, beats: count })) };
  }

  #recover({ nodeId, silent, live }: RecoverOperation): LedgerResult {
    const lives = (node: string): boolean => {
      const beats = this.#beats.get(node);
      return beats !== undefined && !silent.some((seen) => seen.nodeId === node && seen.beats === beats);
    };
    let [settled, voided] = [0, 0];
    for (const request of this.open.values()) {
      const { requestId, nodeId: holder } = request.hold;
      const own = holder === nodeId;
      if (own ? (live?.has(requestId) ?? true) : lives(holder)) continue;
      request.byRecovery = true;
      if (request.noteCost > 0n || request.noteTokens > 0n) {
        this.#charge(request, request.noteCost);
        settled += 1;
      } else {
        this.#free(request, own ? "expired" : "voided");
        voided += 1;
      }
    }
    for (const node of this.#beats.keys())
      if (!lives(node) && silent.some((seen) => seen.nodeId === node)) this.#beats.delete(node);
    return { kind: "recovered", settled, voided };
  }

  #forget(): void {
    if (this.#requests.size <= this.#windowMax) return;
    for (const [requestId, { state }] of this.#requests) {
      if (this.#requests.size <= this.#windowMax) return;
      if (state === "held") return;
      this.#requests.delete(requestId);
    }
  }
}
