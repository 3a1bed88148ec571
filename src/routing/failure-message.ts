/** Why an attempt failed: what its connection says, and words for operators. */
import { GatewayError } from "../base/errors.js";
import { isDescriptorError } from "../upstream/upstream.js";
import { withoutEcho } from "../wire/error/echo.js";
import { upstreamFailed } from "../wire/error/refusals.js";
import { UpstreamRefusal } from "../wire/error/upstream-refusal.js";
import type { WireRequest } from "../wire/wire.js";

/** The upstream's message without secrets and without the client's own words; else how the connection failed. */
export function failureMessage(error: GatewayError | undefined, request: WireRequest): string {
  if (error === undefined) return "";
  const { cause, metadata } = error;
  if (cause instanceof UpstreamRefusal) return withoutEcho(cause.said, request);
  const code = cause instanceof Error && "code" in cause && typeof cause.code === "string" ? ` (${cause.code})` : "";
  return `${metadata["problem"] ?? ""}${code}`.trim();
}

/** That the gateway can open no connection says nothing of the upstream, and no other one could be reached either. */
export function connectionFailure(error: Error, sent: boolean): GatewayError {
  if (!sent && isDescriptorError(error))
    return new GatewayError(
      "ERROR_REASON_OVERLOADED",
      { problem: "it can open no more connections now" },
      { cause: error },
    );
  return upstreamFailed(sent ? "the connection was cut" : "it cannot be reached", error);
}
