/** `tollgate alerts`, `webhooks` and `events`: what the gateway tells of by itself, and where that goes. */
import type { Command } from "commander";
import {
  type Alert,
  AlertServiceService,
  AlertSettings,
  type AlertEvent,
  AlertKind,
  type Delivery,
  EventServiceService,
  type Webhook,
  WebhookServiceService,
} from "../api/index.js";
import { enumWord } from "../api/descriptors.js";
import { formatUsd } from "../base/money.js";
import { readLimit, readUsd, readWhole } from "./arguments.js";
import { connected, type ConnectionOptions, readPages, withConnection } from "./connection.js";
import { EnumWords } from "./enum-words.js";
import type { Names } from "./names.js";
import { typedIn } from "./large-amounts.js";
import { formatList, formatTime, print, printable, remark, SHOWN_ONCE } from "./print.js";

const KINDS = new EnumWords<AlertKind>(AlertKind, "ALERT_KIND_");

type ListOptions = ConnectionOptions & { readonly account?: string; readonly limit: number };

export function addAlertCommands(program: Command): void {
  const alerts = program.command("alerts").description("create, list and delete alerts");
  listed(alerts, "list alerts, and the subjects that fire now").action(listAlerts);
  withConnection(
    alerts
      .command("create")
      .description("create an alert")
      .argument("<kind>", "what the alert watches, such as balance_low, budget_share or error_share", KINDS.read)
      .option(
        "--account <id>",
        "the account that owns it (default: the operator, or the account of the key in use)",
        "",
      )
      .option("--name <name>", "a display name", "")
      .option("--amount <usd>", "the threshold in USD", readUsd)
      .option("--percent <n>", "the threshold in percent", readWhole)
      .option("--days <n>", "the threshold in days", readWhole)
      .option("--ms <n>", "the threshold in milliseconds", readWhole)
      .option("--for <minutes>", "how many minutes the condition must hold", readWhole)
      .option("--model <glob>", "only these models", "")
      .option("--upstream <id>", "only this upstream", "")
      .option("--webhook <id...>", "the webhooks that receive its events (default: all of its account)")
      .option("--email <address...>", "the mail addresses that receive its events")
      .addHelpText("after", "\nExample:\n  tollgate alerts create balance_low --account acme --amount 5.00"),
  ).action(createAlert);
  named(alerts, "delete", "delete an alert").action(deleteAlert);
  const webhooks = program.command("webhooks").description("create, list and test webhooks");
  listed(webhooks, "list webhooks").action(listWebhooks);
  withConnection(
    webhooks
      .command("create")
      .description("create a webhook and print its secret, once, to standard output")
      .argument("<url>", "the URL that events are posted to")
      .option(
        "--account <id>",
        "the account that owns it (default: the operator, or the account of the key in use)",
        "",
      )
      .option("--name <name>", "a display name", ""),
  ).action(createWebhook);
  named(webhooks, "rotate", "give a webhook a new secret and print it, once")
    .option("--grace <seconds>", "how long requests are also signed with the old secret", readWhole)
    .action(rotateWebhook);
  named(webhooks, "test", "send a test event").action(testWebhook);
  named(webhooks, "delete", "delete a webhook").action(deleteWebhook);
  listed(webhooks, "list deliveries of events, newest first", "deliveries").action(listDeliveries);
  named(webhooks, "resend", "send the event of a delivery again").action(resend);
  const events = program.command("events").description("list and watch events");
  listed(events, "list events, newest first").action(listEvents);
  withConnection(
    events
      .command("watch")
      .description("print events when they happen")
      .option("--account <id>", "only events of alerts of this account", "")
      .option("--after <id>", "start after this event", ""),
  ).action(watchEvents);
}

function listed(parent: Command, description: string, name = "list"): Command {
  const command = parent.command(name).description(description).option("--account <id>", "only of this account");
  return withConnection(command.option("--limit <rows>", "the maximum number of rows", readLimit, 100));
}

function named(parent: Command, name: string, description: string): Command {
  return withConnection(parent.command(name).description(description).argument("<id>", "the id"));
}

