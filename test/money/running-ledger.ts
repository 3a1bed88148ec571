/** The ledger once more, with running sums in place of rows and batches, so that a million can be compared. */
import {
  type BeatOperation,
  type DebitOperation,
  type HoldOperation,
  type MoneyLeaseOperation,
  isHeldByOthers,
  type LedgerOperation,
  type LedgerResult,
  type RecoverOperation,
  type RefundOperation,
  type ReserveOperation,
  type SettleOperation,
  type Shortage,
} from "../../src/ledger/operation.js";
import { UsageSource } from "../../src/api/index.js";
import { PlainLines } from "./plain-line.js";
import { type Asked, type Lease, type Request, RunningBeats, type Sums } from "./running-rows.js";
import { checkpoint, isSameHold, recallAll, rests } from "./running-rows.js";
import { dayOf, least, type Limits, NO_MONEY, type Owner, RunningBudgets } from "./running-budgets.js";

export class RunningLedger {
  readonly accounts = new Map<string, Sums>();
  readonly lines = new PlainLines();
  /** What the operator paid. */
  overage = 0n;
  readonly open = new Map<string, Request>();
  readonly leases = new Map<string, Lease>();
  /** All that there ever were, by what each set aside. */
  readonly #jobs = new Map<string, bigint>();
  /** Accounts with too little for leases. */
  readonly #short = new Set<string>();
  readonly #requests = new Map<string, Request>();
  readonly #credits = new Map<string, { readonly accountId: string; readonly amount: bigint }>();
  readonly #refunds = new Map<string, { requestId: string; amount: bigint }>();
  readonly #debits = new Map<string, { accountId: string; taken: bigint; missing: bigint }>();
  readonly #beats = new RunningBeats();
  readonly #budgets = new RunningBudgets();
  readonly #windowMax: number;

  /** Requests that ended are forgotten once so many came after them. */
  constructor(accounts: readonly string[], windowMax: number) {
    for (const id of accounts) this.accounts.set(id, { granted: 0n, held: 0n, spent: 0n });
    this.#windowMax = windowMax;
  }

