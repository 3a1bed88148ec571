/** `tollgate requests list`, `show` and `watch`: what requests used and cost, and how they went. */
import type { Command } from "commander";
import {
  type GetRequestResponse,
  type ListRequestsResponse,
  type ReadRequestContentResponse,
  type RequestRecord,
  UsageServiceService,
  type WatchRequestsResponse,
} from "../api/index.js";
import { enumWord } from "../api/descriptors.js";
import { answerToJson } from "../api/json.js";
import { metersWords } from "../api/meters.js";
import { formatMoney, formatUsd } from "../base/money.js";
import { readLimit, readSpan } from "./arguments.js";
import { connected, type ConnectionOptions, readPages, withConnection } from "./connection.js";
import { type Names, namesAsTheyCome } from "./names.js";
import { formatList, formatTable, formatTime, jsonMember, numeric, print, printable, remark } from "./print.js";
import { filterOf, type FilterOptions, withFilter } from "./request-filter.js";

export function addRequestReports(request: Command): void {
  const list = request
    .command("list")
    .description("list requests, newest first")
    .option("--since <time>", "how far back, such as 7d, 24h or 30m", readSpan)
    .option("--limit <rows>", "the maximum number of rows", readLimit, 100)
    .addHelpText("after", "\nExample:\n  tollgate requests list --account acme --reason RATE_LIMITED --since 24h");
  withConnection(withFilter(list)).action(listRequests);
  const watch = request
    .command("watch")
    .description("print requests when they end, including refused ones")
    .addHelpText("after", "\nExample:\n  tollgate requests watch --status 429");
  withConnection(withFilter(watch)).action(watchRequests);
  withConnection(
    request
      .command("show")
      .description("show one request with its attempts and ledger entries")
      .argument("<id>", "the id of the request, as in x-request-id")
      .option(
        "--content",
        "show the content of the request and its answer instead, if it is stored; the audit log records who read it",
      ),
  ).action(show);
  withConnection(
    request
      .command("erase")
      .description("permanently erase an end user from all records; usage and charges remain")
      .argument("<end-user>", "the end user, as requests named it")
      .option("--account <id>", "only in the records of this account", ""),
  ).action(erase);
}

async function erase(endUser: string, options: ConnectionOptions & { account: string }): Promise<void> {
  await connected(options, async (connection) => {
    const method = UsageServiceService.eraseEndUser;
    const answer = await connection.call(method, { endUser, accountId: options.account });
    connection.show(method, answer, ({ requestCount, contentCount }) => {
      const content = contentCount === 0n ? "" : ` The content of ${contentCount} was forgotten.`;
      return `Erased from the records of ${requestCount} requests.${content}`;
    });
  });
}

async function listRequests(
  options: ConnectionOptions & FilterOptions & { since?: Date; limit: number },
): Promise<void> {
  await connected(options, async (connection) => {
    const method = UsageServiceService.listRequests;
    const asked = { ...filterOf(options), startTime: options.since, endTime: undefined };
    const { items, nextPageToken } = await readPages(options.limit, async (pageSize, pageToken) => {
      const page = await connection.call(method, { ...asked, pageSize, pageToken });
      return { items: page.requests, nextPageToken: page.nextPageToken };
    });
    const answer = { requests: items, nextPageToken };
    await connection.showNamed(method, answer, items, (names) => formatRequests(answer, names));
  });
}

async function watchRequests(options: ConnectionOptions & FilterOptions): Promise<void> {
  await connected(options, async (connection) => {
    const method = UsageServiceService.watchRequests;
    const namesOf = namesAsTheyCome(connection);
    // One after the other, in the order in which they came.
    let printed: Promise<void> = Promise.resolve();
    const tell = async ({ requests, missedCount }: WatchRequestsResponse): Promise<void> => {
      for (const one of requests) print(options.json ? lineOf(one) : told(one, await namesOf(one)));
      if (missedCount > 0n) remark(`${missedCount} requests were left out: they came faster than they were read.`);
    };
    await connection.watch(method, filterOf(options), (message) => {
      printed = printed.then(() => tell(message));
    });
    await printed;
  });
}

function lineOf(request: RequestRecord): string {
  const json = answerToJson(UsageServiceService.watchRequests, { requests: [request], missedCount: 0n });
  return JSON.stringify(jsonMember(jsonMember(json, "requests"), "0"));
}

function told(request: RequestRecord, names: Names): string {
  return [formatTime(request.endTime), ...cellsOf(request, names), request.id].map(printable).join("  ");
}

async function show(id: string, options: ConnectionOptions & { content?: true }): Promise<void> {
  await connected(options, async (connection) => {
    if (options.content) {
      const reading = UsageServiceService.readRequestContent;
      return connection.show(reading, await connection.call(reading, { id }), formatContent);
    }
    const method = UsageServiceService.getRequest;
    const answer = await connection.call(method, { id });
    const named = answer.request === undefined ? [] : [answer.request];
    await connection.showNamed(method, answer, named, (names) => formatReceipt(answer, names));
  });
}

function formatContent({ content }: ReadRequestContentResponse): string {
  if (content === undefined) return "No content.";
  const part = (name: string, text: string, isCut: boolean): string =>
    `${name}${isCut ? " (cut)" : ""}\n${text === "" ? "-" : text.split("\n").map(printable).join("\n")}`;
  const { request, requestCut, answer, answerCut } = content;
  return `${part("REQUEST", request, requestCut)}\n\n${part("ANSWER", answer, answerCut)}`;
}

