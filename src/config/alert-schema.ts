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
  kind: kind.describe("What it watches"),
  account: account.default("").describe("Whose it is; default: the operator's"),
  amount: usd.prefault("0").describe("The amount of `balance_low` and `overage`"),
  percent: number(10_000, "The share of `budget_share`, `error_share` and `spend_rise`"),
  days: number(365, "The days of `balance_days`, `key_unused`, `key_expiring` and `model_retiring`"),
  threshold_ms: number(600_000, "The time of `first_token_slow`"),
  window_minutes: number(60, "The last minutes that `error_share` and `first_token_slow` look at; 0: 5"),
  requests_min: number(1_000_000, "The least requests in them by which these two judge; 0: 20"),
  for_minutes: number(1_440, "How long its condition must hold before it is told"),
  watched_account: account.default("").describe("The account that an operator's alert watches; default: all"),
  key: one("The key that it watches, by its id"),
  model: one("The models that it watches, as a glob"),
  upstream: one("The upstream that it watches"),
  webhooks: listOf(WEBHOOKS_RULE, 256, "The webhooks that hear of it, by their ids; empty: all of its account"),
  emails: listOf(EMAILS_RULE, 320, "The mail addresses that hear of it"),
  paused: truth.prefault("false").describe("It tells of nothing for now"),
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