  /** What was granted under the old ones is asked back with the change. */
  changeLimits(accountId: string, limits: Limits): void {
    this.#budgets.limits.set(accountId, limits);
    recallAll(this.#leasesOf(accountId));
  }

  /** A start of the process ends all leases: nobody else can be alive. */
  restart = (): void => this.#beats.clear();

  decide(operation: LedgerOperation): LedgerResult {
    switch (operation.kind) {
      case "hold":
        return this.#hold(operation);
      case "settle":
        return this.#settle(operation);
      case "checkpoint":
        return checkpoint(this.#requests.get(operation.requestId), operation);
      case "credit":
        return this.#credit(operation.creditId, operation.accountId, operation.amountNanos);
      case "refund":
        return this.#refund(operation);
      case "debit":
        return this.#debit(operation);
      case "renew":
        this.#renew(operation);
        return { kind: "renewed" };
      case "lease":
        return this.#lease(operation);
      case "reserve":
        return this.#reserve(operation);
      case "return":
        return { kind: "returned", amountNanos: this.#giveBack(operation.leaseId) };
      case "recall":
        return { kind: "recalled", leases: recallAll(this.#leasesOf(operation.accountId)) };
      case "beat":
        return this.#beat(operation);
      case "recover":
        return this.#recover(operation);
      default:
        return operation satisfies never;
    }
  }

  #renew({ accountId, nowMs }: Pick<Owner, "accountId" | "nowMs">): void {
    this.lines.renewSums(accountId, this.accounts.get(accountId)!, rests(this.#leasesOf(accountId)), nowMs);
  }

  #hold(hold: HoldOperation): LedgerResult {
    const known = this.#requests.get(hold.requestId);
    if (known !== undefined) {
      return isSameHold(known, hold)
        ? { kind: "held", amountNanos: known.granted }
        : { kind: "refused", problem: "id_taken" };
    }
    const sums = this.accounts.get(hold.accountId);
    if (sums === undefined) return { kind: "refused", problem: "unknown_account" };
    const lease = hold.leaseId === undefined ? undefined : this.leases.get(hold.leaseId);
    if (hold.leaseId !== undefined) {
      const isOwn = lease?.nodeId === hold.nodeId && lease.accountId === hold.accountId && lease.keyId === hold.keyId;
      if (lease === undefined || !isOwn || lease.day !== dayOf(hold.nowMs) || lease.rest < hold.amountNanos)
        return { kind: "refused", problem: "lease_gone" };
      lease.rest -= hold.amountNanos;
      return this.#open(hold, hold.amountNanos, true);
    }
    this.#renew(hold);
    const granted = this.#exactly(hold);
    return typeof granted === "bigint" ? this.#open(hold, granted, false) : granted;
  }

  /** What is granted without a lease, or why nothing is. */
  #exactly(asked: Asked): bigint | LedgerResult {
    const leases = this.#leasesOf(asked.accountId);
    const granted = this.#grant(asked, []);
    if (granted === asked.amountNanos || leases.length === 0) return granted;
    // As if every lease were back.
    const whole = this.#grant(asked, leases);
    if (typeof whole !== "bigint") return whole;
    if (typeof granted === "bigint" && (granted === whole || leases.every(({ recalled }) => recalled))) return granted;
    this.#short.add(asked.accountId);
    const named = recallAll(leases.filter(({ recalled }) => !recalled));
    return { kind: "recalling", shortage: typeof granted === "bigint" ? NO_MONEY : granted, leases: named };
  }

  /** What a job sets aside is held, until its lines or its end take it. */
  #reserve(asked: ReserveOperation): LedgerResult {
    const { jobId: id, accountId, keyId, amountNanos, nowMs } = asked;
    const known = this.leases.get(id);
    const before = this.#jobs.get(id);
    if (before !== undefined) {
      const same = known?.accountId === accountId && known.keyId === keyId && before === amountNanos;
      return same ? { kind: "held", amountNanos } : { kind: "refused", problem: "id_taken" };
    }
    const sums = this.accounts.get(accountId);
    if (sums === undefined) return { kind: "refused", problem: "unknown_account" };
    this.#renew(asked);
    const rest = this.#exactly({ ...asked, leastNanos: amountNanos, isJob: true });
    if (typeof rest !== "bigint") return rest;
    const names = this.#budgets.namesOf(asked);
    this.#addLease({ id, nodeId: "job", accountId, keyId, nowMs }, names, rest);
    this.#jobs.set(id, amountNanos);
    sums.held += rest;
    return { kind: "held", amountNanos: rest };
  }

  #addLease(who: Omit<Lease, "day" | "names" | "rest" | "recalled">, names: readonly string[], rest: bigint): void {
    this.leases.set(who.id, { ...who, day: dayOf(who.nowMs), names, rest, recalled: false });
    this.#budgets.use({ names }, rest);
  }

  /** A line of a job is there once it is charged. */
  #line(settle: SettleOperation): LedgerResult {
    const { requestId, terms } = settle;
    const job = this.leases.get(terms?.jobId ?? "");
    if (terms === undefined || job?.nodeId !== "job" || job.accountId !== terms.accountId || job.keyId !== terms.keyId)
      return { kind: "refused", problem: "lease_gone" };
    const drawn = least(terms.amountNanos, job.rest);
    job.rest -= drawn;
    this.accounts.get(job.accountId)!.held -= drawn;
    this.#open({ ...terms, kind: "hold", requestId, leastNanos: 0n, nowMs: job.nowMs }, drawn, true);
    return this.#settle(settle);
  }

  /** What is free for a hold, as if these leases were back. */
  #grant(hold: Asked, back: readonly Lease[]): bigint | Shortage {
    const sums = this.accounts.get(hold.accountId)!;
    const { leastNanos: neededNanos } = hold;
    const leasedNanos = rests(this.#leasesOf(hold.accountId)) - rests(back);
    const availableNanos = this.#told(hold.accountId) - leasedNanos;
    let passing: Shortage | undefined;
    if (availableNanos < neededNanos) {
      passing = { kind: "balance_too_low", availableNanos, heldNanos: sums.held + leasedNanos, neededNanos };
      if (!isHeldByOthers(passing)) return passing;
    }
    let granted = least(availableNanos, hold.amountNanos);
    for (const limit of this.#budgets.limitsOf(hold)) {
      // A job is no request: its lines are.
      if (hold.isJob === true && limit.period === "request") continue;
      const { owner, makerId, period, limitNanos, spent, name } = limit;
      const used = limit.used - rests(back.filter(({ names }) => names.includes(name)));
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
    return passing ?? granted;
  }

  #open(hold: HoldOperation, granted: bigint, isLeased: boolean): LedgerResult {
    const none = { byRecovery: false, paid: 0n, refunded: 0n, overage: 0n, noteCost: 0n, noteTokens: 0n };
    const request: Request = { hold, granted, names: this.#budgets.namesOf(hold), state: "held", ...none };
    this.#requests.set(hold.requestId, request);
    this.open.set(hold.requestId, request);
    this.accounts.get(hold.accountId)!.held += granted;
    if (!isLeased) this.#budgets.use(request, granted);
    this.#forget();
    return { kind: "held", amountNanos: granted };
  }

  #settle(settle: SettleOperation): LedgerResult {
    const known = this.#requests.get(settle.requestId);
    if (known === undefined && settle.terms?.jobId !== undefined && this.accounts.has(settle.terms.accountId))
      return this.#line(settle);
    const request = known ?? this.#late(settle);
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
    this.#budgets.use(request, -request.granted);
    this.open.delete(request.hold.requestId);
    request.state = state;
  }

  #charge(request: Request, cost: bigint): void {
    if (request.state === "held") this.#free(request, "voided");
    const { accountId } = request.hold;
    const sums = this.accounts.get(accountId)!;
    const free = this.#available(accountId);
    request.paid = least(cost, request.most ?? free);
    request.overage = cost - request.paid;
    request.state = "settled";
    sums.spent += request.paid;
    this.lines.charge(accountId, request.paid);
    this.overage += request.overage;
    this.#budgets.use(request, request.paid);
    this.#budgets.spend(request, request.paid);
  }

