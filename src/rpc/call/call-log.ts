/** What the log keeps of calls beside generations: who was refused and why, and who changed what. */
import type { MethodDescription } from "../../api/descriptors.js";
import { AccountServiceService, SettingsServiceService, UpstreamServiceService } from "../../api/index.js";
import type { GatewayError } from "../../base/errors.js";
import { snakeCase } from "../../api/field-name.js";
import type { Log } from "../../observe/log.js";
import type { RequestTrace } from "../../observe/tracing.js";
import type { Head } from "./head.js";

/** Refusals of the caller, which no other line tells: its key, its permissions, its limits and its money. */
const REFUSED_STATUSES: ReadonlySet<number> = new Set([401, 402, 403, 429]);
/** A limit of an upstream ends a generation, whose line tells it. */
const TOLD_ELSEWHERE: ReadonlySet<string> = new Set([
  "ERROR_REASON_UPSTREAM_RATE_LIMITED",
  "ERROR_REASON_UPSTREAM_FULL",
]);
/** Facts of a refusal that help to find its cause. Nothing of the request's own text is among them. */
const FACTS = [
  ["key", "key_hint"],
  ["model", "model"],
  ["scope", "scope"],
  ["limit", "limit"],
  ["limit_value", "limit_value"],
  ["owner", "owner"],
  ["budget", "budget"],
  ["limit_nanos", "limit_nanos"],
  ["needed_nanos", "needed_nanos"],
  ["available_nanos", "available_nanos"],
  ["remaining_nanos", "remaining_nanos"],
] as const;
/** Fields of a management call that name what was changed, and how. No secret has one of these names. */
const TARGETS = ["id", "accountId", "creditId", "debitId", "refundId", "requestId", "amountNanos", "reason"] as const;
const TEXT_MAX = 200;
/** Acts of operators that look and change nothing. */
const LOOKS: ReadonlySet<string> = new Set([
  AccountServiceService.verifyLedger.path,
  UpstreamServiceService.testUpstream.path,
  SettingsServiceService.testObject.path,
  SettingsServiceService.checkObjects.path,
]);

/** Anybody can be refused, so strangers could fill a disk: of one reason at most so many lines a second. */
const LINES_A_SECOND_MAX = 50;

export class CallLog {
  readonly #log: Log | undefined;
  readonly #nowMs: () => number;
  readonly #told = new Map<string, { second: number; lines: number; left: number }>();

  /** `nowMs` is monotonic. */
  constructor(log: Log | undefined, nowMs: () => number) {
    this.#log = log;
    this.#nowMs = nowMs;
  }

  /** The call ended with an error. */
  refused(error: GatewayError, path: string, head: Head, trace?: RequestTrace): void {
    const { cause, reason } = error;
    const traced = trace && { trace_id: trace.traceId, span_id: trace.spanId };
    const call = { request_id: head.requestId, ...traced, path, reason: error.reasonWord };
    if (reason === "ERROR_REASON_INTERNAL") this.#log?.error({ ...call, err: cause }, "a call failed");
    else if (REFUSED_STATUSES.has(error.http) && !TOLD_ELSEWHERE.has(reason)) this.#refusal(error, call, head);
    else if (cause !== undefined) this.#log?.debug({ ...call, err: cause }, "a call was refused");
  }

  /** A call that its method declares as an act was answered. */
  changed(path: string, request: unknown, response: unknown, head: Head): void {
    const fields: Record<string, unknown> = { request_id: head.requestId, path, ...whoOf(head) };
    // What was made names itself in the answer.
    for (const made of ["key", "account"]) copyTargets(fieldOf(response, made), fields, `made_${made}_`);
    copyTargets(request, fields, "");
    this.#log?.info(fields, LOOKS.has(path) ? "something was looked into" : "something was changed");
  }

  #refusal(error: GatewayError, call: Record<string, unknown>, head: Head): void {
    const left = this.#mayTell(error.reason);
    if (left === undefined) return;
    const fields: Record<string, unknown> = { ...call, status: error.http, ...whoOf(head) };
    for (const [name, spelled] of FACTS) {
      const value = error.metadata[name];
      if (value !== undefined) fields[spelled] = value.slice(0, TEXT_MAX);
    }
    if (left > 0) fields["lines_left_out"] = left;
    this.#log?.warn(fields, "a caller was refused");
  }

  /** How many lines of this reason were left out before; undefined where this one is as well. */
  #mayTell(reason: string): number | undefined {
    const second = Math.floor(this.#nowMs() / 1_000);
    let told = this.#told.get(reason);
    if (told === undefined) this.#told.set(reason, (told = { second, lines: 0, left: 0 }));
    if (told.second !== second) Object.assign(told, { second, lines: 0 });
    told.lines += 1;
    if (told.lines > LINES_A_SECOND_MAX) {
      told.left += 1;
      return undefined;
    }
    const { left } = told;
    told.left = 0;
    return left;
  }
}

/** True for a method that changes accounts, keys or upstreams. What uses models has records of its own. */
export function isChange({ http, path }: MethodDescription): boolean {
  return http !== undefined && http.verb !== "GET" && !path.includes(".InferenceService/");
}

function whoOf({ caller, address }: Head): Record<string, unknown> {
  return {
    ...(caller === undefined ? {} : { account: caller.accountId, key: caller.keyId }),
    ...(address === undefined ? {} : { address }),
  };
}

function copyTargets(from: unknown, to: Record<string, unknown>, prefix: string): void {
  for (const name of TARGETS) {
    const value = fieldOf(from, name);
    if (typeof value !== "string" && typeof value !== "bigint") continue;
    const text = String(value).slice(0, TEXT_MAX);
    if (text !== "") to[prefix + snakeCase(name)] = text;
  }
}

function fieldOf(message: unknown, name: string): unknown {
  return typeof message === "object" && message !== null ? Reflect.get(message, name) : undefined;
}
