/** An attempt that ended, as the log of attempts and the history of its upstream have it. */
import type { Attempt } from "../ledger/attempt-log.js";
import type { RequestRecord } from "../records/request-record.js";
import { ANSWERED, type AttemptFailure } from "../routing/attempt-types.js";
import { failureMessage } from "../routing/failure-message.js";
import type { Target } from "../routing/model.js";
import type { MeteredTurn } from "./meter-types.js";

export function endedAttempt(
  failure: AttemptFailure | undefined,
  target: Target | undefined,
  { model: { id }, request }: Pick<MeteredTurn, "model" | "request">,
  record: RequestRecord | undefined,
): Pick<Attempt, "upstream" | "model" | "reason" | "status" | "failureMessage"> {
  const [upstream, model] = [target?.served.id ?? "", target?.model ?? id];
  const reason = failure?.error.reason ?? "";
  const status = failure?.status ?? ANSWERED;
  const message = record?.isNameless === true ? "" : failureMessage(failure?.error, request);
  // That a client left says nothing of its upstream.
  if (failure !== undefined && reason !== "ERROR_REASON_CANCELLED")
    target?.served.health.history.failed({ requestId: record?.id ?? "", model, reason, status, message });
  return { upstream, model, reason, status, failureMessage: message };
}
