/** The operations of the ledger and their results. */
import type { Usage, UsageSource } from "../api/index.js";
import type { Act } from "../audit/act.js";
import type { Budget, BudgetOwner, HoldTerms, KeyBudget, Note } from "./rows.js";

export type { Budget, KeyBudget } from "./rows.js";

/** Holds money for the most that a request can cost. */
export interface HoldOperation {
  readonly kind: "hold";
  readonly requestId: string;
  readonly accountId: string;
  readonly keyId: string;
  readonly model: string;
  /** The requested amount. */
  readonly amountNanos: bigint;
  /** The lowest acceptable amount; below `amountNanos` if the output limit may be lowered. */
  readonly leastNanos: bigint;
  /** The budgets of the key and of the keys that created it. The account's are on its row. */
  readonly budgets: readonly KeyBudget[];
  /** The pinned price: Price as protobuf bytes. */
  readonly price: Uint8Array;
  readonly nodeId: string;
  readonly nowMs: number;
  /** When its request must end, for readers only: no decision uses it. */
  readonly expireTimeMs: number;
  /** The lease against which the node admitted it, for the full amount; absent if the request waits for its grant. */
  readonly leaseId?: string | undefined;
}

/** Requests a lease, once for each id. */
export interface MoneyLeaseOperation {
  readonly kind: "lease";
  readonly leaseId: string;
  readonly nodeId: string;
  readonly accountId: string;
  readonly keyId: string;
  /** The budgets of the key and of the keys that created it. */
  readonly budgets: readonly KeyBudget[];
  /** The requested amount. */
  readonly amountNanos: bigint;
  /** What one request asks for: it determines whether the account is short. */
  readonly requestNanos: bigint;
  readonly nowMs: number;
}

/**
 * Sets money aside for a job, all of it or nothing. It stays until the job ends, whatever nodes come and go; each line
 * of the job is settled from it.
 */
export interface ReserveOperation {
  readonly kind: "reserve";
  readonly jobId: string;
  readonly accountId: string;
  readonly keyId: string;
  /** The budgets of the key and of the keys that created it. */
  readonly budgets: readonly KeyBudget[];
  readonly amountNanos: bigint;
  readonly nowMs: number;
}

/** Returns what is left of a lease, or of a job's reserve, and ends it. */
export interface ReturnOperation {
  readonly kind: "return";
  readonly leaseId: string;
  readonly nowMs: number;
}

/** Recalls the leases of an account from all nodes. */
export interface RecallOperation {
  readonly kind: "recall";
  readonly accountId: string;
  readonly nowMs: number;
}

/** Stores what a running request has delivered, so that a crash charges that and no more. */
export interface CheckpointOperation {
  readonly kind: "checkpoint";
  readonly requestId: string;
  readonly usage: Usage;
  readonly costNanos: bigint;
  /** What the operator pays for it; undefined if unknown. */
  readonly operatorCostNanos?: bigint | undefined;
  readonly upstream: string;
  readonly attempts: number;
  readonly nowMs: number;
}

/** Charges a request, once, and returns the rest of its hold. A usage source NONE voids it. */
export interface SettleOperation {
  readonly kind: "settle";
  readonly requestId: string;
  readonly usage: Usage;
  readonly usageSource: UsageSource;
  readonly costNanos: bigint;
  /** What the operator pays for it; undefined if unknown. */
  readonly operatorCostNanos?: bigint | undefined;
  readonly upstream: string;
  readonly attempts: number;
  /** How each attempt went, as `encodeAttempts` writes it. */
  readonly attemptLog: string;
  readonly nowMs: number;
  /** The terms of the admission, if the hold may never have become durable. */
  readonly terms?: LateTerms | undefined;
}

/** The terms of a hold that a node admitted against a lease. */
export interface LateTerms extends Omit<HoldTerms, "requestId" | "leaseId" | "wantedNanos"> {
  readonly budgets: readonly KeyBudget[];
  /** The job whose line it is: then hold and charge always come together, and are drawn from the job's reserve. */
  readonly jobId?: string | undefined;
}

/** Adds money to an account, once for each credit id. */
export interface CreditOperation {
  readonly kind: "credit";
  readonly creditId: string;
  readonly accountId: string;
  readonly amountNanos: bigint;
  readonly nowMs: number;
  /** The reason and the actor; absent for money that was paid in. */
  readonly note?: Note | undefined;
  readonly act: Act;
}

/** Renews the credit line of an account, if a new period began or the line was changed. */
export interface RenewOperation {
  readonly kind: "renew";
  readonly accountId: string;
  readonly nowMs: number;
}

/** Refunds a request, once for each refund id. An amount of zero means all that is left of its charge. */
export interface RefundOperation extends Note {
  readonly kind: "refund";
  readonly refundId: string;
  readonly requestId: string;
  readonly amountNanos: bigint;
  readonly nowMs: number;
  readonly act: Act;
}

/** Takes an amount from an account, once for each debit id, and never below zero. */
export interface DebitOperation extends Note {
  readonly kind: "debit";
  readonly debitId: string;
  readonly accountId: string;
  readonly amountNanos: bigint;
  readonly nowMs: number;
  readonly act: Act;
}

/**
 * Counts a heartbeat of this node, so that the others see that it lives. The last one ends it: it settles nothing more.
 */
