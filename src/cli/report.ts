/** `tollgate models` and `ledger verify`: what is served, and whether the money is right. */
import type { Command } from "commander";
import {
  AccountServiceService,
  type ListModelsResponse,
  type Model,
  ModelServiceService,
  type VerifyLedgerResponse,
} from "../api/index.js";
import { ratesWords } from "../api/rate-words.js";
import { formatPricePerMillion } from "../base/money.js";
import { connected, type ConnectionOptions, withConnection } from "./connection.js";
import { EXIT_CODES } from "./exit-code.js";
import { ARCHIVE_READER, archivedNote, type Column, formatLimit, formatTable, printable } from "./print.js";

/** A long ledger takes its time. */
const VERIFY_MS_MAX = 3_600_000;

export function addReportCommands(program: Command): void {
  withConnection(program.command("models").description("list the models that the key may use")).action(models);
  const ledger = program.command("ledger").description("verify the ledger");
  withConnection(
    ledger
      .command("verify")
      .description("verify every account, transfer, hold, and settlement; exits with 7 if an error is found")
      .addHelpText(
        "after",
        `\nA node has no files of an archive. Beside them, what is archived is checked by\n${ARCHIVE_READER}.`,
      ),
  ).action(verify);
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

function formatModels(answer: ListModelsResponse): string {
  if (answer.models.length === 0) return "No models.";
  const hasRates = answer.models.some(({ price }) => (price?.rates ?? []).length > 0);
  const columns: Column[] = [
    "MODEL",
    { title: "CONTEXT", numeric: true },
    { title: "OUTPUT MAX", numeric: true },
    { title: "USD/M IN", numeric: true },
    { title: "USD/M OUT", numeric: true },
    ...(hasRates ? ["OTHER PRICES"] : []),
    "UPSTREAMS",
  ];
  const rows = answer.models.map((model) => [
    model.id,
    formatLimit(model.contextTokens),
    formatLimit(model.outputTokensMax),
    formatTokenPrice(model, "inputPicos"),
    formatTokenPrice(model, "outputPicos"),
    ...(hasRates ? [(model.price && ratesWords(model.price)) || "-"] : []),
    model.upstreams.join(" ") || "-",
  ]);
  return formatTable(columns, rows);
}

function formatTokenPrice({ price }: Model, part: "inputPicos" | "outputPicos"): string {
  return price === undefined || price.tokensUnpriced ? "-" : formatPricePerMillion(price[part]);
}

function formatProof(answer: VerifyLedgerResponse): string {
  const { accountCount, transferCount, openHoldCount, archivedTransferCount, archivedBefore } = answer;
  const checked = `${accountCount} accounts, ${transferCount} transfers, ${openHoldCount} open holds`;
  const archived = archivedNote(archivedBefore, `${archivedTransferCount} transfers`);
  if (answer.holds) return `The ledger holds: ${checked}.${archived}`;
  const problems = answer.problems.map((line) => `- ${printable(line)}`);
  return [`The ledger does NOT hold: ${checked}.`, ...problems].join("\n") + archived;
}
