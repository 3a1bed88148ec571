/** `tollgate top`: what the gateway does now, on a screen that is drawn anew every few seconds. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Command } from "commander";
import {
  UpstreamServiceService,
  type Node,
  type Upstream,
  UsageDimension,
  UsageServiceService,
  type UsageSum,
} from "../api/index.js";
import { answerToJson } from "../api/json.js";
import { GatewayError } from "../base/errors.js";
import { formatUsd } from "../base/money.js";
import { readBetween } from "./arguments.js";
import { type Connection, connected, type ConnectionOptions, withConnection } from "./connection.js";
import { type Names, namesOf } from "./names.js";
import { formatTable, jsonMember, numeric, print, printPart } from "./print.js";
import { formatUpstreams, listUpstreams } from "./upstream.js";
import { failedIn, timesOf, tokensOf } from "./usage.js";

const MINUTE_MS = 60_000;
/** Rows of each table. */
const ROWS = 8;
/** To the upper left corner, and everything below it away. */
const REDRAW = "\u001b[H\u001b[J";
const NO_FILTER = {
  keyId: "",
  model: "",
  upstream: "",
  endUser: "",
  tag: "",
  reason: "",
  valuesMax: 0,
  timeZone: "",
  tagName: "",
  httpStatus: 0,
};
const EXAMPLES = `
Examples:
  tollgate top
  tollgate top --minutes 60 --once
  tollgate top --json | jq .totals    (a line each time)

An operator's key sees all accounts and the upstreams, any other key its own account.`;

interface TopOptions extends ConnectionOptions {
  readonly minutes: number;
  readonly every: number;
  readonly account: string;
  readonly once?: true;
}

/** What one screen shows. */
interface Reading {
  readonly time: Date;
  readonly minutes: number;
  readonly total: UsageSum | undefined;
  readonly models: readonly UsageSum[];
  readonly accounts: readonly UsageSum[];
  readonly reasons: readonly UsageSum[];
  /** Undefined where the key may not see them. */
  readonly upstreams: readonly Upstream[] | undefined;
  /** Empty where the key may not see them. */
  readonly nodes: readonly Node[];
}

export function addTopCommand(program: Command): void {
  withConnection(
    program
      .command("top")
      .description("show live activity: requests, models, accounts, errors and upstreams")
      .option("--minutes <n>", "the number of minutes to sum up, 1 to 1440", readMinutes, 5)
      .option("--every <seconds>", "the number of seconds between refreshes, 1 to 3600", readSeconds, 2)
      .option("--account <id>", "only requests of this account", "")
      .option("--once", "print one screen and exit")
      .addHelpText("after", EXAMPLES),
  ).action(top);
}

const readMinutes = (text: string): number => readBetween(text, 1_440);
const readSeconds = (text: string): number => readBetween(text, 3_600);

async function top(options: TopOptions): Promise<void> {
  await connected(options, async (connection) => {
    for (;;) {
      const reading = await read(connection, options);
      if (options.json) print(JSON.stringify(toJson(reading)));
      else printPart(`${options.once ? "" : REDRAW}${screenOf(reading, await namesIn(connection, reading))}\n`);
      if (options.once) return;
      await sleep(options.every * 1_000);
    }
  });
}

async function read(connection: Connection, { minutes, account }: TopOptions): Promise<Reading> {
  const time = new Date();
  const startTime = new Date(time.valueOf() - minutes * MINUTE_MS);
  const method = UsageServiceService.queryUsage;
  const by = async (...groupBy: UsageDimension[]): Promise<readonly UsageSum[]> =>
    (await connection.call(method, { ...NO_FILTER, accountId: account, groupBy, startTime, endTime: undefined })).sums;
  const [[total], models, accounts, reasons, seen] = await Promise.all([
    by(),
    by(UsageDimension.USAGE_DIMENSION_MODEL),
    by(UsageDimension.USAGE_DIMENSION_ACCOUNT),
    by(UsageDimension.USAGE_DIMENSION_REASON),
    readUpstreams(connection),
  ]);
  return { time, minutes, total, models, accounts, reasons, ...seen };
}

async function readUpstreams(connection: Connection): Promise<Pick<Reading, "upstreams" | "nodes">> {
  try {
    return await listUpstreams(connection);
  } catch (error) {
    if (error instanceof GatewayError && error.http === 403) return { upstreams: undefined, nodes: [] };
    throw error;
  }
}

function namesIn(connection: Connection, { accounts }: Reading): Promise<Names> {
  return namesOf(
    connection,
    busiest(accounts).map(({ values: [accountId = ""] }) => ({ accountId })),
  );
}

function busiest(sums: readonly UsageSum[]): readonly UsageSum[] {
  return sums.toSorted((a, b) => Number(b.requestCount - a.requestCount)).slice(0, ROWS);
}

const TITLES = ["REQUESTS", "FAILED", "TOKENS OUT", "USD", "FIRST MS P50", "P95", "TOTAL MS P50", "P95"];

function screenOf(
  { time, minutes, total, models, accounts, reasons, upstreams, nodes }: Reading,
  names: Names,
): string {
  const table = (title: string, sums: readonly UsageSum[], shown: (value: string) => string): string => {
    const rows = busiest(sums).map((sum) => rowOf(shown(sum.values[0] ?? ""), sum));
    return rows.length === 0 ? "" : formatTable([title, ...TITLES.map(numeric)], rows);
  };
  const count = total?.requestCount ?? 0n;
  const perSecond = (Number(count) / (minutes * 60)).toFixed(2);
  const running = upstreams?.reduce((sum, one) => sum + one.running, 0n);
  const head = [
    `tollgate  ${time.toISOString().slice(0, 19)}Z  last ${minutes} min`,
    `${count} requests (${perSecond}/s)`,
    `${total === undefined ? 0n : failedIn(total)} failed`,
    `${formatUsd(total?.chargedNanos ?? 0n)} USD`,
    ...(running === undefined ? [] : [`${running} running`]),
  ].join("  ");
  const refused = reasons.filter(({ values: [reason = ""] }) => reason !== "");
  const failures = busiest(refused).map(({ values: [reason = ""], requestCount }) => [reason, `${requestCount}`]);
  return [
    head,
    table("MODEL", models, (model) => model || "-"),
    table("ACCOUNT", accounts, (id) => names.account(id)),
    failures.length === 0 ? "" : formatTable(["REASON", numeric("REQUESTS")], failures),
    upstreams === undefined ? "" : formatUpstreams({ upstreams: [...upstreams], nextPageToken: "" }, nodes),
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

function rowOf(name: string, sum: UsageSum): string[] {
  const { output } = tokensOf(sum.usage);
  const counts = [`${sum.requestCount}`, `${failedIn(sum)}`, `${output}`];
  return [name, ...counts, formatUsd(sum.chargedNanos), ...timesOf(sum)];
}

/** As the services' own JSON, under names of the screen. */
function toJson({ time, minutes, total, models, accounts, reasons, upstreams }: Reading): object {
  const sums = (list: readonly UsageSum[]): unknown =>
    jsonMember(answerToJson(UsageServiceService.queryUsage, { sums: [...list] }), "sums");
  const listed = upstreams && { upstreams: [...upstreams], nextPageToken: "" };
  return {
    time: time.toISOString(),
    minutes,
    totals: jsonMember(sums(total === undefined ? [] : [total]), "0") ?? {},
    models: sums(models),
    accounts: sums(accounts),
    reasons: sums(reasons),
    upstreams: listed && jsonMember(answerToJson(UpstreamServiceService.listUpstreams, listed), "upstreams"),
  };
}
