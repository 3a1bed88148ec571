/** A refusal as a gRPC status with its facts, and back. */
import { Metadata, status } from "@grpc/grpc-js";
import { BadRequest, ErrorInfo, RetryInfo } from "../../../gen/google/rpc/error_details.js";
import { Status } from "../../../gen/google/rpc/status.js";
import type { CallMetadata } from "../../api/channel.js";
import { GatewayError, reasonOfWord } from "../../base/errors.js";
import { bodyTooLarge } from "../../base/bytes/body-limit.js";
import { GRPC_MESSAGE_BYTES_MAX } from "./bounds.js";
import { GRPC_CODES } from "./grpc-codes.js";
import { deadlineError } from "./lifetime.js";
import { writeMetadata } from "./metadata.js";

/** The most bytes of one fact, and of all: clients refuse headers above 8 KiB, where a fact can stand four times. */
const FACT_BYTES_MAX = 768;
const FACTS_BYTES_MAX = 1_280;
const DETAILS_KEY = "grpc-status-details-bin";
const DOMAIN = "tollgate";
const TYPE = "type.googleapis.com/google.rpc.";
/** How grpc-js says that a message is above the cap, on either side. */
const TOO_LARGE = /received message (?:larger|that decompresses)|attempted to send message/i;

/** A status as grpc-js takes and gives it. */
export interface StatusParts {
  readonly code: status;
  readonly details: string;
  readonly metadata: Metadata;
}

/** The status that tells a refusal. `trailers` go along as they are. */
export function statusOf(error: GatewayError, trailers: CallMetadata): StatusParts {
  const metadata = writeMetadata(trailers);
  metadata.set(DETAILS_KEY, statusBytes(error));
  return { code: GRPC_CODES[error.reason], details: error.message, metadata };
}

/** The same as a serialized google.rpc.Status. */
export function statusBytes(error: GatewayError): Buffer {
  return Buffer.from(Status.encode(richStatus(error)).finish());
}

/** The refusal in a serialized google.rpc.Status: the same one where it is ours, else our fault. */
export function errorOfBytes(bytes: Buffer): GatewayError {
  return refusalIn(bytes) ?? new GatewayError("ERROR_REASON_INTERNAL", {}, { cause: new Error("an unknown status") });
}

/** The refusal that a status tells: the same one where it is ours, else the nearest. */
export function errorOf(told: StatusParts): GatewayError {
  const bytes = told.metadata.get(DETAILS_KEY)[0];
  const refusal = Buffer.isBuffer(bytes) ? refusalIn(bytes) : undefined;
  if (refusal !== undefined) return refusal;
  const cause = new Error(`gRPC status ${told.code}: ${told.details}`);
  switch (told.code) {
    case status.CANCELLED:
      return new GatewayError("ERROR_REASON_CANCELLED", {}, { cause });
    case status.DEADLINE_EXCEEDED:
      return deadlineError();
    case status.UNAVAILABLE:
      return unreachable(cause);
    case status.RESOURCE_EXHAUSTED:
      return TOO_LARGE.test(told.details)
        ? bodyTooLarge(GRPC_MESSAGE_BYTES_MAX, cause)
        : new GatewayError("ERROR_REASON_INTERNAL", {}, { cause });
    default:
      return new GatewayError("ERROR_REASON_INTERNAL", {}, { cause });
  }
}

/** The refusal of a call whose connection to the core is none, or broke. */
export function unreachable(cause: Error): GatewayError {
  return new GatewayError(
    "ERROR_REASON_OVERLOADED",
    { problem: "the core cannot be reached", retry_after_ms: "1000" },
    { cause },
  );
}

/** The refusal with its request's id, and with facts short enough for headers, so that every channel tells the same. */
export function boundedError(error: GatewayError, requestId: string): GatewayError {
  let leftBytes = FACTS_BYTES_MAX;
  const facts: Record<string, string> = {};
  for (const [name, value] of Object.entries(error.metadata)) {
    const kept = clip(value, Math.min(FACT_BYTES_MAX, Math.max(leftBytes - name.length, 0)));
    leftBytes -= name.length + Buffer.byteLength(kept);
    facts[name] = kept;
  }
  facts["request_id"] = requestId;
  return new GatewayError(error.reason, facts, { cause: error.cause });
}

function richStatus(error: GatewayError): Status {
  const facts = ErrorInfo.encode({
    reason: error.reasonWord,
    domain: DOMAIN,
    metadata: { ...error.metadata },
  });
  const details = [{ typeUrl: `${TYPE}ErrorInfo`, value: Buffer.from(facts.finish()) }];
  const waitMs = error.retryAfterMs;
  if (waitMs !== undefined && Number.isFinite(waitMs)) {
    const retryDelay = { seconds: BigInt(Math.floor(waitMs / 1000)), nanos: Math.round((waitMs % 1000) * 1e6) };
    details.push({
      typeUrl: `${TYPE}RetryInfo`,
      value: Buffer.from(RetryInfo.encode({ retryDelay }).finish()),
    });
  }
  if (error.param !== null) {
    const violation = { field: error.param, description: error.message, reason: "", localizedMessage: undefined };
    details.push({
      typeUrl: `${TYPE}BadRequest`,
      value: Buffer.from(BadRequest.encode({ fieldViolations: [violation] }).finish()),
    });
  }
  return { code: GRPC_CODES[error.reason], message: error.message, details };
}

function refusalIn(bytes: Buffer): GatewayError | undefined {
  try {
    const found = Status.decode(bytes).details.find((detail) => detail.typeUrl === `${TYPE}ErrorInfo`);
    const info = found === undefined ? undefined : ErrorInfo.decode(found.value);
    const reason = reasonOfWord(info?.reason ?? "");
    return info?.domain === DOMAIN && reason !== undefined ? new GatewayError(reason, info.metadata) : undefined;
  } catch {
    // Bytes that are no google.rpc.Status are another server's; the status code alone speaks then.
    return undefined;
  }
}

/** At most so many bytes of UTF-8, whole characters only, ending in an ellipsis where something was cut. */
function clip(text: string, bytesMax: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= bytesMax) return bytes.toString();
  let end = Math.max(bytesMax - 3, 0);
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytesMax < 3 ? "" : `${bytes.toString("utf8", 0, end)}…`;
}
