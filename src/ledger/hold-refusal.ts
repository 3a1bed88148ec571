/** Why a hold is refused, as an error for its caller. */
import { GatewayError } from "../base/errors.js";
import { type HoldOperation, isHeldByOthers, type LedgerResult, type Shortage } from "./operation.js";
import { resetTimeMs } from "./periods.js";
import type { BudgetOwner, Period } from "./rows.js";

/** The `retry-after` for money that running calls hold: their end is unknown, and many end within seconds. */
const HELD_RETRY_AFTER_MS = 1_000;

/** Who asked for money, and when. */
type Asker = Pick<HoldOperation, "requestId" | "accountId" | "keyId" | "nowMs">;

/** The refusal for a result that is not a grant. */
export function holdRefusal(result: LedgerResult, operation: Asker): GatewayError {
  const { requestId, accountId } = operation;
  switch (result.kind) {
    case "balance_too_low":
      if (isHeldByOthers(result)) return balanceHeld(result, holderOf(result, operation));
      return new GatewayError("ERROR_REASON_BALANCE_TOO_LOW", {
        account: accountId,
        available_nanos: result.availableNanos.toString(),
        needed_nanos: result.neededNanos.toString(),
      });
    case "recalling":
      return balanceHeld(result.shortage, holderOf(result.shortage, operation));
    case "budget_exceeded":
      if (isHeldByOthers(result)) return balanceHeld(result, holderOf(result, operation));
      return new GatewayError("ERROR_REASON_BUDGET_EXCEEDED", {
        budget: result.period,
        owner: ownerOf(result, operation),
        ...resetOf(result.period, operation.nowMs),
        limit_nanos: result.limitNanos.toString(),
        remaining_nanos: result.remainingNanos.toString(),
        needed_nanos: result.neededNanos.toString(),
      });
    case "account_frozen":
      return new GatewayError("ERROR_REASON_ACCOUNT_FROZEN", { account: accountId, cause: "its operator froze it" });
    case "refused":
      if (result.problem === "unknown_account") return unknownAccount(accountId);
      if (result.problem === "id_taken")
        return new GatewayError("ERROR_REASON_ALREADY_EXISTS", { kind: "request", id: requestId });
      break;
    default:
  }
  return new GatewayError("ERROR_REASON_INTERNAL", {}, { cause: result });
}

function holderOf(shortage: Shortage, operation: Asker): string {
  return shortage.kind === "balance_too_low" ? `account ${operation.accountId}` : ownerOf(shortage, operation);
}

/** Only running calls, or leases, hold what is missing, so a retry can succeed. */
export function balanceHeld(shortage: Shortage, owner: string): GatewayError {
  const isBalance = shortage.kind === "balance_too_low";
  return new GatewayError("ERROR_REASON_BALANCE_HELD", {
    owner,
    ...(isBalance ? {} : { budget: shortage.period }),
    available_nanos: (isBalance ? shortage.availableNanos : shortage.remainingNanos).toString(),
    held_nanos: shortage.heldNanos.toString(),
    needed_nanos: shortage.neededNanos.toString(),
    retry_after_ms: String(HELD_RETRY_AFTER_MS),
  });
}

function ownerOf(
  { owner, makerId }: { readonly owner: BudgetOwner; readonly makerId?: string | undefined },
  { keyId, accountId }: Asker,
): string {
  return owner === "key" ? `key ${makerId ?? keyId}` : `account ${accountId}`;
}

/** When the budget starts again, if it ever does. */
function resetOf(period: Period | "request", nowMs: number): { readonly reset_time?: string } {
  const resetMs = period === "request" ? undefined : resetTimeMs(period, nowMs);
  return resetMs === undefined ? {} : { reset_time: new Date(resetMs).toISOString() };
}

export function unknownAccount(id: string): GatewayError {
  return new GatewayError("ERROR_REASON_RESOURCE_UNKNOWN", { kind: "account", id });
}
