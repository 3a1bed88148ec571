/** `tollgate prices`: which published prices are in force, what a snapshot would change, and making a snapshot. */
import { createPrivateKey } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import type { Command } from "commander";
import {
  type PriceChange,
  type PriceComponentChange,
  type PriceList,
  PriceServiceService as service,
} from "../api/index.js";
import { enumWord } from "../api/descriptors.js";
import { readBetween, readLimit, readWhole } from "./arguments.js";
import { connected, type Connection, type ConnectionOptions, readPages, withConnection } from "./connection.js";
import { CommandFailure } from "./failure.js";
import { formatList, formatTime, print, printable, remark } from "./print.js";

/** The gateway takes so many at once. */
const CHANGES_AT_ONCE = 1_000;
const CHANGES_MAX = 100_000;
/** The gateway reads the snapshot for at most thirty seconds. */
const REFRESH_MS_MAX = 60_000;
const DAYS_MAX = 366;

type DecideOptions = ConnectionOptions & { readonly all?: boolean };

export function addPriceCommands(program: Command): void {
  const prices = program.command("prices").description("show and refresh the published prices, and decide on changes");
  withConnection(
    prices.command("show", { isDefault: true }).description("show which list of prices is in force"),
  ).action(show);
  withConnection(
    prices
      .command("pending")
      .description("list the changes that a snapshot proposes; WAITS shows why one does not apply by itself")
      .option("--limit <rows>", "the maximum number of changes", readLimit, 100),
  ).action(pending);
  const decided = (name: string, description: string): Command =>
    withConnection(
      prices
        .command(name)
        .description(description)
        .argument("[change...]", "the ids of changes, as `tollgate prices pending` lists them")
        .option("--all", "all pending changes"),
    );
  decided("accept", "put pending changes in force, on all nodes").action(accept);
  decided("reject", "leave pending changes out, until the snapshot proposes other prices").action(reject);
  withConnection(
    prices
      .command("rollback")
      .description("put the prices of an earlier list in force again, on all nodes")
      .argument("<serial>", "the serial of its snapshot; 0 is the list of the program", readWhole),
  ).action(rollBack);
  withConnection(prices.command("refresh").description("read the snapshot now")).action(refresh);
  prices
    .command("make")
    .description("make a signed snapshot of public price lists, and print what they differ in")
    .requiredOption("--genai-prices <file>", "data.json of genai-prices, version 2: a file or a URL")
    .requiredOption("--models-dev <file>", "api.json of models.dev: a file or a URL")
    .requiredOption("--litellm <file>", "model_prices_and_context_window.json of LiteLLM: a file or a URL")
    .requiredOption("--serial <n>", "the serial, which must be higher than that of the snapshot before", readWhole)
    .requiredOption("--sign-with <file...>", "Ed25519 private keys in PEM; each signs the snapshot")
    .requiredOption("--out <file>", "the file to write")
    .option("--days <n>", "how many days the snapshot is valid", (text) => readBetween(text, DAYS_MAX), 30)
    .action(make);
}

async function show(options: ConnectionOptions): Promise<void> {
  await connected(options, async (connection) => {
    const answer = await connection.call(service.getPriceList, {});
    connection.show(service.getPriceList, answer, ({ priceList }) => formatPriceList(priceList));
  });
}

function formatPriceList(list: PriceList | undefined): string {
  if (list === undefined) return "";
  const { refresh, snapshot, problem } = list;
  const from = list.serial === 0n ? "" : `, which prices ${list.modelCount} models`;
  const lines = [`In force: ${printable(list.list)}${from}. Refresh: ${printable(refresh)}.`];
  if (snapshot !== undefined)
    lines.push(
      `Last snapshot: serial ${snapshot.serial}, made ${formatTime(snapshot.makeTime)},` +
        ` read ${formatTime(snapshot.readTime)}, expires ${formatTime(snapshot.expireTime)}.`,
    );
  if (problem !== "") lines.push(`The snapshot could not be read: ${printable(problem)}.`);
  if (list.pendingCount > 0) lines.push(`Pending changes: ${list.pendingCount}. List them: tollgate prices pending`);
  const rows = list.past.map(({ serial, createTime, actor, cause }) => [
    String(serial),
    formatTime(createTime),
    enumWord("tollgate.v1.PriceListCause", cause),
    printable(actor) || "-",
  ]);
  return [...lines, "", formatList(["SERIAL", "IN FORCE SINCE", "CAUSE", "BY"], rows, "No earlier lists.", "")].join(
    "\n",
  );
}

