/** `tollgate account`: opens accounts, credits them, and shows what is on them. */
import { randomBytes } from "node:crypto";
import { type Command, Option } from "commander";
import {
  type AccountQuotas,
  AccountServiceService,
  type CreditLine,
  type Entry,
  type GetStatementResponse,
  type ListAccountsResponse,
  type ListEntriesResponse,
  type ModelLimits,
  type Quota,
} from "../api/index.js";
import { enumWord } from "../api/descriptors.js";
import { statementEnd, statementHead, statementLines } from "../api/statement-csv.js";
import { formatUsd } from "../base/money.js";
import { readCreditLine, readLimit, readModelLimit, readMoment, readUsd, readWhole } from "./arguments.js";
import { connected, type ConnectionOptions, readPages, withConnection } from "./connection.js";
import { addShowCommand, formatBalance, formatSettings } from "./account-facts.js";
import { addDebitCommand, addFreezeCommands } from "./correction.js";
import { CommandFailure } from "./failure.js";
import { budgetsOf, type TypedAmount, typedIn, withAmounts } from "./large-amounts.js";
import { withLimitOptions } from "./limit-options.js";
import {
  archivedNote,
  type Column,
  formatList,
  formatTable,
  formatTime,
  moreOf,
  numeric,
  printable,
  printPart,
} from "./print.js";

const NO_BALANCE = { availableNanos: 0n, heldNanos: 0n };
const UPDATE_EXAMPLES = `
Examples:
  tollgate account update acme --budget-day 5.00
  tollgate account update acme --content on --redact '###-##-####' --redact '*@*'
  tollgate account update acme --model-limit 'gpt-*=tokens_per_minute:100000,concurrency:4'`;
const ENTRY_KIND = "tollgate.v1.EntryKind";

export function addAccountCommands(program: Command): void {
  const account = program.command("account").alias("accounts").description("create, credit and show accounts");
  withConnection(
    account
      .command("create")
      .description("create an account with a balance of 0")
      .argument("[id]", "the id: 1 to 64 of a-z, 0-9, _, . and - (default: generated)", "")
      .option("--name <name>", "a display name", "")
      .option("--plan <name>", "the plan whose budgets and limits the account gets", ""),
  ).action(create);
  withConnection(
    withLimitOptions(withDayStart(withContent(account.command("update"))), "account", "; 0: no limit")
      .description("change the budgets and limits of an account, which apply to all its keys together")
      .argument("<id>", "the account")
      .option(
        "--model-limit <limit>",
        "limits for a model or glob, such as 'gpt-*=concurrency:4'; may be repeated; replaces all model limits; " +
          "'none' removes them",
        readModelLimit,
      )
      .option(
        "--credit-line <line>",
        "money that the account is granted again in each day, week, month or quarter, such as '100.00/month'; what " +
          "it did not use expires; 'none' removes it",
        readCreditLine,
      )
      .addHelpText("after", UPDATE_EXAMPLES),
  ).action(update);
  withConnection(
    account
      .command("list")
      .description("list accounts by id")
      .option("--limit <rows>", "the maximum number of rows", readLimit, 100),
  ).action(list);
  withConnection(
    account
      .command("credit")
      .description("add money; repeating the same credit id adds nothing")
      .argument("<id>", "the account")
      .argument("<usd>", "how much, such as 25.00", readUsd)
      .option("--reason <text>", "the reason, if the credit is a correction")
      .option("--id <credit>", "your own id of this credit, such as an invoice number")
      .addHelpText("after", "\nExample:\n  tollgate account credit acme 25.00 --id inv-7"),
  ).action(credit);
  addShowCommand(account);
  addDebitCommand(account);
  addFreezeCommands(account);
  withConnection(
    account.command("balance").description("show what is available, held, and spent").argument("<id>", "the account"),
  ).action(balance);
  withConnection(
    account
      .command("entries")
      .description("list the ledger entries of an account, newest first")
      .argument("<id>", "the account")
      .option("--limit <rows>", "the maximum number of rows", readLimit, 100),
  ).action(entries);
  withConnection(
    account
      .command("statement")
      .description("show the entries of an account, oldest first, with the balance after each")
      .argument("<id>", "the account")
      .option("--from <day>", "from this UTC day or time (default: the first entry)", readMoment, "")
      .option("--to <day>", "up to and including this UTC day, or before this time (default: now)", readMoment, "")
      .option("--limit <rows>", "the maximum number of entries (default: all with --csv, otherwise 100)", readLimit)
      .option("--csv", "print CSV, amounts in USD")
      .addHelpText("after", "\nExample:\n  tollgate account statement acme --from 2026-11-01 --to 2026-11-30 --csv"),
  ).action(statement);
}