export interface BeatOperation {
  readonly kind: "beat";
  readonly nodeId: string;
  readonly nowMs: number;
  readonly isLast: boolean;
  /**
   * False if it sent heartbeats before: then it is gone for good once others considered it dead. Absent: it may start
   * anew.
   */
  readonly isFirst?: boolean | undefined;
}

/** The heartbeats of a node as another node saw them. */
export interface NodeBeats {
  readonly nodeId: string;
  readonly beats: number;
}

/**
 * Resolves holds that no process will settle, at most 256 at a time: of nodes that ended, are unknown or are silent,
 * and of this node's own those that it is not responsible for.
 */
export interface RecoverOperation {
  readonly kind: "recover";
  readonly nodeId: string;
  readonly nowMs: number;
  /** Nodes without a heartbeat for longer than a lease. A node with a heartbeat since is alive. */
  readonly silent: readonly NodeBeats[];
  /** The requests of all holds of this node; absent if none of its own can be an orphan. */
  readonly live?: ReadonlySet<string> | undefined;
  /** True if the database refused the complete recovery: then each hold is charged its cost, without figures. */
  readonly isPlain?: boolean | undefined;
}

export type LedgerOperation =
  | HoldOperation
  | MoneyLeaseOperation
  | ReserveOperation
  | ReturnOperation
  | RecallOperation
  | CheckpointOperation
  | SettleOperation
  | CreditOperation
  | RenewOperation
  | RefundOperation
  | DebitOperation
  | BeatOperation
  | RecoverOperation;

/** A lease and the node that has it. */
export interface MoneyLeaseName {
  readonly leaseId: string;
  readonly nodeId: string;
}

/** A hold that is refused for lack of money. */
export type Shortage = Extract<LedgerResult, { readonly kind: "balance_too_low" | "budget_exceeded" }>;

/** True if only running calls hold what is missing, so that the same hold may be granted once they end. */
export function isHeldByOthers(shortage: Shortage): boolean {
  const freeNanos = shortage.kind === "balance_too_low" ? shortage.availableNanos : shortage.remainingNanos;
  return freeNanos + shortage.heldNanos >= shortage.neededNanos;
}

export type LedgerResult =
  | { readonly kind: "held"; readonly amountNanos: bigint }
  | {
      readonly kind: "balance_too_low";
      readonly availableNanos: bigint;
      /** What would also be available once every running call returned its hold. */
      readonly heldNanos: bigint;
      readonly neededNanos: bigint;
    }
  | {
      readonly kind: "budget_exceeded";
      readonly owner: BudgetOwner;
      /** The key that created the request's key and whose budget it is; absent if the budget is the key's own. */
      readonly makerId?: string | undefined;
      /** `request`: the most that one request may cost. */
      readonly period: Budget["period"] | "request";
      readonly limitNanos: bigint;
      readonly remainingNanos: bigint;
      /** What would also remain once every running call returned its hold. */
      readonly heldNanos: bigint;
      readonly neededNanos: bigint;
    }
  /** Leases hold what is missing. They are recalled, the named ones just now; the hold may be granted afterwards. */
  | { readonly kind: "recalling"; readonly shortage: Shortage; readonly leases: readonly MoneyLeaseName[] }
  /** `requestCostMaxNanos`: the most that one request may cost by the account's settings; zero if there is no limit. */
  | { readonly kind: "leased"; readonly amountNanos: bigint; readonly requestCostMaxNanos: bigint }
  /** The account is short of money or frozen, or the node is gone. */
  | { readonly kind: "lease_refused" }
  | { readonly kind: "returned"; readonly amountNanos: bigint }
  /** The leases of the account that are out. */
  | { readonly kind: "recalled"; readonly leases: readonly MoneyLeaseName[] }
  | { readonly kind: "noted" }
  /** The credit line, if there is one, is granted as it stands. */
  | { readonly kind: "renewed" }
  /** The node sent heartbeats before, and others considered it dead since. */
  | { readonly kind: "gone" }
  /** The other nodes at the time of the heartbeat. */
  | { readonly kind: "beaten"; readonly others: readonly NodeBeats[] }
  /** `chargedNanos` is what the account paid; the rest of the cost, `overageNanos`, went to the operator's account. */
  | {
      readonly kind: "settled";
      readonly chargedNanos: bigint;
      readonly overageNanos: bigint;
      readonly repeated: boolean;
    }
  | { readonly kind: "credited"; readonly availableNanos: bigint; readonly repeated: boolean }
  | {
      readonly kind: "refunded";
      readonly amountNanos: bigint;
      readonly availableNanos: bigint;
      readonly repeated: boolean;
    }
  /** The book lacks a request, and what was admitted before `untilMs` is archived. */
  | { readonly kind: "archived"; readonly untilMs: number }
  /** More than is left of what the request was charged. */
  | { readonly kind: "refund_too_high"; readonly refundableNanos: bigint }
  /** `debitedNanos` is what the account had; the rest, `receivableNanos`, is a receivable of the operator. */
  | {
      readonly kind: "debited";
      readonly debitedNanos: bigint;
      readonly receivableNanos: bigint;
      readonly availableNanos: bigint;
      readonly repeated: boolean;
    }
  | { readonly kind: "account_frozen" }
  | { readonly kind: "recovered"; readonly settled: number; readonly voided: number }
  /** Something that does not exist or no longer exists, an id that is taken, or an amount out of bounds. */
  | {
      readonly kind: "refused";
      readonly problem: "unknown_account" | "unknown_request" | "id_taken" | "amount_invalid" | "lease_gone";
    };
