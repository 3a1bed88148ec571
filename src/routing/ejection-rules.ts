/** After how many failures a target is ejected, and for how long. */
import { COOL_DOWN_MS_MAX } from "../base/retries.js";
import type { EjectionRule } from "./ejection.js";

export const FAILING: EjectionRule = { failuresMin: 5, firstMs: 30_000, mostMs: 300_000, needsProof: true };
export const REFUSED: EjectionRule = { failuresMin: 1, firstMs: 30_000, mostMs: 300_000, needsProof: true };
// A wait that one answer asks for holds back others no longer than this, whatever it asks.
export const RATE_LIMITED: EjectionRule = {
  failuresMin: 1,
  firstMs: 1_000,
  mostMs: COOL_DOWN_MS_MAX,
  needsProof: false,
};
