/** `tollgate usage`: what was used and what it cost, by day, account, key and model, or by what is asked for. */
import { type Command, InvalidArgumentError } from "commander";
import {
  type QueryUsageResponse,
  type SummarizeUsageResponse,
  type Usage,
  UsageDimension,
  UsageServiceService,
  type UsageSum,
  type UsageSummary,
} from "../api/index.js";
import { dayOf } from "../base/day.js";
import { usageHead, usageLine } from "../api/usage-csv.js";
import { isCostUnknown, type OperatorSums } from "../api/usage.js";
import { USAGE_FORMS } from "../api/usage-export.js";
import { metersWords } from "../api/meters.js";
import { formatUsd } from "../base/money.js";
import { readDay, readSpan } from "./arguments.js";
import { type Connection, connected, type ConnectionOptions, readPages, withConnection } from "./connection.js";
import { EnumWords } from "./enum-words.js";
import { CommandFailure } from "./failure.js";
import { type Names, namesOf } from "./names.js";
import { type Column, formatTable, numeric, printPart } from "./print.js";

const DIMENSIONS = new EnumWords<UsageDimension>(UsageDimension, "USAGE_DIMENSION_");
/** What has a name beside its id. */
const NAMED = [
  {
    dimension: UsageDimension.USAGE_DIMENSION_ACCOUNT,
    title: "account_name",
    nameIn: (names: Names, id: string) => names.accountName(id),
  },
  {
    dimension: UsageDimension.USAGE_DIMENSION_KEY,
    title: "key_name",
    nameIn: (names: Names, id: string) => names.keyName(id),
  },
];
const GROUPS_MAX = 2;
const EXAMPLES = `
Examples:
  tollgate usage --account acme --from 2026-11-01 --json
  tollgate usage --by model,key --since 7d --csv
  tollgate usage --by minute --since 30m --model gpt-5.4

Without --by, the sums cover whole UTC days and answered requests only. With --by, they cover all
requests, including refused ones, of the last 24 hours or of --since.`;

interface UsageOptions extends ConnectionOptions {
  readonly account: string;
  readonly from: string;
  readonly to: string;
  readonly since?: Date;
  readonly by?: readonly UsageDimension[];
  readonly ofKey: string;
  readonly model: string;
  readonly upstream: string;
  readonly user: string;
  readonly tag: string;
  readonly reason: string;
  readonly timeZone: string;
  readonly tagName: string;
  readonly csv?: true;
}

export function addUsageCommand(program: Command): void {
  withConnection(
    program
      .command("usage")
      .description("sum up usage and cost by day, account, key and model, or by other properties with --by")
      .option("--by <what>", `one or two of ${DIMENSIONS.words.join(", ")}, separated by a comma`, readDimensions)
      .option("--since <time>", "how far back, such as 7d, 24h or 30m", readSpan)
      .option("--from <day>", "from this UTC day (default: 30 days ago); not with --by", readDay, "")
      .option("--to <day>", "up to and including this UTC day (default: today); not with --by", readDay, "")
      .option("--account <id>", "only of this account", "")
      .option("--of-key <id>", "with --by: only of this key", "")
      .option("--model <id>", "with --by: only of this model", "")
      .option("--upstream <id>", "with --by: only of this upstream", "")
      .option("--user <name>", "with --by: only for this end user", "")
      .option("--tag <tag>", "with --by: only with this tag", "")
      .option("--reason <word>", "with --by: only with this error reason", "")
      .option("--time-zone <name>", "with --by: the time zone of days and hours, such as Europe/Berlin", "")
      .option("--tag-name <name>", "with --by tag_value: the tag whose values are summed up, such as team", "")
      .option("--csv", "print CSV, amounts in USD")
      .addHelpText("after", EXAMPLES),
  ).action(usage);
}

function readDimensions(text: string): readonly UsageDimension[] {
  const found = text.split(",").map((word) => DIMENSIONS.find(word.trim()));
  if (found.length <= GROUPS_MAX && found.every((one) => one !== undefined)) return found;
  throw new InvalidArgumentError(`Write at most two of ${DIMENSIONS.words.join(", ")}.`);
}

