/** `tollgate key`: makes, lists, revokes and rotates keys. */
import type { Command } from "commander";
import { type Key, KeyServiceService, KeySettings, type ListKeysResponse } from "../api/index.js";
import { formatUsd } from "../money.js";
import { readGrace, readLabel, readLimit, readTime, readUsd, readWhole } from "./arguments.js";
import { connected, type ConnectionOptions, readPages, withConnection } from "./connection.js";
import { formatLimit, formatTable, formatTime, printable, remark } from "./print.js";

interface CreateOptions extends ConnectionOptions {
  readonly name?: string;
  readonly scope?: string[];
  readonly model?: string[];
  readonly denyModel?: string[];
  readonly address?: string[];
  readonly expires?: Date;
  readonly requestsPerMinute?: bigint;
  readonly tokensPerMinute?: bigint;
  readonly concurrency?: bigint;
  readonly budgetDay?: bigint;
  readonly budgetMonth?: bigint;
  readonly budgetTotal?: bigint;
  readonly requestCostMax?: bigint;
  readonly refuseUnaffordable?: true;
  readonly retriesRunAnew?: true;
  readonly strict?: true;
  readonly childrenEndWithIt?: true;
  readonly keepStreamsOnRevoke?: true;
  readonly endStreamsOnExpiry?: true;
  readonly label?: Record<string, string>;
}

const SHOWN_ONCE = "This secret is shown once and cannot be shown again: keep it now.";

export function addKeyCommands(program: Command): void {
  const key = program.command("key").alias("keys").description("make, list, revoke, and rotate keys");
  addCreate(key);
  withConnection(
    key
      .command("list")
      .description("list keys, newest first")
      .option("--account <id>", "only this account's")
      .option("--limit <rows>", "at most so many", readLimit, 100),
  ).action(list);
  withConnection(
    key
      .command("revoke")
      .description("end a key for good, from the next request on")
      .argument("<id>", "the key's id, from: tollgate key list"),
  ).action(revoke);
  withConnection(
    key
      .command("rotate")
      .description("give a key a new secret")
      .argument("<id>", "the key's id, from: tollgate key list")
      .option("--grace <seconds>", "how long the old secret lives on", readGrace, 0),
  ).action(rotate);
}

function addCreate(key: Command): void {
  withConnection(
    key
      .command("create")
      .description("make a key; its secret goes to standard output, once")
      .argument("[account]", "the account that pays (default: that of the key in use)", "")
      .option("--name <name>", "what it is for")
      .option("--scope <scope...>", "chat, embeddings, models, usage, keys, operator (default: the first four)")
      .option("--model <glob...>", 'models it may use, such as "gpt-*" (default: all)')
      .option("--deny-model <glob...>", "models it may not use")
      .option("--address <cidr...>", "addresses it may be used from (default: all)")
      .option("--expires <time>", "when it ends, such as 2027-01-01T00:00:00Z", readTime)
      .option("--requests-per-minute <n>", "the most requests in any 60 seconds", readWhole)
      .option("--tokens-per-minute <n>", "the most tokens in any 60 seconds", readWhole)
      .option("--concurrency <n>", "the most requests at once", readWhole)
      .option("--budget-day <usd>", "the most it may spend in a UTC day", readUsd)
      .option("--budget-month <usd>", "the most it may spend in a UTC month", readUsd)
      .option("--budget-total <usd>", "the most it may spend at all", readUsd)
      .option("--request-cost-max <usd>", "the most that one request may cost", readUsd)
      .option(
        "--refuse-unaffordable",
        "refuse a request that the balance cannot cover, rather than lower its output limit",
      )
      .option("--retries-run-anew", "let a retry of an SDK run and pay anew, rather than wait for the lost answer")
      .option(
        "--strict",
        "refuse a request with parameters that its upstream has no place for, rather than leave them out",
      )
      .option("--children-end-with-it", "end the keys that it makes when it is revoked or expires")
      .option("--keep-streams-on-revoke", "let requests that run finish when it is revoked, rather than end them")
      .option("--end-streams-on-expiry", "end requests that run when it expires, rather than let them finish")
      .option("--label <name=text>", "a label of your own; may be repeated", readLabel)
      .addHelpText("after", '\nExample:\n  tollgate key create acme --name ci --model "gpt-*" --budget-day 5.00'),
  ).action(create);
}

async function create(account: string, options: CreateOptions): Promise<void> {
  await connected(options, async (connection) => {
    const method = KeyServiceService.createKey;
    const request = { accountId: account, settings: settingsOf(options), secret: "" };
    const answer = await connection.call(method, request);
    connection.show(method, answer, ({ secret }) => secret);
    const { id = "", accountId = "" } = answer.key ?? {};
    if (!options.json) remark(`Made ${id} for the account ${accountId}. ${SHOWN_ONCE}`);
  });
}

async function list(options: ConnectionOptions & { account?: string; limit: number }): Promise<void> {
  await connected(options, async (connection) => {
    const method = KeyServiceService.listKeys;
    const { items, nextPageToken } = await readPages(options.limit, async (pageSize, pageToken) => {
      const page = await connection.call(method, { accountId: options.account ?? "", pageSize, pageToken });
      return { items: page.keys, nextPageToken: page.nextPageToken };
    });
    connection.show(method, { keys: items, nextPageToken }, formatKeys);
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

function settingsOf(options: CreateOptions): KeySettings {
  return {
    name: options.name ?? "",
    scopes: options.scope ?? [],
    models: options.model ?? [],
    modelsDenied: options.denyModel ?? [],
    addresses: options.address ?? [],
    expireTime: options.expires,
    requestsPerMinute: options.requestsPerMinute ?? 0n,
    tokensPerMinute: options.tokensPerMinute ?? 0n,
    concurrency: options.concurrency ?? 0n,
    budgetDayNanos: options.budgetDay ?? 0n,
    budgetMonthNanos: options.budgetMonth ?? 0n,
    budgetTotalNanos: options.budgetTotal ?? 0n,
    requestCostMaxNanos: options.requestCostMax ?? 0n,
    refuseUnaffordable: options.refuseUnaffordable ?? false,
    retriesRunAnew: options.retriesRunAnew ?? false,
    metadata: options.label ?? {},
    strict: options.strict ?? false,
    childrenEndWithIt: options.childrenEndWithIt ?? false,
    endStreamsOnRevoke: options.keepStreamsOnRevoke === true ? false : undefined,
    endStreamsOnExpiry: options.endStreamsOnExpiry ?? false,
  };
}

function formatKeys(answer: ListKeysResponse): string {
  if (answer.keys.length === 0) return "No keys.";
  const columns = ["KEY", "ACCOUNT", "NAME", "SECRET", "SCOPES", "REQUESTS/MIN", "BUDGET/DAY", "STATE", "CREATED"];
  const rows = answer.keys.map((key) => [
    key.id,
    key.accountId,
    key.settings?.name || "-",
    key.hint,
    key.settings?.scopes.join(" ") || "-",
    formatLimit(key.settings?.requestsPerMinute ?? 0n),
    key.settings?.budgetDayNanos ? formatUsd(key.settings.budgetDayNanos) : "-",
    stateOf(key),
    formatTime(key.createTime),
  ]);
  return formatTable(columns, rows) + (answer.nextPageToken === "" ? "" : "\nThere are more: raise --limit.");
}

function stateOf(key: Key): string {
  if (key.revokeTime !== undefined) return `revoked ${formatTime(key.revokeTime)}`;
  const end = key.settings?.expireTime;
  return end === undefined ? "lives" : `ends ${formatTime(end)}`;
}
