/** How much a hold or a lease may be granted: what the balance and the budgets leave. */
import assert from "node:assert";
import { type HoldOperation, isHeldByOthers, type MoneyLeaseOperation, type Shortage } from "./operation.js";
import { available } from "./rows.js";
import { countedPeriod } from "./periods.js";
import type { Account, BudgetOwner, BudgetRow, CountedPeriod, Period } from "./rows.js";
import { lesser } from "../base/money.js";

/** What is asked for, and under which budgets of a key. */
export type GrantTerms = Pick<HoldOperation, "keyId" | "budgets" | "amountNanos" | "leastNanos">;

/**
 * What the balance and the budgets leave of an amount, or the shortage. A shortage that remains when all running calls
 * end is reported before one that does not.
 */
export function grantOf(account: Account, operation: GrantTerms, counters: readonly BudgetRow[]): bigint | Shortage {
  const { leastNanos: neededNanos, amountNanos: wantedNanos, budgets } = operation;
  const availableNanos = available(account);
  let amountNanos = lesser(wantedNanos, availableNanos);
  let passing: Shortage | undefined;
  if (availableNanos < neededNanos) {
    const heldNanos = account.debitsPending;
    passing = { kind: "balance_too_low", availableNanos, heldNanos, neededNanos };
    if (!isHeldByOthers(passing)) return passing;
  }
  const mostNanos = account.requestCostMaxNanos;
  for (const { period, limitNanos, makerId } of budgets) {
    const used = counterOf(counters, "key", makerId ?? operation.keyId, period);
    const remainingNanos = left(limitNanos, used);
    if (remainingNanos < neededNanos) {
      const short = budgetShortage("key", period, limitNanos, used, neededNanos);
      const shortage = makerId === undefined ? short : { ...short, makerId };
      if (!isHeldByOthers(shortage)) return shortage;
      passing ??= shortage;
    }
    amountNanos = lesser(amountNanos, remainingNanos);
  }
  if (mostNanos > 0n && mostNanos < neededNanos)
    return budgetShortage("account", "request", mostNanos, { pendingNanos: 0n, spentNanos: 0n }, neededNanos);
  if (mostNanos > 0n) amountNanos = lesser(amountNanos, mostNanos);
  for (const { period, limitNanos } of account.budgets) {
    const used = usedByAccount(account, counters, period);
    const remainingNanos = left(limitNanos, used);
    if (remainingNanos < neededNanos) {
      const shortage = budgetShortage("account", period, limitNanos, used, neededNanos);
      if (!isHeldByOthers(shortage)) return shortage;
      passing ??= shortage;
    }
    amountNanos = lesser(amountNanos, remainingNanos);
  }
  return passing ?? amountNanos;
}

function budgetShortage(
  owner: BudgetOwner,
  period: Period | "request",
  limitNanos: bigint,
  used: Used,
  neededNanos: bigint,
): Shortage {
  const remainingNanos = left(limitNanos, used);
  const heldNanos = left(limitNanos, { pendingNanos: 0n, spentNanos: used.spentNanos }) - remainingNanos;
  return { kind: "budget_exceeded", owner, period, limitNanos, remainingNanos, heldNanos, neededNanos };
}

type Used = Pick<BudgetRow, "pendingNanos" | "spentNanos">;

/** What is counted in a period: the hold's own counter, or the sum of those of its week or quarter. */
function counterOf(counters: readonly BudgetRow[], owner: BudgetOwner, id: string, period: Period): Used {
  if (period === "week" || period === "quarter") return sumOf(counters, owner, id, countedPeriod(period));
  const row = counters.find(
    (counter) => counter.ownerId === id && counter.period === period && counter.owner === owner,
  );
  assert(row !== undefined, `the counter of the ${owner} ${id} for its ${period} was not loaded`);
  return row;
}

function sumOf(counters: readonly BudgetRow[], owner: BudgetOwner, id: string, counted: CountedPeriod): Used {
  const sum = { pendingNanos: 0n, spentNanos: 0n };
  for (const row of counters) {
    if (row.ownerId !== id || row.period !== counted || row.owner !== owner) continue;
    sum.pendingNanos += row.pendingNanos;
    sum.spentNanos += row.spentNanos;
  }
  return sum;
}

function left(limitNanos: bigint, { pendingNanos, spentNanos }: Used): bigint {
  const freeNanos = limitNanos - pendingNanos - spentNanos;
  return freeNanos > 0n ? freeNanos : 0n;
}

/** What is free of the balance and of all budgets, without the limit for one request. */
export function freeOf(
  account: Account,
  { keyId, budgets }: Pick<MoneyLeaseOperation, "keyId" | "budgets">,
  counters: readonly BudgetRow[],
): bigint {
  let freeNanos = available(account);
  for (const { period, limitNanos, makerId } of budgets)
    freeNanos = lesser(freeNanos, left(limitNanos, counterOf(counters, "key", makerId ?? keyId, period)));
  for (const { period, limitNanos } of account.budgets)
    freeNanos = lesser(freeNanos, left(limitNanos, usedByAccount(account, counters, period)));
  return freeNanos;
}

/** What an account holds and has spent in a period: its total from its sums, other periods from a counter. */
function usedByAccount(account: Account, counters: readonly BudgetRow[], period: Period): Used {
  if (period !== "total") return counterOf(counters, "account", account.id, period);
  return { pendingNanos: account.debitsPending, spentNanos: account.debitsPosted - account.debitedNanos };
}