interface CreateOptions extends ConnectionOptions {
  readonly account: string;
  readonly name: string;
  readonly amount?: bigint;
  readonly percent?: bigint;
  readonly days?: bigint;
  readonly ms?: bigint;
  readonly for?: bigint;
  readonly model: string;
  readonly upstream: string;
  readonly webhook?: string[];
  readonly email?: string[];
}

async function createAlert(kind: AlertSettings["kind"], options: CreateOptions): Promise<void> {
  await typedIn(`alert.${kind}`, options.amount, options, async (connection) => {
    const method = AlertServiceService.createAlert;
    const settings: AlertSettings = {
      ...AlertSettings.decode(new Uint8Array()),
      kind,
      name: options.name,
      amountNanos: options.amount ?? 0n,
      percent: Number(options.percent ?? 0n),
      days: Number(options.days ?? 0n),
      thresholdMs: options.ms ?? 0n,
      forMinutes: Number(options.for ?? 0n),
      model: options.model,
      upstream: options.upstream,
      webhookIds: options.webhook ?? [],
      emails: options.email ?? [],
    };
    const answer = await connection.call(method, { accountId: options.account, settings });
    connection.show(method, answer, ({ alert }) => `Made ${printable(alert?.id ?? "")}.`);
  });
}

async function listAlerts(options: ListOptions): Promise<void> {
  await connected(options, async (connection) => {
    const method = AlertServiceService.listAlerts;
    const { items, nextPageToken } = await readPages(options.limit, async (pageSize, pageToken) => {
      const page = await connection.call(method, { accountId: options.account ?? "", pageSize, pageToken });
      return { items: page.alerts, nextPageToken: page.nextPageToken };
    });
    await connection.showNamed(method, { alerts: items, nextPageToken }, items, (names) => {
      const rows = items.map((alert) => alertRow(alert, names));
      return formatList(["ALERT", "NAME", "ACCOUNT", "KIND", "AT", "TELLS OF"], rows, "No alerts.", nextPageToken);
    });
  });
}

function alertRow({ id, accountId, settings, firing }: Alert, names: Names): string[] {
  const { kind = 0, name = "", amountNanos = 0n, percent = 0, days = 0, thresholdMs = 0n } = settings ?? {};
  const at = [
    amountNanos > 0n ? formatUsd(amountNanos) : "",
    percent > 0 ? `${percent} %` : "",
    days > 0 ? `${days} d` : "",
    thresholdMs > 0n ? `${thresholdMs} ms` : "",
  ];
  return [
    id,
    name || "-",
    ownerOf(accountId, names),
    KINDS.wordOf(kind) || "-",
    at.join("") || "-",
    firing.join("; ") || "-",
  ];
}

/** What is no account's is the operator's. */
function ownerOf(accountId: string, names: Names): string {
  return accountId === "" ? "operator" : names.account(accountId);
}

async function deleteAlert(id: string, options: ConnectionOptions): Promise<void> {
  await connected(options, async (connection) => {
    const method = AlertServiceService.deleteAlert;
    connection.show(method, await connection.call(method, { id }), () => `Deleted ${printable(id)}.`);
  });
}

async function createWebhook(
  url: string,
  options: ConnectionOptions & { account: string; name: string },
): Promise<void> {
  await connected(options, async (connection) => {
    const method = WebhookServiceService.createWebhook;
    const settings = { name: options.name, url, paused: false };
    const answer = await connection.call(method, { accountId: options.account, settings });
    connection.show(method, answer, ({ secret }) => secret);
    if (!options.json) remark(`Made ${printable(answer.webhook?.id ?? "")}. ${SHOWN_ONCE}`);
  });
}

async function rotateWebhook(id: string, options: ConnectionOptions & { grace?: bigint }): Promise<void> {
  await connected(options, async (connection) => {
    const method = WebhookServiceService.rotateWebhookSecret;
    connection.show(
      method,
      await connection.call(method, { id, graceSeconds: Number(options.grace ?? 0n) }),
      ({ secret }) => secret,
    );
    if (!options.json) remark(SHOWN_ONCE);
  });
}

async function testWebhook(id: string, options: ConnectionOptions): Promise<void> {
  await connected(options, async (connection) => {
    const method = WebhookServiceService.testWebhook;
    const answer = await connection.call(method, { id });
    connection.show(method, answer, ({ delivery }) => `Sends ${printable(delivery?.id ?? "")}.`);
  });
}

