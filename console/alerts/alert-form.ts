/** What a person types into the form of an alert, and the settings that it stands for. */
import type { AlertKind, AlertSettings } from "../../gen/console/alert_service.js";
import { parseMoney, parseWhole, typedMoney, wrongMoney, wrongWhole } from "../typed.ts";
import { KIND_FIELDS, type KindField, KINDS } from "./condition.ts";

export interface Typed extends Readonly<Record<KindField, string>> {
  readonly name: string;
  readonly kind: Exclude<AlertKind, "unspecified">;
  readonly webhookIds: readonly string[];
  readonly emails: string;
  readonly paused: boolean;
}

export const FRESH: Typed = {
  name: "",
  kind: "balance_low",
  amount: "",
  percent: "",
  days: "",
  thresholdMs: "",
  windowMinutes: "",
  requestsMin: "",
  model: "",
  keyId: "",
  upstream: "",
  forMinutes: "",
  webhookIds: [],
  emails: "",
  paused: false,
};

/** Fields without which their kinds watch nothing. */
const NEEDED: ReadonlySet<KindField> = new Set(["amount", "percent", "days", "thresholdMs"]);
const TEXTS: ReadonlySet<KindField> = new Set(["model", "keyId", "upstream"]);

export function typedOf(settings: AlertSettings): Typed {
  const number = (value: number | bigint): string => (BigInt(value) === 0n ? "" : value.toString());
  return {
    name: settings.name,
    kind: settings.kind === "unspecified" ? FRESH.kind : settings.kind,
    amount: typedMoney(settings.amountNanos),
    percent: number(settings.percent),
    days: number(settings.days),
    thresholdMs: number(settings.thresholdMs),
    windowMinutes: number(settings.windowMinutes),
    requestsMin: number(settings.requestsMin),
    model: settings.model,
    keyId: settings.keyId,
    upstream: settings.upstream,
    forMinutes: number(settings.forMinutes),
    webhookIds: settings.webhookIds,
    emails: settings.emails.join(", "),
    paused: settings.paused,
  };
}

/** What is wrong with what stands in a field; undefined where it is right, or empty. */
export function wrongIn(typed: Typed, field: KindField): string | undefined {
  if (TEXTS.has(field)) return undefined;
  return field === "amount" ? wrongMoney(typed.amount) : wrongWhole(typed[field]);
}

export function isWhole(typed: Typed): boolean {
  return KINDS[typed.kind].fields.every(
    (field) => wrongIn(typed, field) === undefined && (typed[field].trim() !== "" || !NEEDED.has(field)),
  );
}

/** Of what is whole. What the kind does not have is left empty. */
export function settingsOf(typed: Typed): AlertSettings {
  const { fields } = KINDS[typed.kind];
  const text = (field: KindField): string => (fields.includes(field) ? typed[field].trim() : "");
  const number = (field: KindField): number => Number(parseWhole(text(field)) ?? 0n);
  return {
    name: typed.name.trim(),
    kind: typed.kind,
    amountNanos: parseMoney(text("amount")) ?? 0n,
    percent: number("percent"),
    days: number("days"),
    thresholdMs: BigInt(number("thresholdMs")),
    windowMinutes: number("windowMinutes"),
    requestsMin: BigInt(number("requestsMin")),
    watchedAccountId: "",
    keyId: text("keyId"),
    model: text("model"),
    upstream: text("upstream"),
    forMinutes: number("forMinutes"),
    webhookIds: typed.webhookIds,
    emails: typed.emails.split(/[\s,]+/).filter((one) => one !== ""),
    paused: typed.paused,
  };
}

/** Every setting that the form changes, as the mask of an update names it. */
export const MASK = [
  "name",
  "kind",
  ...KIND_FIELDS.map((field) => (field === "amount" ? "amountNanos" : field)),
  "webhookIds",
  "emails",
  "paused",
]
  .map((name) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))
  .join(",");