  /** A request whose hold was lost on its way: held now, as far as its cost and what is free go. */
  #late({ requestId, terms, costNanos, usageSource }: SettleOperation): Request | undefined {
    if (terms === undefined || !this.accounts.has(terms.accountId)) return undefined;
    const { createTimeMs: nowMs, amountNanos } = terms;
    const isFree = usageSource === UsageSource.USAGE_SOURCE_NONE;
    const most = isFree ? 0n : least(least(costNanos, amountNanos), this.#spare(terms.accountId, { ...terms, nowMs }));
    this.#open({ ...terms, kind: "hold", requestId, leastNanos: 0n, nowMs }, most, false);
    const request = this.#requests.get(requestId);
    if (request !== undefined) request.most = most;
    return request;
  }

  #spare(accountId: string, owner: Owner): bigint {
    let free = this.#available(accountId);
    for (const { period, limitNanos, used } of this.#budgets.limitsOf(owner))
      if (period !== "request") free = least(free, used > limitNanos ? 0n : limitNanos - used);
    return free;
  }

  #leasesOf(accountId: string): Lease[] {
    return [...this.leases.values()].filter((lease) => lease.accountId === accountId && lease.nodeId !== "job");
  }

  #lease(asked: MoneyLeaseOperation): LedgerResult {
    const { leaseId: id, nodeId, accountId, keyId, amountNanos, requestNanos } = asked;
    const requestCostMaxNanos = this.#budgets.limits.get(accountId)?.request ?? 0n;
    const known = this.leases.get(id);
    if (known !== undefined) {
      const max = this.#budgets.limits.get(known.accountId)?.request ?? 0n;
      return { kind: "leased", amountNanos: known.rest, requestCostMaxNanos: max };
    }
    if (!this.accounts.has(accountId)) return { kind: "refused", problem: "unknown_account" };
    if (requestNanos <= 0n || amountNanos < requestNanos) return { kind: "refused", problem: "amount_invalid" };
    if (!this.#beats.has(nodeId)) return { kind: "lease_refused" };
    this.#renew(asked);
    const free = this.#spare(accountId, asked);
    if (free < requestNanos * (this.#short.has(accountId) ? 16n : 8n)) {
      this.#short.add(accountId);
      return { kind: "lease_refused" };
    }
    this.#short.delete(accountId);
    const rest = least(amountNanos, free / 2n);
    const names = this.#budgets.namesOf(asked);
    this.#addLease({ id, nodeId, accountId, keyId, nowMs: asked.nowMs }, names, rest);
    return { kind: "leased", amountNanos: rest, requestCostMaxNanos };
  }

  #giveBack(leaseId: string): bigint {
    const lease = this.leases.get(leaseId);
    if (lease === undefined) return 0n;
    this.leases.delete(leaseId);
    this.#budgets.use(lease, -lease.rest);
    if (lease.nodeId === "job") this.accounts.get(lease.accountId)!.held -= lease.rest;
    return lease.rest;
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
    return { kind: "credited", availableNanos: this.#told(accountId), repeated: known !== undefined };
  }

  /** With what leases have left. */
  #told(accountId: string): bigint {
    const { granted, held, spent } = this.accounts.get(accountId)!;
    return granted - held - spent;
  }

  #available(accountId: string): bigint {
    return this.#told(accountId) - rests(this.#leasesOf(accountId));
  }

  #refund({ refundId, requestId, amountNanos: wanted }: RefundOperation): LedgerResult {
    const request = this.#requests.get(requestId);
    if (request === undefined) return { kind: "refused", problem: "unknown_request" };
    const { accountId } = request.hold;
    const known = this.#refunds.get(refundId);
    if (known !== undefined) {
      const same = known.requestId === requestId && (wanted === 0n || wanted === known.amount);
      if (!same) return { kind: "refused", problem: "id_taken" };
      return { kind: "refunded", amountNanos: known.amount, availableNanos: this.#told(accountId), repeated: true };
    }
    const refundableNanos = request.paid - request.refunded;
    const amount = wanted === 0n ? refundableNanos : wanted;
    if (amount === 0n || amount > refundableNanos) return { kind: "refund_too_high", refundableNanos };
    this.#refunds.set(refundId, { requestId, amount });
    request.refunded += amount;
    this.accounts.get(accountId)!.granted += amount;
    return { kind: "refunded", amountNanos: amount, availableNanos: this.#told(accountId), repeated: false };
  }

  #debit({ debitId, accountId, amountNanos }: DebitOperation): LedgerResult {
    if (!this.accounts.has(accountId)) return { kind: "refused", problem: "unknown_account" };
    const known = this.#debits.get(debitId);
    const same = known === undefined || (known.accountId === accountId && known.taken + known.missing === amountNanos);
    if (!same) return { kind: "refused", problem: "id_taken" };
    const leases = this.#leasesOf(accountId).filter(({ rest }) => rest > 0n);
    if (known === undefined && amountNanos > this.#available(accountId) && leases.length > 0) {
      this.#short.add(accountId);
      return { kind: "recalling", shortage: NO_MONEY, leases: recallAll(leases) };
    }
    const taken = known?.taken ?? least(amountNanos, this.#available(accountId));
    const missing = amountNanos - taken;
    if (known === undefined) {
      this.#debits.set(debitId, { accountId, taken, missing });
      this.accounts.get(accountId)!.granted -= taken;
    }
    const said = { debitedNanos: taken, receivableNanos: missing, availableNanos: this.#told(accountId) };
    return { kind: "debited", ...said, repeated: known !== undefined };
  }

  #beat(operation: BeatOperation): LedgerResult {
    const result = this.#beats.take(operation);
    for (const { id, nodeId } of this.leases.values())
      if (operation.isLast && result.kind === "beaten" && nodeId === operation.nodeId) this.#giveBack(id);
    return result;
  }

  #recover({ nodeId, silent, live }: RecoverOperation): LedgerResult {
    const lives = (node: string): boolean => this.#beats.isAlive(node, silent);
    for (const lease of this.leases.values())
      if (lease.nodeId !== "job" && lease.nodeId !== nodeId && !lives(lease.nodeId)) this.#giveBack(lease.id);
    const counts = { settled: 0, voided: 0 };
    for (const request of this.open.values()) {
      const { requestId, nodeId: holder } = request.hold;
      const own = holder === nodeId;
      if (own ? (live?.has(requestId) ?? true) : lives(holder)) continue;
      request.byRecovery = true;
      const isNoted = request.noteCost > 0n || request.noteTokens > 0n;
      if (isNoted) this.#charge(request, request.noteCost);
      else this.#free(request, own ? "expired" : "voided");
      counts[isNoted ? "settled" : "voided"] += 1;
    }
    this.#beats.forget(silent);
    return { kind: "recovered", ...counts };
  }

  #forget(): void {
    for (const [requestId, { state }] of this.#requests) {
      if (this.#requests.size <= this.#windowMax || state === "held") return;
      this.#requests.delete(requestId);
    }
  }
}
