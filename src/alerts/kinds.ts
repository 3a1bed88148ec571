/** What alerts can watch, and what each kind needs of its settings: one row for each value of the protocol's enum. */
import { snakeCase } from "../api/field-name.js";
import { AlertKind, type AlertSettings } from "../api/index.js";
import { GatewayError } from "../base/errors.js";
import { AMOUNT_NANOS_MAX } from "../base/money.js";

/** Where a kind's readings come from: the ledger, which one node reads for all, or what a node itself sees. */
export type Watched = "ledger" | "node";

interface KindRow {
  /** As JSON and the types of events say it. */
  readonly word: string;
  readonly watched: Watched;
  /** True where only the operator may know. */
  readonly isOperators: boolean;
  /** The setting that says when it fires. */
  readonly needs?: "amountNanos" | "percent" | "days" | "thresholdMs";
  /** Of `percent`. Default: 1 and 100. */
  readonly percent?: readonly [least: number, most: number];
}

type KnownKind = Exclude<AlertKind, AlertKind.ALERT_KIND_UNSPECIFIED | AlertKind.UNRECOGNIZED>;

const LEDGER = { watched: "ledger", isOperators: false } as const;
const NODE = { watched: "node", isOperators: false } as const;
const OPERATORS = { watched: "node", isOperators: true } as const;

export const KINDS: { readonly [Kind in KnownKind]: KindRow } = {
  [AlertKind.ALERT_KIND_BALANCE_LOW]: { word: "balance_low", ...LEDGER, needs: "amountNanos" },
  [AlertKind.ALERT_KIND_BALANCE_DAYS]: { word: "balance_days", ...LEDGER, needs: "days" },
  [AlertKind.ALERT_KIND_BUDGET_SHARE]: { word: "budget_share", ...LEDGER, needs: "percent" },
  [AlertKind.ALERT_KIND_SPEND_RISE]: { word: "spend_rise", ...LEDGER, needs: "percent", percent: [101, 10_000] },
  [AlertKind.ALERT_KIND_ERROR_SHARE]: { word: "error_share", ...NODE, needs: "percent" },
  [AlertKind.ALERT_KIND_FIRST_TOKEN_SLOW]: { word: "first_token_slow", ...NODE, needs: "thresholdMs" },
  [AlertKind.ALERT_KIND_UPSTREAM_EJECTED]: { word: "upstream_ejected", ...OPERATORS },
  [AlertKind.ALERT_KIND_CREDENTIAL_REFUSED]: { word: "credential_refused", ...OPERATORS },
  [AlertKind.ALERT_KIND_RELOAD_REFUSED]: { word: "reload_refused", ...OPERATORS },
  [AlertKind.ALERT_KIND_CLOCK_SKEW]: { word: "clock_skew", ...OPERATORS },
  [AlertKind.ALERT_KIND_OVERAGE]: { word: "overage", watched: "ledger", isOperators: true, needs: "amountNanos" },
  [AlertKind.ALERT_KIND_PROOF_FAILED]: { word: "proof_failed", watched: "ledger", isOperators: true },
  [AlertKind.ALERT_KIND_KEY_UNUSED]: { word: "key_unused", ...LEDGER, needs: "days" },
  [AlertKind.ALERT_KIND_KEY_EXPIRING]: { word: "key_expiring", ...LEDGER, needs: "days" },
  [AlertKind.ALERT_KIND_MODEL_RETIRING]: {
    word: "model_retiring",
    watched: "ledger",
    isOperators: false,
    needs: "days",
  },
};

/** Undefined for what is no kind. */
export function kindOf(kind: AlertKind): KindRow | undefined {
  return Object.hasOwn(KINDS, kind) ? KINDS[kind as KnownKind] : undefined;
}

const NAME_CHARACTERS_MAX = 200;
const ID_CHARACTERS_MAX = 256;
const DAYS_MAX = 365;
const THRESHOLD_MS_MAX = 600_000n;
const MINUTES_MAX = 60;
const FOR_MINUTES_MAX = 1_440;
const REQUESTS_MAX = 1_000_000n;
const WEBHOOKS_MAX = 20;
const EMAILS_MAX = 10;
/** One address and nothing else: what a mail's header would read as more than that is none. */
const EMAIL = /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252}[A-Za-z0-9])?$/;

/** Throws PARAMETER_MISSING or PARAMETER_INVALID, which names the setting. */
export function checkSettings(settings: AlertSettings, accountId: string): AlertSettings {
  const kind = kindOf(settings.kind);
  if (kind === undefined) throw missing("settings.kind");
  if (kind.isOperators && accountId !== "") throw invalid("kind", "is for operators only");
  checkThresholds(settings, kind);
  check(settings.name.length <= NAME_CHARACTERS_MAX, "name", `must have at most ${NAME_CHARACTERS_MAX} characters`);
  // It stands in mails, where a line of its own would be read as ours.
  check(!/\p{Cc}/u.test(settings.name), "name", "must have no control characters, such as line breaks");
  check(settings.windowMinutes <= MINUTES_MAX, "window_minutes", `must be from 0 to ${MINUTES_MAX}`);
  check(settings.forMinutes <= FOR_MINUTES_MAX, "for_minutes", `must be from 0 to ${FOR_MINUTES_MAX}`);
  check(settings.requestsMin <= REQUESTS_MAX, "requests_min", `must be from 0 to ${REQUESTS_MAX}`);
  const isOwn = accountId === "" || ["", accountId].includes(settings.watchedAccountId);
  check(isOwn, "watched_account_id", "must be the alert's own account");
  for (const name of ["watchedAccountId", "keyId", "model", "upstream"] as const)
    check(
      settings[name].length <= ID_CHARACTERS_MAX,
      snakeCase(name),
      `must have at most ${ID_CHARACTERS_MAX} characters`,
    );
  check(settings.webhookIds.length <= WEBHOOKS_MAX, "webhook_ids", `must be at most ${WEBHOOKS_MAX}`);
  check(settings.emails.length <= EMAILS_MAX, "emails", `must be at most ${EMAILS_MAX}`);
  check(
    settings.emails.every((email) => EMAIL.test(email)),
    "emails",
    "must be addresses such as ops@example.com",
  );
  return settings;
}

function checkThresholds(settings: AlertSettings, { needs, percent: [least, most] = [1, 100] }: KindRow): void {
  if (needs === undefined) return;
  if (BigInt(settings[needs]) === 0n) throw missing(`settings.${snakeCase(needs)}`);
  const { amountNanos, percent, days, thresholdMs } = settings;
  if (needs === "amountNanos")
    check(amountNanos > 0n && amountNanos <= AMOUNT_NANOS_MAX, "amount_nanos", "must be above 0");
  if (needs === "percent") check(percent >= least && percent <= most, "percent", `must be from ${least} to ${most}`);
  if (needs === "days") check(days <= DAYS_MAX, "days", `must be from 1 to ${DAYS_MAX}`);
  if (needs === "thresholdMs")
    check(thresholdMs <= THRESHOLD_MS_MAX, "threshold_ms", `must be from 1 to ${THRESHOLD_MS_MAX}`);
}

function check(holds: boolean, name: string, problem: string): void {
  if (!holds) throw invalid(name, problem);
}

function invalid(name: string, problem: string): GatewayError {
  return new GatewayError("ERROR_REASON_PARAMETER_INVALID", { param: `settings.${name}`, problem });
}

function missing(param: string): GatewayError {
  return new GatewayError("ERROR_REASON_PARAMETER_MISSING", { param });
}
