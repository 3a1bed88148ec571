/**
 * The holds of a request that falls back from one model to another. Each model has a hold of its own, at its own price,
 * and the hold of a model is ended before the hold of the next one is requested: at most the last one is charged.
 */
import { FALLBACKS_MAX } from "../base/fallback.js";

const FALLBACK_HOLD = /^(req_[0-9a-f]{32})\.\d$/;

/** The id of a request's hold: of the model that was asked for (0), or of the fallback with this number. */
export function holdIdOf(requestId: string, fallback: number): string {
  return fallback === 0 ? requestId : `${requestId}.${fallback}`;
}

/** The ids of all holds that may follow this one. */
export function laterHoldIds(holdId: string): readonly string[] {
  const requestId = requestIdOf(holdId);
  const first = holdId === requestId ? 1 : Number(holdId.at(-1)) + 1;
  const ids: string[] = [];
  for (let fallback = first; fallback <= FALLBACKS_MAX; fallback += 1) ids.push(holdIdOf(requestId, fallback));
  return ids;
}

/** The request that a hold belongs to. */
export function requestIdOf(holdId: string): string {
  return FALLBACK_HOLD.exec(holdId)?.[1] ?? holdId;
}