async function usage(options: UsageOptions): Promise<void> {
  if (options.csv && options.json) throw new CommandFailure("choose one of --csv and --json", "usage");
  if (options.since !== undefined && options.from !== "")
    throw new CommandFailure("choose one of --since and --from", "usage");
  await connected(options, (connection) =>
    options.by === undefined ? byDay(connection, options) : grouped(connection, options, options.by),
  );
}

async function byDay(connection: Connection, options: UsageOptions): Promise<void> {
  const method = UsageServiceService.summarizeUsage;
  const fromDay = options.since === undefined ? options.from : dayOf(options.since.valueOf());
  const request = { accountId: options.account, fromDay, toDay: options.to };
  let total: UsageSummary | undefined;
  const { items } = await readPages(Number.MAX_SAFE_INTEGER, async (pageSize, pageToken) => {
    const page = await connection.call(method, { ...request, pageSize, pageToken });
    total = page.total;
    return { items: page.summaries, nextPageToken: page.nextPageToken };
  });
  if (options.csv) return printPart(USAGE_FORMS.csv.head + items.map(USAGE_FORMS.csv.line).join(""));
  const answer = { summaries: items, nextPageToken: "", total };
  await connection.showNamed(method, answer, items, (names) => formatDays(answer, names));
}

function formatDays(answer: SummarizeUsageResponse, names: Names): string {
  if (answer.summaries.length === 0) return "No requests.";
  const sums = answer.total === undefined ? answer.summaries : [...answer.summaries, answer.total];
  const titles = ["REQUESTS", "TOKENS IN", "TOKENS OUT", ...unitTitle(sums), "USD"];
  // Only operators are told their costs.
  if (answer.total?.operatorCostNanos !== undefined) titles.push("COST", "MARGIN");
  const columns: Column[] = ["DAY", "ACCOUNT", "KEY", "MODEL", ...titles.map(numeric)];
  const rows = answer.summaries.map((one) => [
    one.day,
    names.account(one.accountId),
    names.key(one.keyId),
    one.model,
    ...numbersOf(one, sums),
  ]);
  if (answer.total !== undefined) rows.push(["total", "", "", "", ...numbersOf(answer.total, sums)]);
  return formatTable(columns, rows);
}

interface UsedSum {
  readonly usage?: Usage | undefined;
}

/** A column of units stands in a table only where something used any. */
function unitTitle(sums: readonly UsedSum[]): string[] {
  return sums.some(({ usage }) => (usage?.meters.length ?? 0) > 0) ? ["UNITS"] : [];
}

function unitCell({ usage }: UsedSum, sums: readonly UsedSum[]): string[] {
  return unitTitle(sums).map(() => metersWords(usage?.meters ?? []) || "-");
}

function numbersOf(summary: UsageSummary, sums: readonly UsedSum[]): string[] {
  const { requestCount, usage, costNanos, operatorCostNanos } = summary;
  const { input, output } = tokensOf(usage);
  const own = operatorCostNanos === undefined ? [] : operatorFigures(summary, costNanos);
  return [`${requestCount}`, `${input}`, `${output}`, ...unitCell(summary, sums), formatUsd(costNanos), ...own];
}

/** The operator's cost and margin. */
function operatorFigures(sums: OperatorSums, chargedNanos: bigint): string[] {
  if (isCostUnknown(sums, chargedNanos)) return ["unknown", "unknown"];
  return [formatUsd(sums.operatorCostNanos ?? 0n), formatUsd(sums.marginNanos ?? 0n)];
}

/** All tokens read, cached or not, and all tokens answered. */
export function tokensOf(usage: Usage | undefined): { input: bigint; output: bigint } {
  if (usage === undefined) return { input: 0n, output: 0n };
  const cached = usage.cacheReadTokens + usage.cacheWriteTokens + usage.cacheWrite1hTokens;
  return {
    input: usage.inputTokens + cached + usage.imageTokens + usage.audioInputTokens,
    output: usage.outputTokens + usage.reasoningTokens + usage.audioOutputTokens,
  };
}

