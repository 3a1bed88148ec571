/** What happened at an upstream, as services show it. */
import {
  EjectionCause as ShownCause,
  ErrorReason,
  type UpstreamChange,
  UpstreamChangeKind,
  type UpstreamFailure,
} from "../api/index.js";
import { isReasonName } from "../base/errors.js";
import type { EjectionCause } from "./ejection.js";
import type { UpstreamHistory } from "./upstream-history.js";

const KINDS = {
  ejected: UpstreamChangeKind.UPSTREAM_CHANGE_KIND_EJECTED,
  restored: UpstreamChangeKind.UPSTREAM_CHANGE_KIND_RESTORED,
  drained: UpstreamChangeKind.UPSTREAM_CHANGE_KIND_DRAINED,
  undrained: UpstreamChangeKind.UPSTREAM_CHANGE_KIND_UNDRAINED,
} as const;

const CAUSES: Readonly<Record<EjectionCause, ShownCause>> = {
  failing: ShownCause.EJECTION_CAUSE_FAILING,
  rate_limited: ShownCause.EJECTION_CAUSE_RATE_LIMITED,
  credential: ShownCause.EJECTION_CAUSE_CREDENTIAL,
  no_funds: ShownCause.EJECTION_CAUSE_NO_FUNDS,
  access: ShownCause.EJECTION_CAUSE_ACCESS,
  model_unknown: ShownCause.EJECTION_CAUSE_MODEL_UNKNOWN,
};

export function shownCause(cause: EjectionCause | undefined): ShownCause {
  return cause === undefined ? ShownCause.EJECTION_CAUSE_UNSPECIFIED : CAUSES[cause];
}

export function shownHistory({ changes, failures }: UpstreamHistory): {
  changes: UpstreamChange[];
  failures: UpstreamFailure[];
} {
  return {
    changes: changes.map(({ timeMs, kind, model, cause, coolingMs }) => ({
      changeTime: new Date(timeMs),
      kind: KINDS[kind],
      model,
      cause: shownCause(cause),
      coolingMs: BigInt(Math.ceil(coolingMs)),
    })),
    failures: failures.map(({ timeMs, requestId, model, reason, status, message }) => ({
      failureTime: new Date(timeMs),
      requestId,
      upstreamModel: model,
      errorReason: isReasonName(reason) ? ErrorReason[reason] : ErrorReason.ERROR_REASON_UNSPECIFIED,
      httpStatus: status,
      message,
    })),
  };
}
