/** An ended request as it is stored. */
import type { GatewayError } from "../base/errors.js";
import { metersText, NO_METERS } from "../api/meters.js";
import { parametersText } from "../api/applied-parameters.js";
import { affinityFlags, cacheMarksFlags, FLAG, type RecordRow, recordedEnd, storedTime } from "./columns.js";
import type { EndedRequest } from "./request-record.js";

const MODEL_CHARACTERS_MAX = 256;
const DETAIL_CHARACTERS_MAX = 400;
/** Facts of a refusal that help to find its cause. Nothing of the request's own text is among them. */
export const RECORDED_FACTS = [
  "param",
  "scope",
  "limit",
  "limit_value",
  "owner",
  "budget",
  "limit_nanos",
  "needed_nanos",
  "available_nanos",
  "remaining_nanos",
  "held_nanos",
  "remaining",
  "reset_ms",
  "reset_time",
  "cause",
  "phase",
  "model",
  "path",
  "kind",
] as const;
const DONE = 200;

/** `node` is the id of the node that serves it; empty where nobody groups by it. */
export function rowOfEnded(request: EndedRequest, node = ""): RecordRow {
  const { answer, failure } = request;
  const usage = answer?.usage;
  const { endUser, tags, session, client, clientRequestId } = request.attributes();
  const createTimeMs = answer?.createTimeMs ?? request.endTimeMs - Math.round(request.totalMs);
  return {
    id: request.id,
    endTimeMs: recordedEnd(createTimeMs, request.endTimeMs),
    createTimeMs,
    flags:
      (request.streamed ? FLAG.streamed : 0) |
      (request.replayed ? FLAG.replayed : 0) |
      (answer === undefined ? 0 : FLAG.answered) |
      (answer?.operatorCostNanos === undefined ? 0 : FLAG.costKnown) |
      affinityFlags(request.affinity) |
      cacheMarksFlags(request.cacheMarks),
    status: failure?.http ?? DONE,
    attempts: answer?.attempts ?? 0,
    usageSource: answer?.usageSource ?? 0,
    total: storedTime(request.totalMs),
    queue: storedTime(answer?.queueMs),
    firstToken: storedTime(answer?.firstTokenMs),
    upstreamTime: storedTime(answer?.upstreamMs),
    costNanos: Number(answer?.costNanos ?? 0n),
    chargedNanos: Number(answer?.chargedNanos ?? 0n),
    operatorCostNanos: Number(answer?.operatorCostNanos ?? 0n),
    clampedTo: answer?.clampedTo ?? 0,
    cacheSavedNanos: Number(answer?.cacheSavedNanos ?? 0n),
    inputTokens: Number(usage?.inputTokens ?? 0n),
    cacheReadTokens: Number(usage?.cacheReadTokens ?? 0n),
    cacheWriteTokens: Number(usage?.cacheWriteTokens ?? 0n),
    cacheWrite1hTokens: Number(usage?.cacheWrite1hTokens ?? 0n),
    outputTokens: Number(usage?.outputTokens ?? 0n),
    reasoningTokens: Number(usage?.reasoningTokens ?? 0n),
    imageTokens: Number(usage?.imageTokens ?? 0n),
    audioInputTokens: Number(usage?.audioInputTokens ?? 0n),
    audioOutputTokens: Number(usage?.audioOutputTokens ?? 0n),
    account: request.asker?.accountId ?? "",
    key: request.asker?.keyId ?? "",
    model: request.model.slice(0, MODEL_CHARACTERS_MAX),
    askedModel: request.askedModel.slice(0, MODEL_CHARACTERS_MAX),
    upstream: answer?.upstream ?? "",
    upstreamModel: answer?.upstreamModel ?? "",
    reason: failure?.reasonWord ?? "",
    path: request.path,
    format: request.format,
    endUser,
    tags: tags.join("\n"),
    meters: metersText(usage?.meters ?? NO_METERS),
    parameters: parametersText(request.parameters),
    node,
    client,
    address: request.isNameless ? "" : request.address,
    session,
    clientRequestId,
    detail: failure === undefined ? "" : detailOf(failure),
  };
}

/** The facts of a refusal, as its record has them. */
export function detailOf({ metadata }: Pick<GatewayError, "metadata">): string {
  let detail = "";
  for (const name of RECORDED_FACTS) {
    const value = metadata[name];
    if (value === undefined || value === "") continue;
    // Clients choose some of the values: none must read as another fact.
    detail += `${detail === "" ? "" : ", "}${name} ${value.slice(0, 100).replaceAll(", ", ",")}`;
  }
  return detail.slice(0, DETAIL_CHARACTERS_MAX);
}