async function pending(options: ConnectionOptions & { readonly limit: number }): Promise<void> {
  await connected(options, async (connection) => {
    const { items: priceChanges, nextPageToken } = await readChanges(connection, options.limit);
    connection.show(service.listPriceChanges, { priceChanges, nextPageToken }, (answer) =>
      formatList(
        ["CHANGE", "KIND", "PRICES", "WAITS"],
        answer.priceChanges.map(changeRow),
        "No pending changes.",
        answer.nextPageToken,
      ),
    );
  });
}

function readChanges(connection: Connection, limit: number) {
  return readPages(limit, async (pageSize, pageToken) => {
    const page = await connection.call(service.listPriceChanges, { pageSize, pageToken });
    return { items: page.priceChanges, nextPageToken: page.nextPageToken };
  });
}

function changeRow({ id, kind, components, reasons }: PriceChange): string[] {
  return [
    id,
    enumWord("tollgate.v1.PriceChangeKind", kind),
    components.map(wordsOf).join("; ") || "-",
    reasons.join("; ") || "-",
  ];
}

function wordsOf({ component, from, to, others }: PriceComponentChange): string {
  const said = others.map(({ list, price }) => `${list} ${price}`);
  return `${component} ${from ?? "none"} -> ${to ?? "none"}${said.length === 0 ? "" : ` (${said.join(", ")})`}`;
}

async function accept(ids: readonly string[], options: DecideOptions): Promise<void> {
  await decide(ids, options, async (connection, some) => {
    await connection.call(service.acceptPriceChanges, { ids: [...some] });
    return "in force";
  });
}

async function reject(ids: readonly string[], options: DecideOptions): Promise<void> {
  await decide(ids, options, async (connection, some) => {
    await connection.call(service.rejectPriceChanges, { ids: [...some] });
    return "rejected";
  });
}

async function decide(
  ids: readonly string[],
  options: DecideOptions,
  run: (connection: Connection, ids: readonly string[]) => Promise<string>,
): Promise<void> {
  await connected(options, async (connection) => {
    const all = options.all === true ? (await readChanges(connection, CHANGES_MAX)).items.map(({ id }) => id) : ids;
    if (all.length === 0) throw new CommandFailure("name the changes, or --all; see tollgate prices pending", "usage");
    let word = "";
    for (let start = 0; start < all.length; start += CHANGES_AT_ONCE)
      word = await run(connection, all.slice(start, start + CHANGES_AT_ONCE));
    const answer = await connection.call(service.getPriceList, {});
    connection.show(service.getPriceList, answer, () => `${all.length} changes are ${word}.`);
  });
}

async function rollBack(serial: bigint, options: ConnectionOptions): Promise<void> {
  await connected(options, async (connection) => {
    const answer = await connection.call(service.rollBackPriceList, { serial });
    connection.show(service.rollBackPriceList, answer, ({ priceList }) => formatPriceList(priceList));
  });
}

async function refresh(options: ConnectionOptions): Promise<void> {
  await connected(options, async (connection) => {
    const answer = await connection.call(service.refreshPriceList, {}, REFRESH_MS_MAX);
    connection.show(service.refreshPriceList, answer, ({ priceList }) => formatPriceList(priceList));
  });
}

interface MakeOptions {
  readonly genaiPrices: string;
  readonly modelsDev: string;
  readonly litellm: string;
  readonly serial: bigint;
  readonly signWith: readonly string[];
  readonly out: string;
  readonly days: number;
}

async function make({ genaiPrices, modelsDev, litellm, serial, signWith, out, days }: MakeOptions): Promise<void> {
  // Loaded only here, so that other commands start at once.
  const { makeSnapshot } = await import("../price-lists/making.js");
  const { writeSnapshot, keyTextOf } = await import("../price-lists/snapshot.js");
  const { bundledPrices } = await import("../pricing/known-models.js");
  const { find } = await bundledPrices();
  const keys = await Promise.all(signWith.map(async (path) => createPrivateKey(await readFile(path))));
  const sources = {
    genaiPrices: await textOf(genaiPrices),
    modelsDev: await textOf(modelsDev),
    liteLlm: await textOf(litellm),
  };
  const { snapshot, disagreements } = makeSnapshot(sources, { serial: Number(serial), nowMs: Date.now(), days, find });
  await writeFile(out, writeSnapshot(snapshot, keys));
  const rows = disagreements.map(({ key: model, component, price, source, other }) => [
    model,
    component,
    String(price),
    `${source} ${other}`,
  ]);
  print(formatList(["MODEL", "PRICE", "GENAI-PRICES", "OTHER"], rows, "The lists agree.", ""));
  remark(`Wrote ${out}, signed with ${keys.map((one) => keyTextOf(one)).join(" and ")}.`);
}

async function textOf(place: string): Promise<string> {
  if (!/^https?:\/\//.test(place)) return readFile(place, "utf8");
  const { textAt } = await import("../price-lists/list-text.js");
  return textAt(place);
}
