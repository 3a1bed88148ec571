/** `tollgate account show`: what is on an account, what it may do, and whether it is frozen. */
import type { Command } from "commander";
import {
  type Account,
  AccountServiceService,
  type AccountSettings,
  type CreditLine,
  type GetBalanceResponse,
  type ModelLimits,
} from "../api/index.js";
import { answerToJson } from "../api/json.js";
import { formatUsd } from "../base/money.js";
import { LINE_WORDS } from "./arguments.js";
import { connected, type ConnectionOptions, withConnection } from "./connection.js";
import { formatQuotas } from "./quotas.js";
import { formatLimit, formatTable, formatTime, jsonMember, numeric, print, printable } from "./print.js";

export function addShowCommand(account: Command): void {
  withConnection(
    account
      .command("show")
      .description("show an account: its balance, its budgets and limits, and whether it is frozen")
      .argument("<id>", "the account"),
  ).action(show);
}

async function show(id: string, options: ConnectionOptions): Promise<void> {
  await connected(options, async (connection) => {
    const { getAccount, getBalance } = AccountServiceService;
    const [found, balance] = await Promise.all([
      connection.call(getAccount, { id }),
      connection.call(getBalance, { id }),
    ]);
    if (options.json) {
      const account = jsonMember(answerToJson(getAccount, found), "account");
      print(JSON.stringify({ account, balance: answerToJson(getBalance, balance) }, null, 2));
      return;
    }
    const { account } = found;
    if (account !== undefined) print(formatAccount(account, balance));
  });
}

function formatAccount(
  { id, name, createTime, settings, freeze, etag, managed, figures }: Account,
  balance: GetBalanceResponse,
): string {
  const facts = [
    ["account", id],
    ["name", name || "-"],
    ["state", freeze === undefined ? "active" : `frozen ${formatTime(freeze.time)}: ${freeze.reason}`],
    ["created", formatTime(createTime)],
    ["managed by", managed ? "the settings file" : "-"],
    ["etag", etag],
  ];
  const parts = [formatTable(["FACT", "VALUE"], facts), formatBalance(balance)];
  if (settings !== undefined) parts.push(formatSettings(settings));
  const quotas = formatQuotas(settings?.quotas?.limits ?? [], figures?.quotas ?? []);
  if (quotas !== "") parts.push(quotas);
  return parts.join("\n\n");
}

export function formatBalance(answer: GetBalanceResponse): string {
  return formatTable(
    ["", numeric("USD")],
    [
      ["available", formatUsd(answer.availableNanos)],
      ["held", formatUsd(answer.heldNanos)],
      ["spent", formatUsd(answer.spentNanos)],
      ["granted", formatUsd(answer.grantedNanos)],
      ...[
        ["of it given back by refunds", answer.refundedNanos] as const,
        ["taken back by debits, no more in granted", answer.debitedNanos] as const,
        ["receivable", answer.receivableNanos] as const,
      ].flatMap(([name, nanos]) => (nanos === 0n ? [] : [[name, formatUsd(nanos)]])),
    ],
  );
}

export function formatSettings(settings: AccountSettings): string {
  const columns = ["LIMIT", ...["REQUESTS/MIN", "TOKENS/MIN", "CONCURRENCY"].map(numeric)];
  const row = (name: string, limits: Omit<ModelLimits, "model">): string[] => [
    name,
    formatLimit(limits.requestsPerMinute),
    formatLimit(limits.tokensPerMinute),
    formatLimit(limits.concurrency),
  ];
  const models = settings.modelLimits.map((limits) => row(printable(limits.model), limits));
  const { content } = settings;
  const kept = content?.kept ? `\nContent is kept; ${content.redactions.length} rules of its own take out more.` : "";
  const line = settings.creditLine === undefined ? "" : `\n${formatLine(settings.creditLine)}`;
  return `${formatBudgets(settings)}\n${formatTable(columns, [row("all models", settings), ...models])}${kept}${line}`;
}

function formatLine({ amountNanos, period }: CreditLine): string {
  return `Each ${LINE_WORDS.wordOf(period)} starts with a credit line of ${formatUsd(amountNanos)} USD.`;
}

function formatBudgets(settings: AccountSettings): string {
  const amount = (nanos: bigint): string => (nanos === 0n ? "-" : formatUsd(nanos));
  return formatTable(
    ["BUDGET", numeric("USD")],
    [
      ["day", amount(settings.budgetDayNanos)],
      ["week", amount(settings.budgetWeekNanos)],
      ["month", amount(settings.budgetMonthNanos)],
      ["quarter", amount(settings.budgetQuarterNanos)],
      ["total", amount(settings.budgetTotalNanos)],
      ["request", amount(settings.requestCostMaxNanos)],
    ],
  );
}