async function grouped(connection: Connection, options: UsageOptions, by: readonly UsageDimension[]): Promise<void> {
  if (options.from !== "" || options.to !== "")
    throw new CommandFailure("--from and --to are of whole days: say --since with --by", "usage");
  const method = UsageServiceService.queryUsage;
  const answer = await connection.call(method, {
    accountId: options.account,
    groupBy: [...by],
    startTime: options.since,
    endTime: undefined,
    keyId: options.ofKey,
    model: options.model,
    upstream: options.upstream,
    endUser: options.user,
    tag: options.tag,
    reason: options.reason,
    valuesMax: 0,
    timeZone: options.timeZone,
    tagName: options.tagName,
    httpStatus: 0,
  });
  const words = by.map((one) => DIMENSIONS.wordOf(one));
  const named = answer.sums.map(({ values }) => ({
    accountId: values[by.indexOf(UsageDimension.USAGE_DIMENSION_ACCOUNT)] ?? "",
    keyId: values[by.indexOf(UsageDimension.USAGE_DIMENSION_KEY)] ?? "",
  }));
  if (options.csv) return printPart(csvOf(answer, by, await namesOf(connection, named)));
  await connection.showNamed(method, answer, named, (names) => formatSums(answer, words, names));
}

/** Ids are what programs go by; the names behind them are for people. */
function csvOf({ sums }: QueryUsageResponse, by: readonly UsageDimension[], names: Names): string {
  const known = NAMED.flatMap(({ dimension, title, nameIn }) => {
    const place = by.indexOf(dimension);
    return place < 0 ? [] : [{ title, name: ({ values }: UsageSum) => nameIn(names, values[place] ?? "") }];
  });
  const titles = known.map(({ title }) => title);
  const lines = sums.map((sum) =>
    usageLine(
      sum,
      known.map(({ name }) => name(sum)),
    ),
  );
  return usageHead(by, titles) + lines.join("");
}

function formatSums({ sums }: QueryUsageResponse, words: readonly string[], names: Names): string {
  if (sums.length === 0) return "No requests.";
  const isOperator = sums.some(({ operatorCostNanos }) => operatorCostNanos !== undefined);
  const titles = ["REQUESTS", "FAILED", "TOKENS IN", "TOKENS OUT", ...unitTitle(sums), "USD"];
  if (isOperator) titles.push("COST", "MARGIN");
  const columns: Column[] = [
    ...words.map((word) => word.toUpperCase()),
    ...[...titles, "FIRST MS P50", "P95", "TOTAL MS P50", "P95"].map(numeric),
  ];
  const shown = (value: string, place: number): string => {
    if (words[place] === "account") return names.account(value);
    return words[place] === "key" ? names.key(value) : value || "-";
  };
  return formatTable(
    columns,
    sums.map((sum) => [...sum.values.map(shown), ...figuresOf(sum, sums, isOperator), ...timesOf(sum)]),
  );
}

function figuresOf(sum: UsageSum, sums: readonly UsageSum[], isOperator: boolean): string[] {
  const { input, output } = tokensOf(sum.usage);
  const own = isOperator ? operatorFigures(sum, sum.chargedNanos) : [];
  const counts = [`${sum.requestCount}`, `${failedIn(sum)}`, `${input}`, `${output}`, ...unitCell(sum, sums)];
  return [...counts, formatUsd(sum.chargedNanos), ...own];
}

export function failedIn({ errors }: UsageSum): bigint {
  return Object.values(errors).reduce((sum, count) => sum + count, 0n);
}

export function timesOf({ firstToken, total }: UsageSum): string[] {
  return [firstToken?.p50Ms, firstToken?.p95Ms, total?.p50Ms, total?.p95Ms].map((ms) =>
    ms === undefined ? "-" : ms.toFixed(0),
  );
}
