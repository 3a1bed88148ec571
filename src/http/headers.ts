/** Headers on their way in and out. Nothing that could end a header line is ever copied. */
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { CallMetadata } from "../api/channel.js";
import { invalid } from "../api/check.js";
import { parseTimeout } from "../base/timeout.js";

/** Answer headers that the service may set: `x-...`, `retry-...`, and what says that an answer came before. */
const ANSWER_NAME = /^(?:(?:x|retry)-[a-z0-9-]{1,60}|idempotent-replayed)$/;
/** Printable ASCII. CR, LF and NUL would split the header; Node refuses the other control characters as well. */
const PRINTABLE = /^[\x20-\x7e]{0,4096}$/;

const HOST = "host";
const TIMEOUT_HEADER = "x-tollgate-timeout";

export type AnswerHeaders = Record<string, string>;

/** True for a value that may stand in a header of ours. */
export function isHeaderValue(value: string | undefined): value is string {
  return value !== undefined && PRINTABLE.test(value);
}

/** The headers of an answer that come from the service's metadata. What may not be a header is left out. */
export function answerHeaders(head: CallMetadata): AnswerHeaders {
  const headers: AnswerHeaders = {};
  for (const name in head) {
    const value = head[name];
    if (isAnswerName(name) && isHeaderValue(value)) headers[name] = value;
  }
  return headers;
}

/** The names are few, so each is looked at once. */
const answerNames = new Map<string, boolean>();
const ANSWER_NAMES_MAX = 256;

function isAnswerName(name: string): boolean {
  const known = answerNames.get(name);
  if (known !== undefined) return known;
  const fits = ANSWER_NAME.test(name);
  if (answerNames.size < ANSWER_NAMES_MAX) answerNames.set(name, fits);
  return fits;
}

/**
 * Whom a request is meant for must be said, and once (RFC 9112, 3.2): of two hosts a proxy before this may take the
 * other one. Undefined where it is.
 */
export function hostProblem({ rawHeaders, httpVersion }: IncomingMessage): string | undefined {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === HOST.length && name.toLowerCase() === HOST) hosts += 1;
  }
  if (hosts > 1) return "the HTTP request names more than one host";
  return hosts === 0 && httpVersion === "1.1" ? "the HTTP request names no host" : undefined;
}

/** A client's header as call metadata, which is printable ASCII. Such a key is wrong anyway; the service says so. */
export function metadataValue(value: string): string {
  return PRINTABLE.test(value) ? value : value.slice(0, 4096).replaceAll(/[^\x20-\x7e]/g, "?");
}

/**
 * How long the client gives the request, in milliseconds, by `x-tollgate-timeout`; undefined where it says nothing.
 * Throws PARAMETER_INVALID.
 */
export function askedTimeoutMs(headers: IncomingHttpHeaders): number | undefined {
  const asked = headers[TIMEOUT_HEADER];
  if (asked === undefined) return undefined;
  const timeoutMs = typeof asked === "string" ? parseTimeout(asked) : undefined;
  if (timeoutMs === undefined || timeoutMs === 0)
    throw invalid(TIMEOUT_HEADER, "must be a time such as 500ms, 30s or 5m");
  return timeoutMs;
}

/** Whether an output limit that is too dear may be lowered: by `x-tollgate-clamp`, 1 or 0, else as the key says. */
export function askedClamp(headers: IncomingHttpHeaders): boolean | undefined {
  const asked = headers["x-tollgate-clamp"];
  if (asked === "1") return true;
  return asked === "0" ? false : undefined;
}

/** One string for each name, as formats read them. */
export function flatHeaders(headers: IncomingHttpHeaders): Readonly<Record<string, string>> {
  return flatRecord(headers);
}

/** Only the strings of a parsed query or of a route's parameters; of a repeated one, the first. */
export function flatRecord(values: unknown): Readonly<Record<string, string>> {
  const flat: Record<string, string> = Object.create(null);
  if (typeof values !== "object" || values === null) return flat;
  for (const [name, value] of Object.entries(values)) {
    const first: unknown = Array.isArray(value) ? value[0] : value;
    if (typeof first === "string") flat[name] = first;
  }
  return flat;
}
