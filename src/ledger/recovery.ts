/** Resolves the holds that nobody will settle: their node is gone, or their time is over. */
import type { Book } from "./book.js";
import type { LedgerResult, RecoverOperation } from "./operation.js";
import { type HoldRow, SOURCE_RECOVERED } from "./rows.js";
import { tokenCount } from "./usage.js";
import { charge, release } from "./settlement.js";

/** How many holds one operation resolves at most, so that it never keeps the others waiting. */
export const RECOVER_HOLDS_MAX = 256;

/** Settles each orphan at its checkpoint, or frees it where it has none. */
export function recover(book: Book, operation: RecoverOperation): LedgerResult {
  let settled = 0;
  let voided = 0;
  for (const hold of book.holds.values()) {
    if (settled + voided === RECOVER_HOLDS_MAX) break;
    if (!isOrphan(book, hold, operation)) continue;
    hold.recovered = true;
    if (hold.costNanos > 0n || tokenCount(hold.usage) > 0n) {
      const { usage, costNanos, upstream, attempts } = hold;
      charge(book, hold, {
        usage,
        costNanos,
        upstream,
        attempts,
        attemptLog: null,
        usageSource: SOURCE_RECOVERED,
        nowMs: operation.nowMs,
      });
      settled += 1;
    } else {
      release(book, hold, isExpired(hold, operation.nowMs) ? "expire" : "void", operation.nowMs);
      voided += 1;
    }
  }
  return { kind: "recovered", settled, voided };
}

function isOrphan(book: Book, hold: HoldRow, operation: RecoverOperation): boolean {
  if (hold.state !== "held") return false;
  if (isExpired(hold, operation.nowMs)) return true;
  // A node that recovers is alive, even where a jump of its clock took it past its own lease.
  if (hold.nodeId === operation.nodeId) return false;
  const leaseUntilMs = book.leases.get(hold.nodeId);
  return leaseUntilMs === undefined || leaseUntilMs < operation.nowMs;
}

function isExpired(hold: HoldRow, nowMs: number): boolean {
  return hold.expireTimeMs < nowMs;
}