function withDayStart(update: Command): Command {
  return update
    .option("--time-zone <name>", "with --quota: the time zone of the quotas, such as Europe/Berlin (default: UTC)")
    .option("--day-start-hour <hour>", "with --quota: the hour at which days start there (default: 0)", readWhole);
}

function withContent(update: Command): Command {
  return update
    .addOption(
      new Option("--content <on|off>", "store the content of requests and answers, encrypted").choices(["on", "off"]),
    )
    .option(
      "--redact <rule>",
      "with --content on: remove text of this form before storing (#: a digit, *: a word), such as '###-##-####'; " +
        "may be repeated",
      (rule: string, earlier: readonly string[] = []) => [...earlier, rule],
    );
}

async function create(id: string, options: ConnectionOptions & { name: string; plan: string }): Promise<void> {
  await connected(options, async (connection) => {
    const method = AccountServiceService.createAccount;
    const answer = await connection.call(method, { id, name: options.name, plan: options.plan });
    connection.show(method, answer, ({ account }) => `Opened the account ${printable(account?.id ?? id)}.`);
  });
}

type UpdateOptions = ConnectionOptions & {
  budgetDay?: bigint;
  budgetWeek?: bigint;
  budgetMonth?: bigint;
  budgetQuarter?: bigint;
  budgetTotal?: bigint;
  requestCostMax?: bigint;
  requestsPerMinute?: bigint;
  tokensPerMinute?: bigint;
  concurrency?: bigint;
  modelLimit?: ModelLimits[];
  creditLine?: CreditLine | "none";
  quota?: Quota[];
  timeZone?: string;
  dayStartHour?: bigint;
  content?: "on" | "off";
  redact?: string[];
};

async function update(id: string, options: UpdateOptions): Promise<void> {
  if (options.redact !== undefined && options.content !== "on")
    throw new CommandFailure("--redact needs --content on, which replaces all settings of content", "usage");
  const quotas = quotasOf(options);
  const { redact: redactions = [] } = options;
  const kept = { kept: options.content === "on", redactions, bodyBytesMax: 0, totalBytesMax: 0n };
  const content = options.content === undefined ? undefined : kept;
  const given = {
    content,
    budget_day_nanos: options.budgetDay,
    budget_week_nanos: options.budgetWeek,
    budget_month_nanos: options.budgetMonth,
    budget_quarter_nanos: options.budgetQuarter,
    budget_total_nanos: options.budgetTotal,
    request_cost_max_nanos: options.requestCostMax,
    requests_per_minute: options.requestsPerMinute,
    tokens_per_minute: options.tokensPerMinute,
    concurrency: options.concurrency,
    model_limits: options.modelLimit,
    credit_line: options.creditLine,
    quotas,
  };
  const updateMask = Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  if (updateMask.length === 0) throw new CommandFailure("name at least one budget or limit; see --help", "usage");
  const settings = {
    budgetDayNanos: options.budgetDay ?? 0n,
    budgetWeekNanos: options.budgetWeek ?? 0n,
    budgetMonthNanos: options.budgetMonth ?? 0n,
    budgetQuarterNanos: options.budgetQuarter ?? 0n,
    budgetTotalNanos: options.budgetTotal ?? 0n,
    requestCostMaxNanos: options.requestCostMax ?? 0n,
    requestsPerMinute: options.requestsPerMinute ?? 0n,
    tokensPerMinute: options.tokensPerMinute ?? 0n,
    concurrency: options.concurrency ?? 0n,
    modelLimits: options.modelLimit ?? [],
    content,
    creditLine: options.creditLine === "none" ? undefined : options.creditLine,
    quotas,
  };
  await connected(options, async (connection) => {
    const method = AccountServiceService.updateAccount;
    const typed = async (): Promise<readonly TypedAmount[]> => {
      const { account } = await connection.call(AccountServiceService.getAccount, { id });
      return budgetsOf("account", options, account?.settings);
    };
    await withAmounts(typed, async () => {
      const answer = await connection.call(method, { id, settings, updateMask, etag: "" });
      connection.show(method, answer, ({ account }) => formatSettings(account?.settings ?? settings));
    });
  });
}

