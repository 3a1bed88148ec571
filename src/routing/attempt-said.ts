/** What operators read of why an attempt failed. */
import type { GatewayError } from "../errors.js";
import { UpstreamRefusal } from "../wire/error/upstream-refusal.js";

/** Upstreams quote what a client wrote. What is short is mostly the name of a member or a model. */
const QUOTED = /(["'`])[^"'`]{41,}(["'`])/g;

/** The upstream's own words without secrets and without long quotes; else what the connection did. */
export function attemptSaid(error: GatewayError | undefined): string {
  if (error === undefined) return "";
  const { cause, metadata } = error;
  if (cause instanceof UpstreamRefusal) return cause.said.replace(QUOTED, "$1...$2");
  const code = cause instanceof Error && "code" in cause && typeof cause.code === "string" ? ` (${cause.code})` : "";
  return `${metadata["problem"] ?? ""}${code}`.trim();
}
