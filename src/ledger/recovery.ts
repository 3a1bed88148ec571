/** Resolves the holds that no process will settle: their node is gone, or is not responsible for them any more. */
import { NO_USAGE } from "../api/usage.js";
import type { Book } from "./book.js";
import type { LedgerResult, RecoverOperation } from "./operation.js";
import { type HoldRow, JOB_NODE, SOURCE_RECOVERED } from "./rows.js";
import { tokenCount } from "./usage.js";
import { returnLease } from "./lease-rules.js";
import { charge, release } from "./settlement.js";

/** How many holds one operation resolves at most, so that it never delays the others. */
export const RECOVER_HOLDS_MAX = 256;

/** Settles each orphan at its checkpoint, or releases it if it has none. */
export function recover(book: Book, operation: RecoverOperation): LedgerResult {
  let settled = 0;
  let voided = 0;
  // Their leases first, and whole: from here on nothing that a dead node sent finds one, or is given one.
  for (const lease of book.leases.values())
    if (lease.nodeId !== operation.nodeId && isGone(book, lease.nodeId, operation))
      returnLease(book, lease.id, operation.nowMs);
  forget(book, operation);
  for (const hold of orphans(book, operation)) {
    hold.recovered = true;
    if (hold.costNanos > 0n || tokenCount(hold.usage) > 0n || hold.usage.meters.length > 0) {
      const { usage, costNanos, operatorCostNanos, upstream, attempts } = hold;
      const isPlain = operation.isPlain === true;
      charge(book, hold, {
        usage: isPlain ? NO_USAGE : usage,
        costNanos,
        operatorCostNanos: isPlain ? undefined : operatorCostNanos,
        upstream,
        attempts,
        attemptLog: null,
        usageSource: SOURCE_RECOVERED,
        nowMs: operation.nowMs,
      });
      settled += 1;
    } else {
      release(book, hold, hold.nodeId === operation.nodeId ? "expire" : "void", operation.nowMs);
      voided += 1;
    }
  }
  return { kind: "recovered", settled, voided };
}

/** The oldest first. What one pays above its hold is gone for the next, so the order must not depend on the cache. */
function orphans(book: Book, operation: RecoverOperation): readonly HoldRow[] {
  const found: HoldRow[] = [];
  for (const hold of book.holds.values()) {
    if (found.length === RECOVER_HOLDS_MAX) break;
    if (isOrphan(book, hold, operation)) found.push(hold);
  }
  return found.sort((one, other) => one.sequence - other.sequence);
}

/** Removes the silent nodes. One that comes back sends heartbeats again. */
function forget(book: Book, { silent }: RecoverOperation): void {
  for (const { nodeId, beats } of silent) if (book.beats.get(nodeId) === beats) book.setBeats(nodeId, undefined);
}

/**
 * No clock decides: a live node keeps its holds at any time, and each node measures the silence of the others itself.
 */
function isOrphan(book: Book, hold: HoldRow, operation: RecoverOperation): boolean {
  if (hold.state !== "held") return false;
  if (hold.nodeId !== operation.nodeId) return isGone(book, hold.nodeId, operation);
  return operation.live !== undefined && !operation.live.has(hold.requestId);
}

/** True for another node that will settle nothing any more. A job is no node. */
export function isGone(book: Book, nodeId: string, { silent }: RecoverOperation): boolean {
  if (nodeId === JOB_NODE) return false;
  const beats = book.beats.get(nodeId);
  return beats === undefined || silent.some((seen) => seen.nodeId === nodeId && seen.beats === beats);
}
