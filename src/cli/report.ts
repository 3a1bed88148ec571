/** `tollgate usage`, `models` and `ledger verify`: what was used, what is served, whether the money is right. */
import type { Command } from "commander";
import {
  AccountServiceService,
  type ListModelsResponse,
  ModelServiceService,
  type SummarizeUsageResponse,
  type Usage,
  UsageServiceService,
  type UsageSummary,
  type VerifyLedgerResponse,
} from "../api/index.js";
import { formatPricePerMillion, formatUsd } from "../money.js";
import { readDay } from "./arguments.js";
import { connected, type ConnectionOptions, readPages, withConnection } from "./connection.js";
import { EXIT_CODES } from "./exit-code.js";
import { type Column, formatLimit, formatTable, printable } from "./print.js";

/** A long ledger takes its time. */
const VERIFY_MS_MAX = 3_600_000;

export function addReportCommands(program: Command): void {
  withConnection(
    program
      .command("usage")
      .description("sum up requests by day, account, key, and model")
      .option("--account <id>", "only this account's", "")
      .option("--from <day>", "from this UTC day on (default: 30 days ago)", readDay, "")
      .option("--to <day>", "until and with this UTC day (default: today)", readDay, "")
      .addHelpText("after", "\nExample:\n  tollgate usage --account acme --from 2026-11-01 --json"),
  ).action(usage);
  withConnection(program.command("models").description("list the models that the key may use")).action(models);
  const ledger = program.command("ledger").description("prove the ledger");
  withConnection(
    ledger
      .command("verify")
      .description("check every account, transfer, hold, and settlement; exits with 7 where something does not hold"),
  ).action(verify);
}

async function usage(options: ConnectionOptions & { account: string; from: string; to: string }): Promise<void> {
  await connected(options, async (connection) => {
    const method = UsageServiceService.summarizeUsage;
    const request = { accountId: options.account, fromDay: options.from, toDay: options.to };
    let total: UsageSummary | undefined;
    const { items } = await readPages(Number.MAX_SAFE_INTEGER, async (pageSize, pageToken) => {
      const page = await connection.call(method, { ...request, pageSize, pageToken });
      total = page.total;
      return { items: page.summaries, nextPageToken: page.nextPageToken };
    });
    connection.show(method, { summaries: items, nextPageToken: "", total }, formatUsage);
  });
}

async function models(options: ConnectionOptions): Promise<void> {
  await connected(options, async (connection) => {
    const method = ModelServiceService.listModels;
    const answer = await connection.call(method, { pageSize: 0, pageToken: "" });
    connection.show(method, answer, formatModels);
  });
}

async function verify(options: ConnectionOptions): Promise<void> {
  await connected(options, async (connection) => {
    const method = AccountServiceService.verifyLedger;
    const answer = await connection.call(method, {}, VERIFY_MS_MAX);
    connection.show(method, answer, formatProof);
    if (!answer.holds) process.exitCode = EXIT_CODES.unproven;
  });
}

function formatUsage(answer: SummarizeUsageResponse): string {
  if (answer.summaries.length === 0) return "No requests.";
  const columns: Column[] = [
    "DAY",
    "ACCOUNT",
    "KEY",
    "MODEL",
    { title: "REQUESTS", numeric: true },
    { title: "TOKENS IN", numeric: true },
    { title: "TOKENS OUT", numeric: true },
    { title: "USD", numeric: true },
  ];
  // Only operators are told their costs.
  if (answer.total?.operatorCostNanos !== undefined)
    columns.push({ title: "COST", numeric: true }, { title: "MARGIN", numeric: true });
  const rows = answer.summaries.map((line) => [line.day, line.accountId, line.keyId, line.model, ...numbersOf(line)]);
  if (answer.total !== undefined) rows.push(["total", "", "", "", ...numbersOf(answer.total)]);
  return formatTable(columns, rows);
}

function numbersOf({ requestCount, usage, costNanos, operatorCostNanos, marginNanos }: UsageSummary): string[] {
  const { input, output } = tokensOf(usage);
  const own = operatorCostNanos === undefined ? [] : [formatUsd(operatorCostNanos), formatUsd(marginNanos ?? 0n)];
  return [`${requestCount}`, `${input}`, `${output}`, formatUsd(costNanos), ...own];
}

/** All tokens read, cached or not, and all tokens answered. */
function tokensOf(usage: Usage | undefined): { input: bigint; output: bigint } {
  if (usage === undefined) return { input: 0n, output: 0n };
  const cached = usage.cacheReadTokens + usage.cacheWriteTokens + usage.cacheWrite1hTokens;
  return {
    input: usage.inputTokens + cached + usage.imageTokens + usage.audioInputTokens,
    output: usage.outputTokens + usage.reasoningTokens + usage.audioOutputTokens,
  };
}

function formatModels(answer: ListModelsResponse): string {
  if (answer.models.length === 0) return "No models.";
  const columns: Column[] = [
    "MODEL",
    { title: "CONTEXT", numeric: true },
    { title: "OUTPUT MAX", numeric: true },
    { title: "USD/M IN", numeric: true },
    { title: "USD/M OUT", numeric: true },
    "UPSTREAMS",
  ];
  const rows = answer.models.map((model) => [
    model.id,
    formatLimit(model.contextTokens),
    formatLimit(model.outputTokensMax),
    model.price === undefined ? "-" : formatPricePerMillion(model.price.inputPicos),
    model.price === undefined ? "-" : formatPricePerMillion(model.price.outputPicos),
    model.upstreams.join(" ") || "-",
  ]);
  return formatTable(columns, rows);
}

function formatProof(answer: VerifyLedgerResponse): string {
  const { accountCount, transferCount, openHoldCount } = answer;
  const checked = `${accountCount} accounts, ${transferCount} transfers, ${openHoldCount} open holds`;
  if (answer.holds) return `The ledger holds: ${checked}.`;
  return [`The ledger does NOT hold: ${checked}.`, ...answer.problems.map((line) => `- ${printable(line)}`)].join("\n");
}
