/** Credits, refunds and debits as an operator requests them: each once for its id, corrections with a reason. */
import { invalid } from "../api/check.js";
import { dayOf } from "../base/day.js";
import { requestTime } from "../base/request-time.js";
import { type Act, markWritten } from "../audit/act.js";
import { GatewayError } from "../base/errors.js";
import { AMOUNT_NANOS_MAX } from "../base/money.js";
import { LINE_PREFIX } from "./credit-line.js";
import { balanceHeld } from "./hold-refusal.js";
import type { MoneyLeaseKeeper } from "./money-lease-keeper.js";
import type { LedgerResult } from "./operation.js";
import type { Note } from "./rows.js";
import type { LedgerWriter } from "./writer.js";

const ID_CHARACTERS_MAX = 128;
const REASON_CHARACTERS_MAX = 500;

export interface CreditRequest {
  readonly creditId: string;
  readonly accountId: string;
  readonly amountNanos: bigint;
  /** The reason and the actor, if it is a correction and not money that was paid in. */
  readonly note?: Note | undefined;
  readonly act: Act;
}

export interface CreditOutcome {
  readonly availableNanos: bigint;
  /** True if this credit id was credited before, so that nothing changed. */
  readonly repeated: boolean;
}

export interface RefundRequest extends Note {
  readonly refundId: string;
  readonly requestId: string;
  /** Zero: all that is left of the charge. */
  readonly amountNanos: bigint;
  readonly act: Act;
}

export type RefundOutcome = Omit<Extract<LedgerResult, { readonly kind: "refunded" }>, "kind">;

export interface DebitRequest extends Note {
  readonly debitId: string;
  readonly accountId: string;
  readonly amountNanos: bigint;
  readonly act: Act;
}

export type DebitOutcome = Omit<Extract<LedgerResult, { readonly kind: "debited" }>, "kind">;

export class Corrections {
  constructor(
    private readonly writer: LedgerWriter,
    private readonly leases: Pick<MoneyLeaseKeeper, "untilBack">,
    private readonly nowMs: () => number,
  ) {}

  /** Rejects with ALREADY_EXISTS, RESOURCE_UNKNOWN or PARAMETER_INVALID. */
  async credit({ creditId, accountId, amountNanos, note, act }: CreditRequest): Promise<CreditOutcome> {
    checkId("credit_id", creditId);
    checkAmount(amountNanos, 1n);
    if (note !== undefined) checkReason(note.reason);
    const nowMs = this.nowMs();
    const asked = { kind: "credit", creditId, accountId, amountNanos, note, nowMs, act } as const;
    const result = await this.writer.submit(asked);
    if (result.kind === "credited") {
      const { availableNanos, repeated } = result;
      return done(act, { availableNanos, repeated });
    }
    throw refusalOf(result, { kind: "credit", id: creditId }, accountId);
  }

  /**
   * Refunds what a request was charged, in whole or in part. Rejects with ALREADY_EXISTS, with RESOURCE_UNKNOWN, which
   * says where the request is archived, or with PARAMETER_INVALID if less is left of the charge.
   */
  async refund({ refundId, requestId, amountNanos, reason, actor, act }: RefundRequest): Promise<RefundOutcome> {
    checkId("refund_id", refundId);
    checkAmount(amountNanos, 0n);
    checkReason(reason);
    const nowMs = this.nowMs();
    const asked = { kind: "refund", refundId, requestId, amountNanos, reason, actor, nowMs, act } as const;
    const result = await this.writer.submit(asked);
    if (result.kind === "refunded") return done(act, result);
    if (result.kind === "refund_too_high")
      throw invalid("amount_nanos", `${result.refundableNanos} are left of what the request was charged`);
    if (result.kind === "archived") throw unknownRequest(requestId, result.untilMs);
    throw refusalOf(result, { kind: "refund", id: refundId }, requestId);
  }

  /**
   * Takes an amount from what the account has available; the rest is booked as a receivable of the operator. Rejects
   * with ALREADY_EXISTS, RESOURCE_UNKNOWN or PARAMETER_INVALID.
   */
  async debit({ debitId, accountId, amountNanos, reason, actor, act }: DebitRequest): Promise<DebitOutcome> {
    checkId("debit_id", debitId);
    checkAmount(amountNanos, 1n);
    checkReason(reason);
    const nowMs = this.nowMs();
    const asked = { kind: "debit", debitId, accountId, amountNanos, reason, actor, nowMs, act } as const;
    const result = await this.leases.untilBack(() => this.writer.submit(asked));
    if (result.kind === "debited") return done(act, result);
    // The same id may be sent again: nothing was taken.
    if (result.kind === "recalling") throw balanceHeld(result.shortage, `account ${accountId}`);
    throw refusalOf(result, { kind: "debit", id: debitId }, accountId);
  }
}

/** A repeated change was recorded the first time; this call is recorded as one that changed nothing. */
function done<Outcome extends { readonly repeated: boolean }>(act: Act, outcome: Outcome): Outcome {
  if (!outcome.repeated) markWritten(act);
  return outcome;
}

/** Throws PARAMETER_MISSING or PARAMETER_INVALID if the reason is missing or invalid. */
export function checkReason(reason: string): void {
  if (reason.trim() === "") throw new GatewayError("ERROR_REASON_PARAMETER_MISSING", { param: "reason" });
  if (!isText(reason, 1, REASON_CHARACTERS_MAX) || /\p{Cc}/u.test(reason))
    throw invalid("reason", `must be 1 to ${REASON_CHARACTERS_MAX} characters, without control characters`);
}

/** Half a surrogate pair would return from the database changed, so that the hash over it would not match. */
export function isText(text: string, shortest: number, longest: number): boolean {
  return text.length >= shortest && text.length <= longest && !/\p{Surrogate}/u.test(text);
}

function checkId(param: string, id: string): void {
  if (!isText(id, 1, ID_CHARACTERS_MAX)) throw invalid(param, `must be 1 to ${ID_CHARACTERS_MAX} characters`);
  if (id.startsWith(LINE_PREFIX)) throw invalid(param, `must not start with ${LINE_PREFIX}, as credit lines do`);
}

function checkAmount(nanos: bigint, leastNanos: bigint): void {
  if (nanos < leastNanos || nanos > AMOUNT_NANOS_MAX)
    throw invalid("amount_nanos", `must be from ${leastNanos} to ${AMOUNT_NANOS_MAX}`);
}

/** The refusal for a request that is not in the ledger; older ones may be in an archive. */
export function unknownRequest(id: string, archivedUntilMs = 0): GatewayError {
  const isArchived = (requestTime(id) ?? Infinity) < archivedUntilMs;
  const archived = isArchived ? { archived_before: dayOf(archivedUntilMs) } : {};
  return new GatewayError("ERROR_REASON_RESOURCE_UNKNOWN", { kind: "request", id, ...archived });
}

function refusalOf(
  result: LedgerResult,
  act: { readonly kind: string; readonly id: string },
  of: string,
): GatewayError {
  if (result.kind !== "refused") return new GatewayError("ERROR_REASON_INTERNAL", {}, { cause: result });
  switch (result.problem) {
    case "unknown_account":
      return new GatewayError("ERROR_REASON_RESOURCE_UNKNOWN", { kind: "account", id: of });
    case "unknown_request":
      return unknownRequest(of);
    case "id_taken": {
      const problem = act.kind === "refund" ? "with another request or amount" : "with another account or amount";
      return new GatewayError("ERROR_REASON_ALREADY_EXISTS", { ...act, problem });
    }
    default:
      return invalid("amount_nanos", "the ledger holds no more");
  }
}
