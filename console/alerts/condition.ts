/** What an alert watches: which settings each kind has, and its condition in words. */
import type { AlertKind, AlertSettings } from "../../gen/console/alert_service.js";
import { alertWords } from "../copy/en-alerts.ts";
import { count, milliseconds, money } from "../format.ts";

/** Settings that only some kinds have, as they are typed. */
export const KIND_FIELDS = [
  "amount",
  "percent",
  "days",
  "thresholdMs",
  "windowMinutes",
  "requestsMin",
  "model",
  "keyId",
  "upstream",
  "forMinutes",
] as const;
export type KindField = (typeof KIND_FIELDS)[number];

type Kind = Exclude<AlertKind, "unspecified">;

interface KindRow {
  readonly fields: readonly KindField[];
  /** Only operators may watch it. */
  readonly isOperators: boolean;
}

const TRAFFIC = ["windowMinutes", "requestsMin", "model", "upstream", "forMinutes"] as const;

export const KINDS: Readonly<Record<Kind, KindRow>> = {
  balance_low: { fields: ["amount"], isOperators: false },
  balance_days: { fields: ["days"], isOperators: false },
  budget_share: { fields: ["percent", "keyId"], isOperators: false },
  spend_rise: { fields: ["percent"], isOperators: false },
  error_share: { fields: ["percent", ...TRAFFIC], isOperators: false },
  first_token_slow: { fields: ["thresholdMs", ...TRAFFIC], isOperators: false },
  key_unused: { fields: ["days", "keyId"], isOperators: false },
  key_expiring: { fields: ["days", "keyId"], isOperators: false },
  model_retiring: { fields: ["days", "model"], isOperators: false },
  upstream_ejected: { fields: ["upstream", "forMinutes"], isOperators: true },
  credential_refused: { fields: ["upstream"], isOperators: true },
  reload_refused: { fields: [], isOperators: true },
  clock_skew: { fields: [], isOperators: true },
  overage: { fields: ["amount"], isOperators: true },
  proof_failed: { fields: [], isOperators: true },
};

/** The kinds that an account, or an operator, may watch. */
export function kindsFor(isOperator: boolean): readonly Kind[] {
  // The edge: the names of the table are its kinds.
  const kinds = Object.keys(KINDS) as Kind[];
  return kinds.filter((kind) => isOperator || !KINDS[kind].isOperators);
}

/** Such as "share of failed requests: 20%, gpt-*". */
export function conditionOf(settings: AlertSettings): string {
  const { kind, amountNanos, percent, days, thresholdMs, model, keyId, upstream } = settings;
  const said = [
    amountNanos === 0n ? "" : money(amountNanos),
    percent === 0 ? "" : `${count(percent)}%`,
    days === 0 ? "" : alertWords.days(days),
    thresholdMs === 0n ? "" : milliseconds(thresholdMs),
    model,
    keyId,
    upstream,
  ].filter((part) => part !== "");
  const name = alertWords.kinds[kind];
  return said.length === 0 ? name : `${name}: ${said.join(", ")}`;
}
