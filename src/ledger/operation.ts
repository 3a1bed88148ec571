/** The operations of the ledger and what each answers. */
import type { Usage, UsageSource } from "../api/index.js";
import type { Act } from "../audit/act.js";
import type { Budget, BudgetOwner, HoldTerms, KeyBudget, Note } from "./rows.js";

export type { Budget, KeyBudget } from "./rows.js";

/** Sets money aside for the most that a request can cost. */
export interface HoldOperation {
  readonly kind: "hold";
  readonly requestId: string;
  readonly accountId: string;
  readonly keyId: string;
  readonly model: string;
  /** What is wanted. */
  readonly amountNanos: bigint;
  /** The least that will do; less than `amountNanos` where the output limit may be lowered. */
  readonly leastNanos: bigint;
  /** The key's, and those of the keys that made it. The account's are on its row. */
  readonly budgets: readonly KeyBudget[];
  /** The pinned price: Price as protobuf bytes. */
  readonly price: Uint8Array;
  readonly nodeId: string;
  readonly nowMs: number;
  /** When its request must be over, for those who read it: nothing decides by it. */
  readonly expireTimeMs: number;
  /** The lease that the node admitted it against, for all that it wants; absent where it waits for its grant. */
  readonly leaseId?: string | undefined;
}

/** Asks for a lease, once for each id. */
export interface LeaseOperation {
  readonly kind: "lease";
  readonly leaseId: string;
  readonly nodeId: string;
  readonly accountId: string;
  readonly keyId: string;
  /** The key's, and those of the keys that made it. */
  readonly budgets: readonly KeyBudget[];
  /** What is wanted. */
  readonly amountNanos: bigint;
  /** What one request asks for: by it a shortage is told. */
  readonly requestNanos: bigint;
  readonly nowMs: number;
}

/** Gives back what is left of a lease, and ends it. */
export interface ReturnOperation {
  readonly kind: "return";
  readonly leaseId: string;
  readonly nowMs: number;
}

/** Asks all nodes for their leases of an account. */
export interface RecallOperation {
  readonly kind: "recall";
  readonly accountId: string;
  readonly nowMs: number;
}

/** Notes what a running request has delivered, so that a crash charges that and no more. */
export interface CheckpointOperation {
  readonly kind: "checkpoint";
  readonly requestId: string;
  readonly usage: Usage;
  readonly costNanos: bigint;
  /** What the operator pays for it; undefined where nobody knows. */
  readonly operatorCostNanos?: bigint | undefined;
  readonly upstream: string;
  readonly attempts: number;
  readonly nowMs: number;
}

/** Charges a request, once, and gives the rest of its hold back. A usage source NONE voids it. */
export interface SettleOperation {
  readonly kind: "settle";
  readonly requestId: string;
  readonly usage: Usage;
  readonly usageSource: UsageSource;
  readonly costNanos: bigint;
  /** What the operator pays for it; undefined where nobody knows. */
  readonly operatorCostNanos?: bigint | undefined;
  readonly upstream: string;
  readonly attempts: number;
  /** How each attempt went, as `encodeAttempts` writes it. */
  readonly attemptLog: string;
  readonly nowMs: number;
  /** What the request was admitted on, where its hold may never have become durable. */
  readonly terms?: LateTerms | undefined;
}

/** A hold that a node admitted against a lease, as it would have been. */
export interface LateTerms extends Omit<HoldTerms, "requestId" | "leaseId" | "wantedNanos"> {
  readonly budgets: readonly KeyBudget[];
}

/** Adds money to an account, once for each credit id. */
export interface CreditOperation {
  readonly kind: "credit";
  readonly creditId: string;
  readonly accountId: string;
  readonly amountNanos: bigint;
  readonly nowMs: number;
  /** Why, and who says so; absent for money that was paid in. */
  readonly note?: Note | undefined;
  readonly act: Act;
}

/** Gives back of what a request was charged, once for each refund id. An amount of zero is all that is left of it. */
export interface RefundOperation extends Note {
  readonly kind: "refund";
  readonly refundId: string;
  readonly requestId: string;
  readonly amountNanos: bigint;
  readonly nowMs: number;
  readonly act: Act;
}

/** Takes an amount from an account, once for each debit id, and never takes it below zero. */
export interface DebitOperation extends Note {
  readonly kind: "debit";
  readonly debitId: string;
  readonly accountId: string;
  readonly amountNanos: bigint;
  readonly nowMs: number;
  readonly act: Act;
}

