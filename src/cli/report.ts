/** `tollgate usage`, `models` and `ledger verify`: what was used, what is served, whether the money is right. */
import type { Command } from "commander";
import {
  AccountServiceService,
  type ListModelsResponse,
  ModelServiceService,
  type SummarizeUsageResponse,
  type Usage,
  UsageServiceService,
  type VerifyLedgerResponse,
} from "../api/index.js";
import { formatPricePerMillion, formatUsd } from "../money.js";
import { readDay } from "./arguments.js";
import { connected, type ConnectionOptions, withConnection } from "./connection.js";
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
      .description("check every account, transfer, hold, and settlement; exits with 1 where something does not hold"),
  ).action(verify);
}

async function usage(options: ConnectionOptions & { account: string; from: string; to: string }): Promise<void> {
  await connected(options, async (connection) => {
    const method = UsageServiceService.summarizeUsage;
    const request = { accountId: options.account, fromDay: options.from, toDay: options.to };
    connection.show(method, await connection.call(method, request), formatUsage);
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
    if (!answer.holds) process.exitCode = 1;
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
  const sum = { requests: 0n, input: 0n, output: 0n, nanos: 0n };
  const rows = answer.summaries.map((line) => {
    const { input, output } = tokensOf(line.usage);
    sum.requests += line.requestCount;
    sum.input += input;
    sum.output += output;
    sum.nanos += line.costNanos;
    const numbers = [`${line.requestCount}`, `${input}`, `${output}`, formatUsd(line.costNanos)];
    return [line.day, line.accountId, line.keyId, line.model, ...numbers];
  });
  const total = ["total", "", "", "", `${sum.requests}`, `${sum.input}`, `${sum.output}`, formatUsd(sum.nanos)];
  return formatTable(columns, [...rows, total]);
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
