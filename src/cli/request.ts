/** `tollgate requests list` and `show`: what requests used and cost, with the attempts and transfers of one. */
import type { Command } from "commander";
import {
  type GetRequestResponse,
  type ListRequestsResponse,
  type RequestRecord,
  RequestState,
  UsageServiceService,
} from "../api/index.js";
import { enumWord } from "../api/descriptors.js";
import { formatUsd } from "../money.js";
import { readLimit } from "./arguments.js";
import { connected, type ConnectionOptions, readPages, withConnection } from "./connection.js";
import { type Column, formatTable, formatTime } from "./print.js";

/** No filter but the account. */
const ALL = {
  keyId: "",
  model: "",
  upstream: "",
  state: RequestState.REQUEST_STATE_UNSPECIFIED,
  reason: "",
  httpStatus: 0,
  endUser: "",
  tag: "",
  query: "",
};

export function addRequestReports(request: Command): void {
  withConnection(
    request
      .command("list")
      .description("list requests, newest first")
      .option("--account <id>", "only this account's", "")
      .option("--limit <rows>", "at most so many", readLimit, 100),
  ).action(list);
  withConnection(
    request
      .command("show")
      .description("show one request with its attempts and what it moved")
      .argument("<id>", "the request, as in x-request-id"),
  ).action(show);
  withConnection(
    request
      .command("erase")
      .description("take an end user out of all records, for good; what was used and paid stays")
      .argument("<end-user>", "the person, as requests named it")
      .option("--account <id>", "only in this account's records", ""),
  ).action(erase);
}

async function erase(endUser: string, options: ConnectionOptions & { account: string }): Promise<void> {
  await connected(options, async (connection) => {
    const method = UsageServiceService.eraseEndUser;
    const answer = await connection.call(method, { endUser, accountId: options.account });
    connection.show(method, answer, ({ requestCount }) => `Erased from the records of ${requestCount} requests.`);
  });
}

async function list(options: ConnectionOptions & { account: string; limit: number }): Promise<void> {
  await connected(options, async (connection) => {
    const method = UsageServiceService.listRequests;
    const { items, nextPageToken } = await readPages(options.limit, async (pageSize, pageToken) => {
      const page = await connection.call(method, { ...ALL, accountId: options.account, pageSize, pageToken });
      return { items: page.requests, nextPageToken: page.nextPageToken };
    });
    connection.show(method, { requests: items, nextPageToken }, formatRequests);
  });
}

async function show(id: string, options: ConnectionOptions): Promise<void> {
  await connected(options, async (connection) => {
    const method = UsageServiceService.getRequest;
    const answer = await connection.call(method, { id });
    connection.show(method, answer, formatReceipt);
  });
}

function formatRequests({ requests, nextPageToken }: ListRequestsResponse): string {
  if (requests.length === 0) return "No requests.";
  const columns: Column[] = [
    "REQUEST",
    "CREATED",
    "ACCOUNT",
    "KEY",
    "MODEL",
    "UPSTREAM",
    "STATE",
    { title: "MS", numeric: true },
    { title: "TOKENS OUT", numeric: true },
    { title: "USD", numeric: true },
  ];
  const rows = requests.map((record) => [
    record.id,
    formatTime(record.createTime),
    record.accountId,
    record.keyId,
    record.model,
    record.upstream || "-",
    enumWord("tollgate.v1.RequestState", record.state),
    durationOf(record),
    `${(record.usage?.outputTokens ?? 0n) + (record.usage?.reasoningTokens ?? 0n)}`,
    formatUsd(record.chargedNanos),
  ]);
  return formatTable(columns, rows) + (nextPageToken === "" ? "" : "\nThere are more: raise --limit.");
}

function durationOf({ createTime, endTime }: RequestRecord): string {
  return createTime === undefined || endTime === undefined ? "-" : `${endTime.valueOf() - createTime.valueOf()}`;
}

function formatReceipt({ request, entries }: GetRequestResponse): string {
  if (request === undefined) return "No such request.";
  const { usage } = request;
  const facts = [
    ["request", request.id],
    ["account", request.accountId],
    ["key", request.keyId],
    ["model", request.model],
    ["upstream", request.upstream || "-"],
    ["state", enumWord("tollgate.v1.RequestState", request.state)],
    ["created", formatTime(request.createTime)],
    ["ended", formatTime(request.endTime)],
    ["tokens in", `${usage?.inputTokens ?? 0n}, of caches ${usage?.cacheReadTokens ?? 0n}`],
    ["tokens out", `${usage?.outputTokens ?? 0n}, of reasoning ${usage?.reasoningTokens ?? 0n}`],
    ["held USD", formatUsd(request.holdNanos)],
    ["cost USD", formatUsd(request.costNanos)],
    ["charged USD", formatUsd(request.chargedNanos)],
    ["refunded USD", formatUsd(request.refundedNanos)],
  ];
  const attempts = request.attemptLog.map((attempt) => [
    `${attempt.number}`,
    attempt.upstream,
    attempt.upstreamModel || "-",
    enumWord("tollgate.v1.AttemptEnd", attempt.end),
    attempt.httpStatus === undefined ? "-" : `${attempt.httpStatus}`,
    attempt.durationMs === undefined ? "-" : `${attempt.durationMs}`,
  ]);
  const moved = entries.map((entry) => [
    enumWord("tollgate.v1.EntryKind", entry.kind),
    formatUsd(entry.amountNanos),
    formatTime(entry.createTime),
    entry.id,
  ]);
  return [
    formatTable(["FACT", "VALUE"], facts),
    formatTable(["ATTEMPT", "UPSTREAM", "MODEL", "END", "STATUS", "MS"], attempts),
    formatTable(["ENTRY", { title: "USD", numeric: true }, "TIME", "ID"], moved),
  ].join("\n\n");
}
