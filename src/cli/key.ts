/** `tollgate key`: makes, lists, shows, changes, revokes and rotates keys. */
import type { Command } from "commander";
import { type GetKeyResponse, type Key, KeyServiceService, type ListKeysResponse } from "../api/index.js";
import { formatUsd } from "../base/money.js";
import { readGrace, readLimit } from "./arguments.js";
import { connected, type ConnectionOptions, readPages, withConnection } from "./connection.js";
import { CommandFailure } from "./failure.js";
import { budgetsOf, type TypedAmount, withAmounts } from "./large-amounts.js";
import { givenOptions, type KeyOptions, maskOf, settingsOf, withKeyOptions } from "./key-options.js";
import type { Names } from "./names.js";
import { formatQuotas } from "./quotas.js";
import { formatLimit, formatList, formatTable, formatTime, numeric, printable, remark, SHOWN_ONCE } from "./print.js";

type SetOptions = ConnectionOptions & KeyOptions;

export function addKeyCommands(program: Command): void {
  const key = program.command("key").alias("keys").description("create, list, change, revoke, and rotate keys");
  const create = key
    .command("create")
    .description("create a key and print its secret, once, to standard output")
    .argument("[account]", "the account that pays (default: that of the key in use)", "")
    .addHelpText("after", '\nExample:\n  tollgate key create acme --name ci --model "gpt-*" --budget-day 5.00');
  withConnection(withKeyOptions(create, "create")).action(createKey);
  withConnection(
    key
      .command("list")
      .description("list keys, newest first")
      .option("--account <id>", "only keys of this account")
      .option("--find <text>", "only keys whose name, id or secret hint contains this text", "")
      .option("--limit <rows>", "the maximum number of rows", readLimit, 100),
  ).action(list);
  const named = (name: string, description: string): Command =>
    key.command(name).description(description).argument("<id>", "the key's id, from: tollgate key list");
  withConnection(named("show", "show a key, its settings, and the current use of its limits")).action(show);
  const update = named("update", "change some settings of a key; the others keep their values")
    .option("--etag <etag>", "change the key only if it still has this etag, as key show prints it", "")
    .addHelpText("after", "\nExample:\n  tollgate key update key_4f1c --budget-day 10.00 --no-strict");
  withConnection(withKeyOptions(update, "update")).action(updateKey);
  withConnection(named("revoke", "revoke a key permanently; its next request is refused")).action(revoke);
  withConnection(
    named("rotate", "give a key a new secret and print it, once").option(
      "--grace <seconds>",
      "how long the old secret still works",
      readGrace,
      0,
    ),
  ).action(rotate);
}

async function createKey(account: string, options: SetOptions): Promise<void> {
  await connected(options, async (connection) => {
    const method = KeyServiceService.createKey;
    const request = { accountId: account, settings: settingsOf(options), secret: "", secretDigest: "", hint: "" };
    const typed = () => budgetsOf("key", options, undefined);
    await withAmounts(typed, async () => {
      const answer = await connection.call(method, request);
      connection.show(method, answer, ({ secret }) => secret);
      const { id = "", accountId = "" } = answer.key ?? {};
      if (!options.json) remark(`Made ${id} for the account ${accountId}. ${SHOWN_ONCE}`);
    });
  });
}

interface ListOptions extends ConnectionOptions {
  readonly account?: string;
  readonly find: string;
  readonly limit: number;
}

async function list(options: ListOptions): Promise<void> {
  await connected(options, async (connection) => {
    const method = KeyServiceService.listKeys;
    const asked = { accountId: options.account ?? "", text: options.find, ids: [] };
    const { items, nextPageToken } = await readPages(options.limit, async (pageSize, pageToken) => {
      const page = await connection.call(method, { ...asked, pageSize, pageToken });
      return { items: page.keys, nextPageToken: page.nextPageToken };
    });
    const answer = { keys: items, nextPageToken };
    // A key's own name has a column.
    const named = items.map(({ accountId }) => ({ accountId }));
    await connection.showNamed(method, answer, named, (names) => formatKeys(answer, names));
  });
}

async function show(id: string, options: ConnectionOptions): Promise<void> {
  await connected(options, async (connection) => {
    const method = KeyServiceService.getKey;
    const answer = await connection.call(method, { id });
    const { accountId = "", makerId = "" } = answer.key ?? {};
    const named = [{ accountId, keyId: makerId }];
    await connection.showNamed(method, answer, named, (names) => formatKey(answer, names));
  });
}

async function updateKey(id: string, options: SetOptions & { etag: string }): Promise<void> {
  const updateMask = maskOf(options);
  if (updateMask.length === 0) throw new CommandFailure("name at least one setting; see --help", "usage");
  await connected(options, async (connection) => {
    const method = KeyServiceService.updateKey;
    const asked = { id, settings: settingsOf(options), updateMask, etag: options.etag };
    const typed = async (): Promise<readonly TypedAmount[]> => {
      const { key } = await connection.call(KeyServiceService.getKey, { id });
      return budgetsOf("key", options, key?.settings);
    };
    await withAmounts(typed, async () => {
      const answer = await connection.call(method, asked);
      connection.show(method, answer, () => `Changed ${givenOptions(options).join(", ")} of ${printable(id)}.`);
    });
  });
}

