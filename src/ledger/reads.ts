/** Which rows a batch of operations needs. Holds come first, because they say which accounts and counters follow. */
import type { Book } from "./book.js";
import type { LedgerOperation, RecoverOperation } from "./operation.js";
import { type BudgetRow, OPERATOR_ACCOUNTS, PERIODS, bucketOf, budgetName } from "./rows.js";

export interface FirstReads {
  readonly requestIds: ReadonlySet<string>;
  readonly creditIds: ReadonlySet<string>;
  /** For each: all leases, and up to RECOVER_HOLDS_MAX open holds that it may find orphaned. */
  readonly recoveries: readonly RecoverOperation[];
}

export interface SecondReads {
  readonly accountIds: ReadonlySet<string>;
  readonly budgets: ReadonlyMap<string, Pick<BudgetRow, "keyId" | "period" | "bucket">>;
}

/** What can be read from the operations alone. */
export function firstReads(operations: readonly LedgerOperation[]): FirstReads {
  const requestIds = new Set<string>();
  const creditIds = new Set<string>();
  const recoveries: RecoverOperation[] = [];
  for (const operation of operations) {
    if (operation.kind === "credit") creditIds.add(operation.creditId);
    else if (operation.kind === "recover") recoveries.push(operation);
    else if (operation.kind !== "beat") requestIds.add(operation.requestId);
  }
  return { requestIds, creditIds, recoveries };
}

/** What must be read once the holds are in the book. */
export function secondReads(operations: readonly LedgerOperation[], book: Book): SecondReads {
  const accountIds = new Set<string>(OPERATOR_ACCOUNTS);
  const budgets = new Map<string, Pick<BudgetRow, "keyId" | "period" | "bucket">>();
  const addKey = (keyId: string, timeMs: number): void => {
    for (const period of PERIODS) {
      const bucket = bucketOf(period, timeMs);
      budgets.set(budgetName(keyId, period, bucket), { keyId, period, bucket });
    }
  };
  for (const hold of book.holds.values()) {
    accountIds.add(hold.accountId);
    addKey(hold.keyId, hold.createTimeMs);
  }
  for (const operation of operations) {
    if (operation.kind === "credit") accountIds.add(operation.accountId);
    if (operation.kind !== "hold") continue;
    accountIds.add(operation.accountId);
    addKey(operation.keyId, operation.nowMs);
  }
  return { accountIds, budgets };
}
