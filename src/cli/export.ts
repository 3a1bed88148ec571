/** `tollgate export`: sums of usage, and entries of accounts, as files for other programs, a page at a time. */
import type { Command } from "commander";
import { InvalidArgumentError } from "commander";
import { dayOf } from "../base/day.js";
import { ENTRY_FORMS } from "../api/entry-export.js";
import { AccountServiceService, UsageServiceService } from "../api/index.js";
import { USAGE_FORMS } from "../api/usage-export.js";
import { readDay, readMoment, readSpan } from "./arguments.js";
import { connected, type Connection, type ConnectionOptions, withConnection } from "./connection.js";
import { archivedNote, printable, printPart } from "./print.js";

const PAGE_SIZE = 1_000;

interface ExportOptions extends ConnectionOptions {
  readonly account: string;
  readonly from: string;
  readonly to: string;
  readonly since?: Date;
  readonly format: keyof typeof USAGE_FORMS;
}

export function addExportCommands(program: Command): void {
  const command = program.command("export").description("export usage and ledger entries for other programs");
  withConnection(
    command
      .command("usage")
      .description("print usage by day, account, key and model")
      .option("--format <form>", "csv (USD), jsonl (nano-USD), or focus (the columns of FOCUS 1.2)", readForm, "csv")
      .option("--account <id>", "only of this account", "")
      .option("--from <day>", "from this UTC day (default: 30 days ago)", readDay, "")
      .option("--since <days>", "instead of --from: how far back, such as 7d", readSpan)
      .option("--to <day>", "up to and including this UTC day (default: today)", readDay, "")
      .addHelpText("after", "\nExample:\n  tollgate export usage --format focus --from 2026-11-01 > november.csv"),
  ).action(exportUsage);
  withConnection(
    command
      .command("entries")
      .description("print the ledger entries of accounts, oldest first, with the balance after each")
      .option("--format <form>", "csv (USD) or jsonl (nano-USD)", readEntryForm, "csv")
      .option("--account <id>", "only of this account (default: all accounts that the key may see)", "")
      .option("--from <day>", "from this UTC day or time (default: the first entry)", readMoment, "")
      .option("--to <day>", "up to and including this UTC day, or before this time (default: now)", readMoment, "")
      .addHelpText("after", "\nExample:\n  tollgate export entries --format jsonl --from 2026-11-01 > november.jsonl"),
  ).action(exportEntries);
}

interface EntryOptions extends ConnectionOptions {
  readonly account: string;
  readonly from: string;
  readonly to: string;
  readonly format: keyof typeof ENTRY_FORMS;
}

async function exportEntries({ account, from, to, format, ...options }: EntryOptions): Promise<void> {
  const { head, line } = ENTRY_FORMS[format];
  await connected(options, async (connection) => {
    let isFirst = true;
    for await (const id of account === "" ? accountIds(connection) : [account]) {
      let pageToken = "";
      do {
        const method = AccountServiceService.getStatement;
        const page = await connection.call(method, { id, from, to, pageSize: PAGE_SIZE, pageToken });
        printPart((isFirst ? head : "") + page.entries.map((entry) => line(id, entry)).join(""));
        isFirst = false;
        pageToken = page.nextPageToken;
        if (pageToken === "" && page.archivedBefore !== undefined)
          process.stderr.write(`tollgate: ${printable(id)}: ${archivedNote(page.archivedBefore, "entries").trim()}\n`);
      } while (pageToken !== "");
    }
  });
}

async function* accountIds(connection: Connection): AsyncGenerator<string> {
  const all = AccountServiceService.listAccounts.requestDeserialize(Buffer.alloc(0));
  let pageToken = "";
  do {
    const request = { ...all, pageSize: PAGE_SIZE, pageToken };
    const page = await connection.call(AccountServiceService.listAccounts, request);
    yield* page.accounts.map(({ id }) => id);
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
}

function readEntryForm(text: string): keyof typeof ENTRY_FORMS {
  if (text === "csv" || text === "jsonl") return text;
  throw new InvalidArgumentError("Write csv or jsonl.");
}

async function exportUsage(options: ExportOptions): Promise<void> {
  const { head, line } = USAGE_FORMS[options.format];
  await connected(options, async (connection) => {
    const method = UsageServiceService.summarizeUsage;
    const { account: accountId, to: toDay, since, from } = options;
    let pageToken = "";
    let isFirst = true;
    do {
      const request = {
        accountId,
        fromDay: since === undefined ? from : dayOf(since.valueOf()),
        toDay,
        pageSize: PAGE_SIZE,
        pageToken,
      };
      const page = await connection.call(method, request);
      // Nothing is written before the first page is there, so that a refusal leaves no half of a file.
      printPart((isFirst ? head : "") + page.summaries.map(line).join(""));
      isFirst = false;
      pageToken = page.nextPageToken;
    } while (pageToken !== "");
  });
}

function readForm(text: string): keyof typeof USAGE_FORMS {
  if (text === "csv" || text === "jsonl" || text === "focus") return text;
  throw new InvalidArgumentError("Write csv, jsonl or focus.");
}
