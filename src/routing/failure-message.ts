/** Why an attempt failed, in words for operators. */
import type { GatewayError } from "../errors.js";
import { withoutEcho } from "../wire/error/echo.js";
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