async function revoke(id: string, options: ConnectionOptions): Promise<void> {
  await connected(options, async (connection) => {
    const method = KeyServiceService.revokeKey;
    const answer = await connection.call(method, { id });
    connection.show(method, answer, () => `Revoked ${printable(id)}.`);
  });
}

async function rotate(id: string, options: ConnectionOptions & { grace: number }): Promise<void> {
  await connected(options, async (connection) => {
    const method = KeyServiceService.rotateKey;
    const answer = await connection.call(method, { id, graceSeconds: options.grace });
    connection.show(method, answer, ({ secret }) => secret);
    const end = options.grace === 0 ? "The old secret ended." : `The old secret ends in ${options.grace} s.`;
    if (!options.json) remark(`${end} ${SHOWN_ONCE}`);
  });
}

function formatKeys({ keys, nextPageToken }: ListKeysResponse, names: Names): string {
  const columns = [
    "KEY",
    "ACCOUNT",
    "NAME",
    "SECRET",
    "SCOPES",
    "REQUESTS/MIN",
    "BUDGET/DAY",
    numeric("SPENT TODAY"),
    "LAST USE",
    "STATE",
    "CREATED",
  ];
  const rows = keys.map((key) => [
    key.id,
    names.account(key.accountId),
    key.settings?.name || "-",
    key.hint,
    key.settings?.scopes.join(" ") || "-",
    formatLimit(key.settings?.requestsPerMinute ?? 0n),
    formatAmount(key.settings?.budgetDayNanos),
    formatUsd(key.figures?.spentDayNanos ?? 0n),
    formatTime(key.figures?.lastUseTime),
    stateOf(key),
    formatTime(key.createTime),
  ]);
  return formatList(columns, rows, "No keys.", nextPageToken);
}

/** An amount, where zero means none. */
function formatAmount(nanos: bigint | undefined): string {
  return nanos === undefined || nanos === 0n ? "-" : formatUsd(nanos);
}

function formatKey({ key }: GetKeyResponse, names: Names): string {
  if (key === undefined) return "No such key.";
  const { settings, figures } = key;
  const all = (list: readonly string[] | undefined): string => list?.join(" ") || "-";
  const labels = Object.entries(settings?.metadata ?? {}).map(([name, text]) => `${name}=${text}`);
  const facts = [
    ["key", key.id],
    ["name", settings?.name || "-"],
    ["account", names.account(key.accountId)],
    ["made by", key.makerUserId || names.key(key.makerId)],
    ["secret", key.hint],
    ["state", stateOf(key)],
    ["created", formatTime(key.createTime)],
    ["last use", formatTime(figures?.lastUseTime)],
    ["scopes", all(settings?.scopes)],
    ["models", all(settings?.models)],
    ["models denied", all(settings?.modelsDenied)],
    ["addresses", all(settings?.addresses)],
    ["labels", all(labels)],
    ["etag", key.etag],
  ];
  const columns = ["LIMIT", numeric("MOST"), numeric("USED NOW")];
  const limits = [
    ["requests/min", formatLimit(settings?.requestsPerMinute ?? 0n), `${figures?.requestsUsed ?? 0n}`],
    ["tokens/min", formatLimit(settings?.tokensPerMinute ?? 0n), `${figures?.tokensUsed ?? 0n}`],
    ["concurrency", formatLimit(settings?.concurrency ?? 0n), ""],
    ["USD a day", formatAmount(settings?.budgetDayNanos), formatUsd(figures?.spentDayNanos ?? 0n)],
    ["USD a week", formatAmount(settings?.budgetWeekNanos), ""],
    ["USD a month", formatAmount(settings?.budgetMonthNanos), formatUsd(figures?.spentMonthNanos ?? 0n)],
    ["USD a quarter", formatAmount(settings?.budgetQuarterNanos), ""],
    ["USD in all", formatAmount(settings?.budgetTotalNanos), formatUsd(figures?.spentTotalNanos ?? 0n)],
    ["USD a request", formatAmount(settings?.requestCostMaxNanos), ""],
  ];
  const quotas = formatQuotas(settings?.quotas?.limits ?? [], figures?.quotas ?? []);
  const parts = [formatTable(["FACT", "VALUE"], facts), formatTable(columns, limits), quotas];
  return parts.filter((part) => part !== "").join("\n\n");
}

function stateOf(key: Key): string {
  if (key.revokeTime !== undefined) return `revoked ${formatTime(key.revokeTime)}`;
  const end = key.settings?.expireTime;
  return end === undefined ? "lives" : `ends ${formatTime(end)}`;
}