/** Counts this node's beats on, so that the others see that it lives. The last one ends it: it settles nothing more. */
export interface BeatOperation {
  readonly kind: "beat";
  readonly nodeId: string;
  readonly nowMs: number;
  readonly isLast: boolean;
  /** False where it beat before: then it is gone for good once others took it for dead. Absent: it may begin anew. */
  readonly isFirst?: boolean | undefined;
}

/** A node as another saw it. */
export interface NodeBeats {
  readonly nodeId: string;
  readonly beats: number;
}

/**
 * Resolves holds that nobody will settle, at most 256 at a time: of nodes that ended, that are not known or that are
 * silent, and of this node's own those that it does not answer for.
 */
export interface RecoverOperation {
  readonly kind: "recover";
  readonly nodeId: string;
  readonly nowMs: number;
  /** Nodes that did not beat for longer than a lease. One that beat since is alive. */
  readonly silent: readonly NodeBeats[];
  /** The requests of all holds that this node answers for; absent where none of its own can be an orphan. */
  readonly live?: ReadonlySet<string> | undefined;
  /** True where the database did not take it whole: each is charged its cost, and no figures are kept beside it. */
  readonly isPlain?: boolean | undefined;
}

export type LedgerOperation =
  | HoldOperation
  | LeaseOperation
  | ReturnOperation
  | RecallOperation
  | CheckpointOperation
  | SettleOperation
  | CreditOperation
  | RefundOperation
  | DebitOperation
  | BeatOperation
  | RecoverOperation;

/** A lease and who has it. */
export interface LeaseName {
  readonly leaseId: string;
  readonly nodeId: string;
}

/** A hold that is refused for want of money. */
export type Shortage = Extract<LedgerResult, { readonly kind: "balance_too_low" | "budget_exceeded" }>;

/** True where only running calls hold what is missing, so that the same hold may be granted once they end. */
export function isHeldByOthers(shortage: Shortage): boolean {
  const freeNanos = shortage.kind === "balance_too_low" ? shortage.availableNanos : shortage.remainingNanos;
  return freeNanos + shortage.heldNanos >= shortage.neededNanos;
}

export type LedgerResult =
  | { readonly kind: "held"; readonly amountNanos: bigint }
  | {
      readonly kind: "balance_too_low";
      readonly availableNanos: bigint;
      /** What would be available beside that once every running call gave back all that it holds. */
      readonly heldNanos: bigint;
      readonly neededNanos: bigint;
    }
  | {
      readonly kind: "budget_exceeded";
      readonly owner: BudgetOwner;
      /** The key that made the request's own and whose budget it is; absent where it is the key's own. */
      readonly makerId?: string | undefined;
      /** `request`: the most that one request may cost. */
      readonly period: Budget["period"] | "request";
      readonly limitNanos: bigint;
      readonly remainingNanos: bigint;
      /** What would remain beside that once every running call gave back all that it holds. */
      readonly heldNanos: bigint;
      readonly neededNanos: bigint;
    }
  /** Leases hold what is missing. They were asked for, those that are named just now; the hold may be granted then. */
  | { readonly kind: "recalling"; readonly shortage: Shortage; readonly leases: readonly LeaseName[] }
  /** `requestCostMaxNanos`: the most that one request may cost by the account's settings; zero where there is none. */
  | { readonly kind: "leased"; readonly amountNanos: bigint; readonly requestCostMaxNanos: bigint }
  /** The account is short of money, or frozen, or the node is gone. */
  | { readonly kind: "lease_refused" }
  | { readonly kind: "returned"; readonly amountNanos: bigint }
  /** The leases of the account that are out. */
  | { readonly kind: "recalled"; readonly leases: readonly LeaseName[] }
  | { readonly kind: "noted" }
  /** The node beat before, and others took it for dead since. */
  | { readonly kind: "gone" }
  /** The other nodes as they stood at the beat. */
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
  /** The book lacks a request, and what was admitted before is archived. */
  | { readonly kind: "archived"; readonly untilMs: number }
  /** More than is left of what the request was charged. */
  | { readonly kind: "refund_too_high"; readonly refundableNanos: bigint }
  /** `debitedNanos` is what the account had; the rest, `receivableNanos`, is the operator's to receive elsewhere. */
  | {
      readonly kind: "debited";
      readonly debitedNanos: bigint;
      readonly receivableNanos: bigint;
      readonly availableNanos: bigint;
      readonly repeated: boolean;
    }
  | { readonly kind: "account_frozen" }
  | { readonly kind: "recovered"; readonly settled: number; readonly voided: number }
  /** What does not exist, or no more, an id that something else took, or an amount out of bounds. */
  | {
      readonly kind: "refused";
      readonly problem: "unknown_account" | "unknown_request" | "id_taken" | "amount_invalid" | "lease_gone";
    };
