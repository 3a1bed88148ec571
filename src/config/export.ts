/** Accounts, keys and alerts as a settings file has them. */
import { Document, isScalar, Scalar, visit } from "yaml";
import {
  type AccountQuotas,
  AlertKind,
  type AlertSettings,
  type CreditLine,
  CreditPeriod,
  type Demands,
  type Key,
  type KeyQuotas,
  type ModelLimits,
  type Quota,
  QuotaPeriod,
} from "../api/index.js";
import { formatUsd } from "../base/money.js";
import type { AccountSeed } from "./settings.js";

export interface ExportedAlert {
  readonly accountId: string;
  readonly settings: AlertSettings;
}

export interface Exported {
  /** Without their plans: what a plan gave stands in the account itself. */
  readonly accounts: readonly Omit<AccountSeed, "creditNanos" | "plan">[];
  readonly keys: readonly Pick<Key, "id" | "accountId" | "settings">[];
  readonly alerts: readonly ExportedAlert[];
}

type Value = string | readonly string[] | { readonly [name: string]: Value | readonly Value[] };
type Block = Record<string, Value | readonly Value[]>;

const HEAD = ` What was made over the API, as a settings file has it.
 Where an account, a key or an alert exists already, it stays as it is there.
 The gateway does not know the secrets of keys: give each variable its secret, or take the key out.
 Credit is money that was given: it is not repeated here.`;

/** The text of a file that says the same. */
export function exportSettings({ accounts, keys, alerts }: Exported): string {
  const names = new Set<string>();
  const file = {
    ...blockOf("accounts", Object.fromEntries(accounts.map((account) => [account.id, accountBlock(account)]))),
    ...(keys.length === 0 ? {} : { keys: keys.map(keyBlock) }),
    ...blockOf("alerts", Object.fromEntries(alerts.map((alert) => [alertName(alert, names), alertBlock(alert)]))),
  };
  const document = new Document(file, { aliasDuplicateObjects: false });
  document.commentBefore = HEAD;
  visit(document, {
    // A name that is no merge.
    Pair: (_, { key }) => {
      if (isScalar(key) && key.value === "<<") key.type = Scalar.QUOTE_DOUBLE;
    },
  });
  return document.toString({ lineWidth: 0 });
}

/** The variable that a key's secret is taken from. */
export function secretVariable(keyId: string): string {
  return `KEY_${keyId
    .replace(/^key_/, "")
    .replaceAll(/[^A-Za-z0-9]/g, "_")
    .toUpperCase()}`;
}

function blockOf(name: string, block: Block): Block {
  return Object.keys(block).length === 0 ? {} : { [name]: block };
}

function accountBlock({ id, name, budgets, limits }: Exported["accounts"][number]): Block {
  const { modelLimits, creditLine, ...own } = limits;
  return filled({
    name: name === id ? "" : plain(name),
    ...moneyOf(budgets),
    ...countsOf(own),
    credit_line: creditLine === undefined ? "" : lineOf(creditLine),
    models: Object.fromEntries(modelLimits.map(({ model, ...rest }) => [model, countsOf(rest)])),
    demands: demandsBlock(limits.demands),
    quotas: quotasBlock(limits.quotas),
  });
}

function keyBlock({ id, accountId, settings }: Exported["keys"][number]): Block {
  const variable = `\${${secretVariable(id)}}`;
  if (settings === undefined) return { account: accountId, secret: variable };
  const { expireTime, metadata } = settings;
  return filled({
    account: accountId,
    secret: variable,
    name: plain(settings.name),
    scopes: settings.scopes,
    models: settings.models.map(plain),
    models_denied: settings.modelsDenied.map(plain),
    addresses: settings.addresses,
    expires: expireTime?.toISOString() ?? "",
    ...countsOf(settings),
    ...moneyOf(settings),
    metadata: Object.fromEntries(Object.entries(metadata).map(([name, text]) => [name, plain(text)])),
    refuse_unaffordable: whereTrue(settings.refuseUnaffordable),
    retries_run_anew: whereTrue(settings.retriesRunAnew),
    strict: whereTrue(settings.strict),
    children_end_with_it: whereTrue(settings.childrenEndWithIt),
    end_streams_on_revoke: settings.endStreamsOnRevoke === false ? "false" : "",
    end_streams_on_expiry: whereTrue(settings.endStreamsOnExpiry),
    cache_marks_off: whereTrue(settings.cacheMarksOff),
    demands: demandsBlock(settings.demands),
    quotas: quotasBlock(settings.quotas),
  });
}

