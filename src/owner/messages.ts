/** What goes over the socket between the owner of a database and the workers beside it. */
import { type ErrorMetadata, GatewayError, isReasonName } from "../base/errors.js";

/** A worker asks one part of the owner for something. With the id 0 it awaits no answer. */
export type OwnerRequest = readonly [id: number, part: string, name: string, args: readonly unknown[]];
/** The answer to a question; with the id 0 the owner tells something of itself. */
export type Word =
  | readonly [id: number, hasFailed: boolean, value: unknown]
  | readonly [id: 0, name: string, args: readonly unknown[]];

/** A failure, as it can be sent. */
interface Failure {
  readonly reason: string;
  readonly metadata: ErrorMetadata;
  readonly problem: string;
}

export function failureOf(error: unknown): Failure {
  const { reason, metadata, cause } = GatewayError.from(error);
  return { reason, metadata, problem: cause instanceof Error ? cause.message : String(cause) };
}

export function errorOf({ reason, metadata, problem }: Failure): GatewayError {
  const known = isReasonName(reason) ? reason : "ERROR_REASON_INTERNAL";
  return new GatewayError(known, metadata, { cause: new Error(problem) });
}

/** The value of an answer that failed. */
export function isFailure(value: unknown): value is Failure {
  return typeof value === "object" && value !== null && "reason" in value && "metadata" in value && "problem" in value;
}
