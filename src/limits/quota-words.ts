/** What refusals and warnings say of quotas. */
import { QuotaPeriod } from "../api/index.js";
import { GatewayError } from "../base/errors.js";
import type { QuotaCounts, QuotaMeasure, QuotaName, QuotaResult, QuotaState } from "../store/quota-scripts.js";
import { isEndless } from "./quota-window.js";
import type { QuotaSubject } from "./quotas.js";

type Refusal = Extract<QuotaResult, { readonly kind: "refused" }>;

const PERIOD_PREFIX = "QUOTA_PERIOD_";
const MEASURES = [
  ["requests", "requests"],
  ["tokens", "tokens"],
  ["nanos", "amountNanos"],
] as const;

/** QUOTA_EXCEEDED for requests and tokens, BUDGET_EXCEEDED for money. */
export function quotaRefusal(refusal: Refusal, needed: QuotaCounts, nowMs: number): GatewayError {
  const { claim, measure, state } = refusal;
  const limit = claim.limits[measure];
  const left = limit > state[measure] ? limit - state[measure] : 0n;
  const reset = isEndless(state.endMs) ? {} : { reset_time: new Date(state.endMs).toISOString() };
  const said = { owner: ownerOf(claim), ...reset };
  if (measure === "nanos")
    return new GatewayError("ERROR_REASON_BUDGET_EXCEEDED", {
      ...said,
      budget: periodWord(claim.period),
      limit_nanos: String(limit),
      remaining_nanos: String(left),
      needed_nanos: String(needed.nanos),
    });
  return new GatewayError("ERROR_REASON_QUOTA_EXCEEDED", {
    ...said,
    quota: measure,
    period: periodWord(claim.period),
    limit_value: String(limit),
    used: String(state[measure]),
    remaining: String(left),
    needed: String(needed[measure]),
    retry_after_ms: String(Math.max(state.endMs - nowMs, 0)),
  });
}

/** What the fullest quota that warns says; undefined where none warns. */
export function warningOf(states: readonly QuotaState[], subjects: readonly QuotaSubject[]): string | undefined {
  let fullest = 0;
  let warning: string | undefined;
  for (const [place, { quota }] of subjects.entries()) {
    const state = states[place];
    if (state === undefined || quota.warnPercent === 0) continue;
    for (const [measure, setting] of MEASURES) {
      const percent = percentOf(state[measure], quota[setting]);
      if (percent < quota.warnPercent || percent <= fullest) continue;
      fullest = percent;
      warning = warningText(state, measure, percent);
    }
  }
  return warning;
}

function warningText(state: QuotaState, measure: QuotaMeasure, percent: number): string {
  const reset = isEndless(state.endMs) ? "" : `; reset=${new Date(state.endMs).toISOString()}`;
  const what = measure === "nanos" ? "amount" : measure;
  return `${ownerOf(state)}; quota=${what}; period=${periodWord(state.period)}; used_percent=${percent}${reset}`;
}

function percentOf(used: bigint, limit: bigint): number {
  return limit === 0n ? 0 : Number((used * 100n) / limit);
}

function ownerOf({ owner, ownerId, model }: QuotaName): string {
  return model === "" ? `${owner} ${ownerId}` : `${owner} ${ownerId}, model ${model}`;
}

/** Such as `five_hours`. */
function periodWord(period: QuotaPeriod): string {
  return (QuotaPeriod[period] ?? "").slice(PERIOD_PREFIX.length).toLowerCase();
}
