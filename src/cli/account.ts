/** `tollgate account`: opens accounts, credits them, and shows what is on them. */
import { randomBytes } from "node:crypto";
import type { Command } from "commander";
import {
  AccountServiceService,
  type Entry,
  type GetBalanceResponse,
  type ListAccountsResponse,
  type ListEntriesResponse,
} from "../api/index.js";
import { formatUsd } from "../money.js";
import { readLimit, readUsd } from "./arguments.js";
import { connected, type ConnectionOptions, readPages, withConnection } from "./connection.js";
import { CommandFailure } from "./failure.js";
import { type Column, formatTable, formatTime, printable } from "./print.js";

const MORE = "\nThere are more: raise --limit.";

export function addAccountCommands(program: Command): void {
  const account = program.command("account").description("open accounts, credit them, and show what is on them");
  withConnection(
    account
      .command("create")
      .description("open an account with nothing on it")
      .argument("[id]", "1 to 64 of a-z, 0-9, _, . and - (default: one is made)", "")
      .option("--name <name>", "its name, for people", ""),
  ).action(create);
  withConnection(
    account
      .command("list")
      .description("list accounts by id")
      .option("--limit <rows>", "at most so many", readLimit, 100),
  ).action(list);
  withConnection(
    account
      .command("credit")
      .description("add money, once for each credit id")
      .argument("<id>", "the account")
      .argument("<usd>", "how much, such as 25.00", readUsd)
      .option("--id <credit>", "your own id of this credit, such as an invoice number; repeating it adds nothing")
      .addHelpText("after", "\nExample:\n  tollgate account credit acme 25.00 --id inv-7"),
  ).action(credit);
  withConnection(
    account.command("balance").description("show what is available, held, and spent").argument("<id>", "the account"),
  ).action(balance);
  withConnection(
    account
      .command("entries")
      .description("list the account's transfers, newest first")
      .argument("<id>", "the account")
      .option("--limit <rows>", "at most so many", readLimit, 100),
  ).action(entries);
}

async function create(id: string, options: ConnectionOptions & { name: string }): Promise<void> {
  await connected(options, async (connection) => {
    const method = AccountServiceService.createAccount;
    const answer = await connection.call(method, { id, name: options.name });
    connection.show(method, answer, ({ account }) => `Opened the account ${printable(account?.id ?? id)}.`);
  });
}

async function list(options: ConnectionOptions & { limit: number }): Promise<void> {
  await connected(options, async (connection) => {
    const method = AccountServiceService.listAccounts;
    const { items, nextPageToken } = await readPages(options.limit, async (pageSize, pageToken) => {
      const page = await connection.call(method, { pageSize, pageToken });
      return { items: page.accounts, nextPageToken: page.nextPageToken };
    });
    connection.show(method, { accounts: items, nextPageToken }, formatAccounts);
  });
}

async function credit(id: string, amountNanos: bigint, options: ConnectionOptions & { id?: string }): Promise<void> {
  if (amountNanos === 0n) throw new CommandFailure("a credit must be above 0");
  const creditId = options.id ?? `cli-${Date.now().toString(36)}-${randomBytes(4).toString("hex")}`;
  await connected(options, async (connection) => {
    const method = AccountServiceService.creditAccount;
    const answer = await connection.call(method, { id, amountNanos, creditId });
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
    const { items, nextPageToken } = await readPages(options.limit, async (pageSize, pageToken) => {
      const page = await connection.call(method, { id, pageSize, pageToken });
      return { items: page.entries, nextPageToken: page.nextPageToken };
    });
    connection.show(method, { entries: items, nextPageToken }, formatEntries);
  });
}

function formatAccounts(answer: ListAccountsResponse): string {
  if (answer.accounts.length === 0) return "No accounts.";
  const rows = answer.accounts.map((account) => [account.id, account.name || "-", formatTime(account.createTime)]);
  return formatTable(["ACCOUNT", "NAME", "CREATED"], rows) + (answer.nextPageToken === "" ? "" : MORE);
}

function formatBalance(answer: GetBalanceResponse): string {
  const columns: Column[] = ["", { title: "USD", numeric: true }];
  return formatTable(columns, [
    ["available", formatUsd(answer.availableNanos)],
    ["held", formatUsd(answer.heldNanos)],
    ["spent", formatUsd(answer.spentNanos)],
    ["granted", formatUsd(answer.grantedNanos)],
  ]);
}

function formatEntries(answer: ListEntriesResponse): string {
  if (answer.entries.length === 0) return "No entries.";
  const columns: Column[] = [
    { title: "SEQUENCE", numeric: true },
    "TIME",
    "KIND",
    { title: "USD", numeric: true },
    { title: "AVAILABLE", numeric: true },
    "REQUEST OR CREDIT",
  ];
  return formatTable(columns, answer.entries.map(rowOf)) + (answer.nextPageToken === "" ? "" : MORE);
}

function rowOf(entry: Entry): string[] {
  const change = formatUsd(entry.availableChangeNanos);
  return [
    entry.sequence.toString(),
    formatTime(entry.createTime),
    entry.kind,
    formatUsd(entry.amountNanos),
    entry.availableChangeNanos > 0n ? `+${change}` : change,
    entry.requestId || entry.id,
  ];
}
