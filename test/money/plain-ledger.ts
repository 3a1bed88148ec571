/** The ledger as plainly as it can be said: requests in a list, and every sum counted anew from them. */
import {
  type BeatOperation,
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
import { PlainLines } from "./plain-line.js";
import { periodOf } from "./plain-periods.js";

interface Request {
  readonly hold: HoldOperation;
  readonly granted: bigint;
  state: "held" | "settled" | "voided" | "expired";
  byRecovery: boolean;
  paid: bigint;
  refunded: bigint;
  overage: bigint;
  note: { cost: bigint; tokens: bigint };
}

export interface PlainBalance {
  readonly granted: bigint;
  readonly held: bigint;
  readonly spent: bigint;
}

const smaller = (a: bigint, b: bigint): bigint => (a < b ? a : b);

export class PlainLedger {
  readonly lines = new PlainLines();
  readonly #accounts: readonly string[];
  readonly #requests: Request[] = [];
  readonly #credits = new Map<string, { accountId: string; amount: bigint }>();
  readonly #refunds = new Map<string, { requestId: string; amount: bigint }>();
  readonly #debits = new Map<string, { accountId: string; taken: bigint; missing: bigint }>();
  readonly #beats = new Map<string, number>();
  /** What credit lines granted each account, without what they took back. */
  readonly #granted = new Map<string, bigint>();

  constructor(accounts: readonly string[]) {
    this.#accounts = accounts;
  }

  balance(accountId: string): PlainBalance {
    const mine = this.#requests.filter(({ hold }) => hold.accountId === accountId);
    const credits = [...this.#credits.values()].filter((credit) => credit.accountId === accountId);
    const debits = [...this.#debits.values()].filter((debit) => debit.accountId === accountId);
    return {
      granted:
        (this.#granted.get(accountId) ?? 0n) +
        credits.reduce((sum, { amount }) => sum + amount, 0n) +
        mine.reduce((sum, { refunded }) => sum + refunded, 0n) -
        debits.reduce((sum, { taken }) => sum + taken, 0n),
      held: mine.reduce((sum, { state, granted }) => sum + (state === "held" ? granted : 0n), 0n),
      spent: mine.reduce((sum, { paid }) => sum + paid, 0n),
    };
  }

  decide(operation: LedgerOperation): LedgerResult {
    switch (operation.kind) {
      case "hold":
        return this.#hold(operation);
      case "settle":
        return this.#settle(operation);
      case "checkpoint": {
        const request = this.#find(operation.requestId);
        if (request === undefined) return { kind: "refused", problem: "unknown_request" };
        const tokens = operation.usage.outputTokens;
        const newer = operation.costNanos >= request.note.cost && tokens >= request.note.tokens;
        if (request.state === "held" && newer) request.note = { cost: operation.costNanos, tokens };
        return { kind: "noted" };
      }
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
      // Its lives have no leases: those of `running-ledger.ts` have.
      case "renew":
        if (!this.#accounts.includes(operation.accountId)) return { kind: "refused", problem: "unknown_account" };
        this.#renew(operation.accountId, operation.nowMs);
        return { kind: "renewed" };
      case "lease":
      case "reserve":
      case "return":
      case "recall":
        throw new Error(`this ledger knows no ${operation.kind}`);
      default:
        return operation satisfies never;
    }
  }

  #find(requestId: string): Request | undefined {
    return this.#requests.find(({ hold }) => hold.requestId === requestId);
  }

  #available(accountId: string): bigint {
    const { granted, held, spent } = this.balance(accountId);
    return granted - held - spent;
  }

  #renew(accountId: string, nowMs: number): void {
    const { granted, held, spent } = this.balance(accountId);
    const moved = this.lines.renew(accountId, { posted: granted - spent, available: granted - spent - held }, nowMs);
    this.#granted.set(accountId, (this.#granted.get(accountId) ?? 0n) + moved);
  }

  #hold(hold: HoldOperation): LedgerResult {
    const known = this.#find(hold.requestId);
    if (known !== undefined) {
      const who = (one: HoldOperation): string => [one.accountId, one.keyId, one.nodeId, one.amountNanos].join(" ");
      const same = known.state === "held" && who(known.hold) === who(hold) && known.granted >= hold.leastNanos;
      return same ? { kind: "held", amountNanos: known.granted } : { kind: "refused", problem: "id_taken" };
    }
    if (!this.#accounts.includes(hold.accountId)) return { kind: "refused", problem: "unknown_account" };
    this.#renew(hold.accountId, hold.nowMs);
    const availableNanos = this.#available(hold.accountId);
    const neededNanos = hold.leastNanos;
    const short: Shortage[] = [];
    const { held: heldNanos } = this.balance(hold.accountId);
    if (availableNanos < neededNanos) short.push({ kind: "balance_too_low", availableNanos, heldNanos, neededNanos });
    let granted = smaller(availableNanos, hold.amountNanos);
    for (const { period, limitNanos, makerId } of hold.budgets) {
      const window = periodOf(period, hold.nowMs).startDay;
      const counted = this.#requests
        .filter((one) => [one.hold.keyId, ...makersOf(one.hold.keyId)].includes(makerId ?? hold.keyId))
        .filter((one) => periodOf(period, one.hold.nowMs).startDay === window);
      const spent = counted.reduce((sum, one) => sum + one.paid, 0n);
      const used = counted.reduce((sum, one) => sum + (one.state === "held" ? one.granted : 0n), spent);
      const remainingNanos = used > limitNanos ? 0n : limitNanos - used;
      const onceFree = spent > limitNanos ? 0n : limitNanos - spent;
      const heldHere = onceFree - remainingNanos;
      const said = { owner: "key", makerId, period, limitNanos, remainingNanos, heldNanos: heldHere } as const;
      if (remainingNanos < neededNanos) short.push({ kind: "budget_exceeded", ...said, neededNanos });
      granted = smaller(granted, remainingNanos);
    }
    // What no running call would mend by ending is said first.
    const [first] = [...short.filter((one) => !isHeldByOthers(one)), ...short];
    if (first !== undefined) return first;
    const note = { cost: 0n, tokens: 0n };
    this.#requests.push({ hold, granted, state: "held", byRecovery: false, paid: 0n, refunded: 0n, overage: 0n, note });
    return { kind: "held", amountNanos: granted };
  }

  #settle(settle: SettleOperation): LedgerResult {
    const request = this.#find(settle.requestId);
    if (request === undefined) return { kind: "refused", problem: "unknown_request" };
    const nothing = settle.usageSource === UsageSource.USAGE_SOURCE_NONE;
    const late = request.byRecovery && request.state !== "settled";
    const counts = request.state === "held" || (late && !nothing);
    if (counts && nothing) request.state = "voided";
    else if (counts) this.#charge(request, settle.costNanos);
    return { kind: "settled", chargedNanos: request.paid, overageNanos: request.overage, repeated: !counts };
  }

  #charge(request: Request, cost: bigint): void {
    const free = this.#available(request.hold.accountId) + (request.state === "held" ? request.granted : 0n);
    request.paid = smaller(cost, free);
    request.overage = cost - request.paid;
    request.state = "settled";
    this.lines.charge(request.hold.accountId, request.paid);
  }

  #credit(creditId: string, accountId: string, amount: bigint): LedgerResult {
    if (!this.#accounts.includes(accountId)) return { kind: "refused", problem: "unknown_account" };
    const known = this.#credits.get(creditId);
    const same = known === undefined || (known.accountId === accountId && known.amount === amount);
    if (!same) return { kind: "refused", problem: "id_taken" };
    this.#credits.set(creditId, { accountId, amount });
    return { kind: "credited", availableNanos: this.#available(accountId), repeated: known !== undefined };
  }

  #refund({ refundId, requestId, amountNanos: wanted }: RefundOperation): LedgerResult {
    const request = this.#find(requestId);
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
    const availableNanos = this.#available(request.hold.accountId);
    return { kind: "refunded", amountNanos: amount, availableNanos, repeated: false };
  }

  #debit({ debitId, accountId, amountNanos }: DebitOperation): LedgerResult {
    if (!this.#accounts.includes(accountId)) return { kind: "refused", problem: "unknown_account" };
    const known = this.#debits.get(debitId);
    const same = known === undefined || (known.accountId === accountId && known.taken + known.missing === amountNanos);
    if (!same) return { kind: "refused", problem: "id_taken" };
    const taken = known?.taken ?? smaller(amountNanos, this.#available(accountId));
    const missing = amountNanos - taken;
    if (known === undefined) this.#take(debitId, { accountId, taken, missing });
    const availableNanos = this.#available(accountId);
    const repeated = known !== undefined;
    return { kind: "debited", debitedNanos: taken, receivableNanos: missing, availableNanos, repeated };
  }

  #take(debitId: string, debit: { accountId: string; taken: bigint; missing: bigint }): void {
    this.#debits.set(debitId, debit);
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
    for (const request of this.#requests.filter(({ state }) => state === "held")) {
      const { requestId, nodeId: holder } = request.hold;
      const own = holder === nodeId;
      if (own ? (live?.has(requestId) ?? true) : lives(holder)) continue;
      request.byRecovery = true;
      if (request.note.cost > 0n || request.note.tokens > 0n) {
        this.#charge(request, request.note.cost);
        settled += 1;
      } else {
        request.state = own ? "expired" : "voided";
        voided += 1;
      }
    }
    for (const node of this.#beats.keys())
      if (!lives(node) && silent.some((seen) => seen.nodeId === node)) this.#beats.delete(node);
    return { kind: "recovered", settled, voided };
  }
}