/** Undefined where none are given. */
function quotasOf({ quota, timeZone, dayStartHour }: UpdateOptions): AccountQuotas | undefined {
  if (quota !== undefined) return { limits: quota, timeZone: timeZone ?? "", dayStartHour: Number(dayStartHour ?? 0n) };
  if (timeZone === undefined && dayStartHour === undefined) return undefined;
  throw new CommandFailure("--time-zone and --day-start-hour need --quota, which replaces all quotas", "usage");
}

const EVERY_ACCOUNT = { state: 0, text: "", order: 0, plan: "" };

async function list(options: ConnectionOptions & { limit: number }): Promise<void> {
  await connected(options, async (connection) => {
    const method = AccountServiceService.listAccounts;
    const { items, nextPageToken } = await readPages(options.limit, async (pageSize, pageToken) => {
      const page = await connection.call(method, { ...EVERY_ACCOUNT, pageSize, pageToken });
      return { items: page.accounts, nextPageToken: page.nextPageToken };
    });
    connection.show(method, { accounts: items, nextPageToken }, formatAccounts);
  });
}

interface CreditOptions extends ConnectionOptions {
  readonly id?: string;
  readonly reason?: string;
}

async function credit(id: string, amountNanos: bigint, options: CreditOptions): Promise<void> {
  if (amountNanos === 0n) throw new CommandFailure("a credit must be above 0", "usage");
  const creditId = options.id ?? `cli-${Date.now().toString(36)}-${randomBytes(4).toString("hex")}`;
  await typedIn("credit", amountNanos, options, async (connection) => {
    const method = AccountServiceService.creditAccount;
    const answer = await connection.call(method, { id, amountNanos, creditId, reason: options.reason ?? "" });
    connection.show(method, answer, ({ repeatedCredit, availableNanos }) => {
      const done = repeatedCredit
        ? `${printable(creditId)} was credited before, so nothing changed.`
        : `Credited ${formatUsd(amountNanos)} USD to ${printable(id)} as ${printable(creditId)}.`;
      return `${done} Available: ${formatUsd(availableNanos)} USD.`;
    });
  });
}

async function balance(id: string, options: ConnectionOptions): Promise<void> {
  await connected(options, async (connection) => {
    const method = AccountServiceService.getBalance;
    connection.show(method, await connection.call(method, { id }), formatBalance);
  });
}

async function entries(id: string, options: ConnectionOptions & { limit: number }): Promise<void> {
  await connected(options, async (connection) => {
    const method = AccountServiceService.listEntries;
    let archivedBefore: Date | undefined;
    const { items, nextPageToken } = await readPages(options.limit, async (pageSize, pageToken) => {
      const page = await connection.call(method, { id, pageSize, pageToken });
      ({ archivedBefore } = page);
      return { items: page.entries, nextPageToken: page.nextPageToken };
    });
    connection.show(method, { entries: items, nextPageToken, archivedBefore }, formatEntries);
  });
}

interface StatementOptions extends ConnectionOptions {
  readonly from: string;
  readonly to: string;
  readonly limit?: number;
  readonly csv?: true;
}