async function deleteWebhook(id: string, options: ConnectionOptions): Promise<void> {
  await connected(options, async (connection) => {
    const method = WebhookServiceService.deleteWebhook;
    connection.show(method, await connection.call(method, { id }), () => `Deleted ${printable(id)}.`);
  });
}

async function listWebhooks(options: ListOptions): Promise<void> {
  await connected(options, async (connection) => {
    const method = WebhookServiceService.listWebhooks;
    const { items, nextPageToken } = await readPages(options.limit, async (pageSize, pageToken) => {
      const page = await connection.call(method, { accountId: options.account ?? "", pageSize, pageToken });
      return { items: page.webhooks, nextPageToken: page.nextPageToken };
    });
    const row = ({ id, accountId, settings, createTime }: Webhook, names: Names): string[] => {
      const state = settings?.paused === true ? "paused" : "sends";
      const owner = ownerOf(accountId, names);
      return [id, settings?.name || "-", owner, settings?.url ?? "", state, formatTime(createTime)];
    };
    await connection.showNamed(method, { webhooks: items, nextPageToken }, items, (names) =>
      formatList(
        ["WEBHOOK", "NAME", "ACCOUNT", "URL", "STATE", "CREATED"],
        items.map((webhook) => row(webhook, names)),
        "No webhooks.",
        nextPageToken,
      ),
    );
  });
}

async function listDeliveries(options: ListOptions): Promise<void> {
  await connected(options, async (connection) => {
    const method = WebhookServiceService.listDeliveries;
    const about = { accountId: options.account ?? "", webhookId: "", eventId: "" };
    const { items, nextPageToken } = await readPages(options.limit, async (pageSize, pageToken) => {
      const page = await connection.call(method, { ...about, pageSize, pageToken });
      return { items: page.deliveries, nextPageToken: page.nextPageToken };
    });
    const row = (one: Delivery): string[] => {
      const state = enumWord("tollgate.v1.DeliveryState", one.state);
      const next = formatTime(one.nextAttemptTime);
      return [one.id, one.eventId, one.webhookId || one.email, state, String(one.attemptCount), next];
    };
    connection.show(method, { deliveries: items, nextPageToken }, (answer) =>
      formatList(
        ["DELIVERY", "EVENT", "TO", "STATE", "ATTEMPTS", "NEXT"],
        answer.deliveries.map(row),
        "No deliveries.",
        answer.nextPageToken,
      ),
    );
  });
}

async function resend(id: string, options: ConnectionOptions): Promise<void> {
  await connected(options, async (connection) => {
    const method = WebhookServiceService.resendDelivery;
    connection.show(method, await connection.call(method, { id }), () => `Sends ${printable(id)} once more.`);
  });
}

async function listEvents(options: ListOptions): Promise<void> {
  await connected(options, async (connection) => {
    const method = EventServiceService.listEvents;
    const about = { subjectAccountId: "", alertId: "", type: "", startTime: undefined, endTime: undefined };
    const { items, nextPageToken } = await readPages(options.limit, async (pageSize, pageToken) => {
      const page = await connection.call(method, { ...about, accountId: options.account ?? "", pageSize, pageToken });
      return { items: page.events, nextPageToken: page.nextPageToken };
    });
    connection.show(method, { events: items, nextPageToken }, (answer) =>
      formatList(EVENT_COLUMNS, answer.events.map(eventRow), "No events.", answer.nextPageToken),
    );
  });
}

const EVENT_COLUMNS = ["TIME", "TYPE", "SUBJECT", "ALERT", "EVENT", "MESSAGE"];

function eventRow({ id, type, createTime, subject, alertName, alertId, message }: AlertEvent): string[] {
  return [formatTime(createTime), type, subject, alertName || alertId || "-", id, message];
}

async function watchEvents(options: ConnectionOptions & { account: string; after: string }): Promise<void> {
  await connected(options, async (connection) => {
    const about = { subjectAccountId: "", alertId: "", type: "" };
    const request = { ...about, accountId: options.account, afterId: options.after };
    await connection.watch(EventServiceService.watchEvents, request, ({ events }) => {
      for (const event of events)
        print(options.json ? JSON.stringify(event) : eventRow(event).map(printable).join("  "));
    });
  });
}