function formatRequests({ requests, nextPageToken }: ListRequestsResponse, names: Names): string {
  const columns = [
    "REQUEST",
    "CREATED",
    "ACCOUNT",
    "KEY",
    "MODEL",
    "UPSTREAM",
    "STATE",
    "STATUS",
    numeric("MS"),
    numeric("TOKENS OUT"),
    numeric("USD"),
  ];
  const rows = requests.map((record) => [record.id, formatTime(record.createTime), ...cellsOf(record, names)]);
  return formatList(columns, rows, "No requests.", nextPageToken);
}

function cellsOf(record: RequestRecord, names: Names): string[] {
  const { accountId, keyId, model, upstream, state, detail, usage, chargedNanos } = record;
  const reason = enumWord("tollgate.v1.ErrorReason", detail?.errorReason ?? 0);
  const status = detail === undefined || detail.httpStatus === 0 ? "-" : `${detail.httpStatus}`;
  return [
    names.account(accountId),
    names.key(keyId),
    model || "-",
    upstream || "-",
    enumWord("tollgate.v1.RequestState", state),
    detail?.errorReason === undefined ? status : `${status} ${reason}`,
    durationOf(record),
    `${(usage?.outputTokens ?? 0n) + (usage?.reasoningTokens ?? 0n)}`,
    formatUsd(chargedNanos),
  ];
}

function durationOf({ createTime, endTime, detail }: RequestRecord): string {
  if (detail !== undefined && detail.totalMs > 0) return detail.totalMs.toFixed(0);
  return createTime === undefined || endTime === undefined ? "-" : `${endTime.valueOf() - createTime.valueOf()}`;
}

function formatReceipt({ request, entries }: GetRequestResponse, names: Names): string {
  if (request === undefined) return "No such request.";
  const { detail } = request;
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
    formatTable(["FACT", "VALUE"], [...factsOf(request, names), ...(detail === undefined ? [] : detailsOf(detail))]),
    formatTable(["ATTEMPT", "UPSTREAM", "MODEL", "END", "STATUS", "MS"], attempts),
    formatTable(["ENTRY", numeric("USD"), "TIME", "ID"], moved),
  ].join("\n\n");
}

function factsOf(request: RequestRecord, names: Names): string[][] {
  const { usage } = request;
  return [
    ["request", request.id],
    ["account", names.account(request.accountId)],
    ["key", names.key(request.keyId)],
    ["model", request.model || "-"],
    ["upstream", request.upstream || "-"],
    ["state", enumWord("tollgate.v1.RequestState", request.state)],
    ["created", formatTime(request.createTime)],
    ["ended", formatTime(request.endTime)],
    ["tokens in", `${usage?.inputTokens ?? 0n}, of caches ${usage?.cacheReadTokens ?? 0n}`],
    ["tokens out", `${usage?.outputTokens ?? 0n}, of reasoning ${usage?.reasoningTokens ?? 0n}`],
    ...(usage === undefined || usage.meters.length === 0 ? [] : [["units", metersWords(usage.meters)]]),
    ["held USD", formatUsd(request.holdNanos)],
    ["cost USD", formatUsd(request.costNanos)],
    ["charged USD", formatUsd(request.chargedNanos)],
    ["refunded USD", formatUsd(request.refundedNanos)],
  ];
}

/** What the record tells beside the ledger, where it says anything. */
/** The facts of a refusal as people read them: "needed_nanos 86000" is "needed 0.000086 USD". */
function inUsd(facts: string): string {
  return facts.replaceAll(
    /\b(\w+)_nanos (\d+)/g,
    (_, name: string, nanos: string) => `${name} ${formatMoney(BigInt(nanos))}`,
  );
}

function affinityText({ affinity, affinitySource = 0 }: NonNullable<RequestRecord["detail"]>): string {
  if (affinity === undefined) return "";
  const [state, source] = [
    enumWord("tollgate.v1.AffinityState", affinity),
    enumWord("tollgate.v1.SessionSource", affinitySource),
  ];
  return `${state}, by ${source}`;
}

function parametersText({ parameters }: NonNullable<RequestRecord["detail"]>): string {
  return Object.entries(parameters ?? {})
    .flatMap(([change, names]) => (names.length === 0 ? [] : [`${change} ${names.join(" ")}`]))
    .join(", ");
}

function detailsOf(detail: NonNullable<RequestRecord["detail"]>): string[][] {
  const reason = enumWord("tollgate.v1.ErrorReason", detail.errorReason ?? 0);
  const timeMs = (value: number | undefined): string => (value === undefined ? "" : value.toFixed(0));
  return [
    ["asked model", detail.askedModel],
    ["status", detail.httpStatus === 0 ? "" : `${detail.httpStatus}`],
    ["reason", detail.errorReason === undefined ? "" : reason],
    ["what happened", detail.explanation],
    ["why", inUsd(detail.facts)],
    ["format", detail.format],
    ["first token ms", timeMs(detail.firstTokenMs)],
    ["total ms", timeMs(detail.totalMs)],
    ["upstream ms", timeMs(detail.upstreamMs)],
    ["end user", detail.endUser],
    ["tags", detail.tags.join(" ")],
    ["session", detail.session],
    ["affinity", affinityText(detail)],
    ["parameters", parametersText(detail)],
    ["cache marks", detail.cacheMarks === undefined ? "" : enumWord("tollgate.v1.CacheMarks", detail.cacheMarks)],
    ["cache saved USD", detail.cacheSavedNanos === undefined ? "" : formatUsd(detail.cacheSavedNanos)],
    ["client", detail.client],
    ["client's own id", detail.clientRequestId],
    ["address", detail.address],
  ].filter(([, value]) => value !== "");
}
