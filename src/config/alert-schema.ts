/** An alert in a settings file: what it watches, and whom it tells. What its kind needs is the alerts' own rule. */
import { z } from "zod";
import { AlertKind } from "../api/index.js";
import type { AlertSeed } from "./settings.js";
import { block, named, oneOf, reading, text, truth, usd, wholeNumber } from "./values.js";

const PREFIX = "ALERT_KIND_";
/** The kinds by the words that JSON has for them too. */
const KINDS: ReadonlyMap<string, AlertKind> = new Map(
  Object.entries(AlertKind).flatMap(([name, kind]) =>
    typeof kind === "number" && kind > 0 ? [[name.slice(PREFIX.length).toLowerCase(), kind]] : [],
  ),
);

const kind = oneOf([...KINDS.keys()]).transform((word) => KINDS.get(word) ?? AlertKind.ALERT_KIND_UNSPECIFIED);

const account = reading("must be an account's id: 1 to 64 of a-z, 0-9, _, . and -", (value) =>
  /^[a-z0-9_.-]{1,64}$/.test(value) ? value : undefined,
);

const number = (most: number, what: string) => wholeNumber(0, most).prefault("0").describe(what);
const one = (what: string) => text(256).default("").describe(`${what}; default: all`);
const listOf = (rule: string, lengthMax: number, what: string) =>
  z
    .array(text(lengthMax), { error: () => rule })
    .default([])
    .describe(what);

const WEBHOOKS_RULE = "must be a list of webhooks' ids, such as [wh_0123]";
const EMAILS_RULE = "must be a list of mail addresses, such as [ops@example.com]";

const alert = block({
  kind: kind.describe("What the alert watches"),
  account: account.default("").describe("The account that owns the alert; default: the operator"),
  amount: usd.prefault("0").describe("The threshold of `balance_low` and `overage`"),
  percent: number(10_000, "The percentage of `budget_share`, `error_share` and `spend_rise`"),
  days: number(365, "The number of days of `balance_days`, `key_unused`, `key_expiring` and `model_retiring`"),
  threshold_ms: number(600_000, "The threshold of `first_token_slow` in milliseconds"),
  window_minutes: number(60, "The window of `error_share` and `first_token_slow`, in minutes; 0 means 5"),
  requests_min: number(
    1_000_000,
    "The minimum number of requests in `window_minutes`; with fewer the alert does not fire; 0 means 20",
  ),
  for_minutes: number(1_440, "How many minutes the condition must hold before the alert fires"),
  watched_account: account.default("").describe("The account that an alert of the operator watches; default: all"),
  key: one("The id of the key that the alert watches"),
  model: one("A glob of the models that the alert watches"),
  upstream: one("The upstream that the alert watches"),
  webhooks: listOf(
    WEBHOOKS_RULE,
    256,
    "The ids of the webhooks that receive its events; empty: all webhooks of its account",
  ),
  emails: listOf(EMAILS_RULE, 320, "The mail addresses that receive its events"),
  paused: truth.prefault("false").describe("The alert is paused and sends no events"),
});

/** The block `alerts`: each under its own name. */
export const alertSeeds = named(
  /^[a-z0-9][a-z0-9._-]{0,63}$/,
  "must be named by 1 to 64 of a-z, 0-9, ., _ and -",
  alert,
).transform((blocks) =>
  Object.entries(blocks).map(([name, said]): AlertSeed => ({
    name,
    accountId: said.account,
    settings: {
      name,
      kind: said.kind,
      amountNanos: said.amount,
      amount: undefined,
      percent: said.percent,
      days: said.days,
      thresholdMs: BigInt(said.threshold_ms),
      windowMinutes: said.window_minutes,
      requestsMin: BigInt(said.requests_min),
      watchedAccountId: said.watched_account,
      keyId: said.key,
      model: said.model,
      upstream: said.upstream,
      forMinutes: said.for_minutes,
      webhookIds: said.webhooks,
      emails: said.emails,
      paused: said.paused,
    },
  })),
);