async function statement(id: string, options: StatementOptions): Promise<void> {
  if (options.csv && options.json) throw new CommandFailure("choose one of --csv and --json", "usage");
  const { from, to } = options;
  const limit = options.limit ?? (options.csv ? Number.MAX_SAFE_INTEGER : 100);
  const method = AccountServiceService.getStatement;
  await connected(options, async (connection) => {
    let opening: GetStatementResponse["opening"];
    let closing: GetStatementResponse["closing"];
    let archivedBefore: Date | undefined;
    const { items, nextPageToken } = await readPages(limit, async (pageSize, pageToken) => {
      const page = await connection.call(method, { id, from, to, pageSize, pageToken });
      if (pageToken === "" && options.csv) printPart(statementHead(page));
      if (options.csv) printPart(statementLines(page));
      opening ??= page.opening;
      ({ closing, archivedBefore } = page);
      // What is printed already need not be kept.
      return {
        items: options.csv ? page.entries.map(() => undefined) : page.entries,
        nextPageToken: page.nextPageToken,
      };
    });
    const entries = items.filter((item) => item !== undefined);
    const answer: GetStatementResponse = { opening, entries, closing, nextPageToken, archivedBefore };
    if (options.csv) printPart(statementEnd(answer));
    else connection.show(method, answer, formatStatement);
  });
}

function formatAccounts(answer: ListAccountsResponse): string {
  const columns: Column[] = [
    "ACCOUNT",
    "NAME",
    "CREATED",
    ...["AVAILABLE", "HELD", "SPENT", "THIS MONTH"].map(numeric),
  ];
  const rows = answer.accounts.map(({ id, name, createTime, figures }) => [
    id,
    name || "-",
    formatTime(createTime),
    ...[figures?.availableNanos, figures?.heldNanos, figures?.spentNanos, figures?.spentMonthNanos].map((nanos) =>
      formatUsd(nanos ?? 0n),
    ),
  ]);
  return formatList(columns, rows, "No accounts.", answer.nextPageToken);
}

function formatEntries(answer: ListEntriesResponse): string {
  const columns: Column[] = [
    { title: "SEQUENCE", numeric: true },
    "TIME",
    "KIND",
    { title: "USD", numeric: true },
    { title: "AVAILABLE", numeric: true },
    "REQUEST OR CREDIT",
  ];
  const listed = formatList(columns, answer.entries.map(rowOf), "No entries.", answer.nextPageToken);
  return listed + archivedNote(answer.archivedBefore, "older entries");
}

function formatStatement(answer: GetStatementResponse): string {
  const columns: Column[] = [
    "TIME",
    "KIND",
    numeric("CHANGE"),
    numeric("AVAILABLE"),
    numeric("HELD"),
    "REQUEST OR CREDIT",
  ];
  const point = ({ availableNanos, heldNanos } = NO_BALANCE): string[] => [
    formatUsd(availableNanos),
    formatUsd(heldNanos),
  ];
  const rows = answer.entries.map(({ entry, balance }) => [
    formatTime(entry?.createTime),
    enumWord(ENTRY_KIND, entry?.kind ?? 0),
    formatUsd(entry?.availableChangeNanos ?? 0n),
    ...point(balance),
    entry?.requestId || (entry?.id ?? ""),
  ]);
  const first = ["", "opening", "", ...point(answer.opening), ""];
  const last = ["", "closing", "", ...point(answer.closing), ""];
  const table = formatTable(columns, [first, ...rows, last]) + moreOf(answer.nextPageToken);
  return table + archivedNote(answer.archivedBefore, "entries before the opening");
}

function rowOf(entry: Entry): string[] {
  const change = formatUsd(entry.availableChangeNanos);
  return [
    entry.sequence.toString(),
    formatTime(entry.createTime),
    enumWord(ENTRY_KIND, entry.kind),
    formatUsd(entry.amountNanos),
    entry.availableChangeNanos > 0n ? `+${change}` : change,
    entry.requestId || entry.id,
  ];
}
