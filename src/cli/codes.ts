/** `tollgate codes`: top-up codes, by which accounts get credit without an operator's own hand. */
import type { Command } from "commander";
import { PaymentServiceService as service, type TopUpBatch, type TopUpCode } from "../api/index.js";
import { enumWord } from "../api/descriptors.js";
import { formatUsd } from "../base/money.js";
import { readLimit, readUsd, readWhole } from "./arguments.js";
import { connected, type ConnectionOptions, readPages, withConnection } from "./connection.js";
import type { Names } from "./names.js";
import { typedIn } from "./large-amounts.js";
import { formatList, formatTime, numeric, printable, remark } from "./print.js";

const DAY_S = 86_400;
const CODES_ONCE = "These codes are shown once and cannot be shown again: keep them now.";

interface CreateOptions extends ConnectionOptions {
  readonly count?: bigint;
  readonly days?: bigint;
  readonly note: string;
}

export function addCodeCommands(program: Command): void {
  const codes = program.command("codes").description("create, list, void and redeem top-up codes");
  withConnection(
    codes
      .command("create")
      .description("create a batch of top-up codes and print them, once, one per line")
      .argument("<usd>", "the value of each code, such as 25.00", readUsd)
      .option("--count <n>", "how many, from 1 to 1000 (default: 1)", readWhole)
      .option("--days <n>", "how many days they can be redeemed (default: a year)", readWhole)
      .option("--note <text>", "a note about the batch", "")
      .addHelpText("after", "\nExample:\n  tollgate codes create 25.00 --count 100 --note spring > codes.txt"),
  ).action(create);
  withConnection(
    codes
      .command("batches")
      .description("list batches of top-up codes, newest first")
      .option("--limit <rows>", "the maximum number of rows", readLimit, 100),
  ).action(listBatches);
  withConnection(
    codes
      .command("list")
      .description("list top-up codes, without their secrets")
      .option("--batch <id>", "only codes of this batch", "")
      .option("--limit <rows>", "the maximum number of rows", readLimit, 100),
  ).action(list);
  withConnection(
    codes
      .command("void")
      .description("void the top-up codes of a batch that are not redeemed yet, or one of them")
      .argument("<batch>", "the batch's id")
      .option("--code <id>", "only this code, by its id", ""),
  ).action(voidCodes);
  withConnection(
    codes
      .command("redeem")
      .description("redeem a top-up code: add its value to an account")
      .argument("<account>", "the account's id")
      .argument("<code>", "the code; other users of this machine can see it in the process list"),
  ).action(redeem);
}

async function create(amountNanos: bigint, options: CreateOptions): Promise<void> {
  await typedIn("code", amountNanos, options, async (connection) => {
    const ttlSeconds = Number(options.days ?? 0n) * DAY_S;
    const params = {
      count: Number(options.count ?? 1n),
      amountNanos,
      amount: undefined,
      note: options.note,
      ttlSeconds,
    };
    const answer = await connection.call(service.createTopUpCodes, params);
    connection.show(service.createTopUpCodes, answer, ({ codes }) => codes.join("\n"));
    if (!options.json) remark(`Made ${printable(answer.batchId)}. ${CODES_ONCE}`);
  });
}

async function listBatches(options: ConnectionOptions & { readonly limit: number }): Promise<void> {
  await connected(options, async (connection) => {
    const method = service.listTopUpBatches;
    const { items, nextPageToken } = await readPages(options.limit, async (pageSize, pageToken) => {
      const page = await connection.call(method, { pageSize, pageToken });
      return { items: page.topUpBatches, nextPageToken: page.nextPageToken };
    });
    connection.show(method, { topUpBatches: items, nextPageToken }, (answer) =>
      formatList(BATCH_COLUMNS, answer.topUpBatches.map(batchRow), "No batches.", answer.nextPageToken),
    );
  });
}

const BATCH_COLUMNS = [
  "BATCH",
  "NOTE",
  numeric("USD EACH"),
  numeric("CODES"),
  numeric("REDEEMED"),
  numeric("VOID"),
  "CREATED",
  "EXPIRES",
];

function batchRow(batch: TopUpBatch): string[] {
  const { id, note, amountNanos, codeCount, redeemedCount, voidCount, createTime, expireTime } = batch;
  const counts = [codeCount, redeemedCount, voidCount].map(String);
  return [id, note || "-", formatUsd(amountNanos), ...counts, formatTime(createTime), formatTime(expireTime)];
}

async function list(options: ConnectionOptions & { readonly batch: string; readonly limit: number }): Promise<void> {
  await connected(options, async (connection) => {
    const method = service.listTopUpCodes;
    const { items, nextPageToken } = await readPages(options.limit, async (pageSize, pageToken) => {
      const page = await connection.call(method, { batchId: options.batch, pageSize, pageToken });
      return { items: page.topUpCodes, nextPageToken: page.nextPageToken };
    });
    const columns = ["CODE", "BATCH", numeric("USD"), "STATE", "ACCOUNT", "REDEEMED", "EXPIRES"];
    await connection.showNamed(method, { topUpCodes: items, nextPageToken }, items, (names) =>
      formatList(
        columns,
        items.map((code) => codeRow(code, names)),
        "No codes.",
        nextPageToken,
      ),
    );
  });
}

function codeRow(code: TopUpCode, names: Names): string[] {
  const { id, batchId, amountNanos, accountId, redeemTime, expireTime } = code;
  const state = enumWord("tollgate.v1.TopUpCodeState", code.state);
  const times = [formatTime(redeemTime), formatTime(expireTime)];
  return [id, batchId, formatUsd(amountNanos), state, names.account(accountId), ...times];
}

async function voidCodes(batchId: string, options: ConnectionOptions & { readonly code: string }): Promise<void> {
  await connected(options, async (connection) => {
    const answer = await connection.call(service.voidTopUpCodes, { batchId, id: options.code });
    connection.show(
      service.voidTopUpCodes,
      answer,
      ({ count }) => `Voided ${count} ${count === 1 ? "code" : "codes"}.`,
    );
  });
}

async function redeem(accountId: string, code: string, options: ConnectionOptions): Promise<void> {
  await connected(options, async (connection) => {
    const answer = await connection.call(service.redeemTopUpCode, { accountId, code });
    connection.show(service.redeemTopUpCode, answer, ({ amountNanos, availableNanos, repeatedRedeem }) => {
      const worth = `${formatUsd(amountNanos)} USD`;
      const had = repeatedRedeem ? `${printable(accountId)} had redeemed it before: ${worth}` : `Credited ${worth}`;
      return `${had}; ${formatUsd(availableNanos)} USD are free to spend.`;
    });
  });
}
