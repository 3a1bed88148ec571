/** Which requests `tollgate requests list` and `watch` show, as options. */
import type { Command } from "commander";
import { RequestState, type WatchRequestsRequest } from "../api/index.js";
import { readUsd, readWhole } from "./arguments.js";
import { EnumWords } from "./enum-words.js";

const STATES = new EnumWords<RequestState>(RequestState, "REQUEST_STATE_");

export interface FilterOptions {
  readonly account: string;
  readonly ofKey: string;
  readonly model: string;
  readonly upstream: string;
  readonly state?: RequestState;
  readonly reason: string;
  readonly status?: bigint;
  readonly failed?: true;
  readonly minCost?: bigint;
  readonly minMs?: bigint;
  readonly user: string;
  readonly tag: string;
  readonly query: string;
}

export function withFilter(command: Command): Command {
  return command
    .option("--account <id>", "only of this account", "")
    .option("--of-key <id>", "only of this key", "")
    .option("--model <id>", "only of this model", "")
    .option("--upstream <id>", "only of this upstream", "")
    .option("--state <state>", `only with this state: ${STATES.words.join(", ")}`, STATES.read)
    .option("--reason <word>", "only with this error reason, such as RATE_LIMITED", "")
    .option("--failed", "only failed requests")
    .option("--status <code>", "only with this HTTP status", readWhole)
    .option("--min-cost <usd>", "only with at least this cost", readUsd)
    .option("--min-ms <ms>", "only with at least this duration", readWhole)
    .option("--user <name>", "only for this end user", "")
    .option("--tag <tag>", "only with this tag", "")
    .option("--query <text>", "only with this text in the request id, the client's own id, or the session", "");
}

export function filterOf(options: FilterOptions): WatchRequestsRequest {
  return {
    accountId: options.account,
    keyId: options.ofKey,
    model: options.model,
    upstream: options.upstream,
    state: options.state ?? RequestState.REQUEST_STATE_UNSPECIFIED,
    reason: options.reason,
    httpStatus: Number(options.status ?? 0n),
    minCostNanos: options.minCost,
    maxCostNanos: undefined,
    minTotalMs: options.minMs === undefined ? undefined : Number(options.minMs),
    maxTotalMs: undefined,
    endUser: options.user,
    tag: options.tag,
    query: options.query,
    failed: options.failed ?? false,
    minHttpStatus: 0,
    maxHttpStatus: 0,
  };
}