function demandsBlock(demands: Demands | undefined): Block {
  const { region = [], retention = "", trains = "" } = demands ?? {};
  return filled({ region, retention, trains });
}

/** Names of alerts are ids in a file, and people's own words elsewhere. */
function alertName({ settings: { name, kind } }: ExportedAlert, taken: Set<string>): string {
  const plainName = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, "-")
    .replaceAll(/^[^a-z0-9]+|-+$/g, "")
    .slice(0, 56);
  const base = plainName === "" ? kindWord(kind).replaceAll("_", "-") : plainName;
  let free = base;
  for (let number = 2; taken.has(free); number++) free = `${base}-${number}`;
  taken.add(free);
  return free;
}

function alertBlock({ accountId, settings }: ExportedAlert): Block {
  return filled({
    kind: kindWord(settings.kind),
    account: accountId,
    amount: usd(settings.amountNanos),
    percent: number(settings.percent),
    days: number(settings.days),
    threshold_ms: number(settings.thresholdMs),
    window_minutes: number(settings.windowMinutes),
    requests_min: number(settings.requestsMin),
    for_minutes: number(settings.forMinutes),
    watched_account: settings.watchedAccountId,
    key: plain(settings.keyId),
    model: plain(settings.model),
    upstream: plain(settings.upstream),
    webhooks: settings.webhookIds,
    emails: settings.emails.map(plain),
    paused: whereTrue(settings.paused),
  });
}

interface Money {
  readonly budgetDayNanos: bigint;
  readonly budgetWeekNanos: bigint;
  readonly budgetMonthNanos: bigint;
  readonly budgetQuarterNanos: bigint;
  readonly budgetTotalNanos: bigint;
  readonly requestCostMaxNanos: bigint;
}

function moneyOf(money: Money): Block {
  return filled({
    budget_day: usd(money.budgetDayNanos),
    budget_week: usd(money.budgetWeekNanos),
    budget_month: usd(money.budgetMonthNanos),
    budget_quarter: usd(money.budgetQuarterNanos),
    budget_total: usd(money.budgetTotalNanos),
    request_cost_max: usd(money.requestCostMaxNanos),
  });
}

function lineOf({ amountNanos, period }: CreditLine): Block {
  return { amount: usd(amountNanos), period: wordOf(CreditPeriod[period], PERIOD_PREFIX) };
}

function quotasBlock(quotas: KeyQuotas | AccountQuotas | undefined): Block {
  if (quotas === undefined) return {};
  const isOfAccount = "timeZone" in quotas;
  return filled({
    time_zone: isOfAccount ? quotas.timeZone : "",
    day_start_hour: isOfAccount ? number(quotas.dayStartHour) : "",
    limits: quotas.limits.map(quotaBlock),
  });
}

function quotaBlock({ period, model, requests, tokens, amountNanos, warnPercent }: Quota): Block {
  return filled({
    period: wordOf(QuotaPeriod[period], QUOTA_PERIOD_PREFIX),
    model: plain(model),
    requests: number(requests),
    tokens: number(tokens),
    amount: usd(amountNanos),
    warn_percent: number(warnPercent),
  });
}

function wordOf(name: string | undefined, prefix: string): string {
  return (name ?? "").slice(prefix.length).toLowerCase();
}

function countsOf(limits: Omit<ModelLimits, "model">): Block {
  return filled({
    requests_per_minute: number(limits.requestsPerMinute),
    tokens_per_minute: number(limits.tokensPerMinute),
    concurrency: number(limits.concurrency),
  });
}

/** What is said: a default is left out. */
function filled(block: Block): Block {
  const isSaid = (value: Block[string]): boolean =>
    typeof value === "string" || Array.isArray(value) ? value.length > 0 : Object.keys(value).length > 0;
  return Object.fromEntries(Object.entries(block).filter(([, value]) => isSaid(value)));
}

/** Text of people, in which a variable's name is no variable, and nothing steers a terminal. */
function plain(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, " ").replaceAll("${", () => "$${");
}

function usd(nanos: bigint): string {
  return nanos === 0n ? "" : formatUsd(nanos);
}

function number(value: bigint | number): string {
  return Number(value) === 0 ? "" : String(value);
}

function whereTrue(value: boolean): string {
  return value ? "true" : "";
}

const QUOTA_PERIOD_PREFIX = "QUOTA_PERIOD_";
const PERIOD_PREFIX = "CREDIT_PERIOD_";
const KIND_PREFIX = "ALERT_KIND_";

function kindWord(kind: AlertKind): string {
  return (AlertKind[kind] ?? "").slice(KIND_PREFIX.length).toLowerCase();
}
