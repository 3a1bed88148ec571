/** What a person types into the fields of a key, and the settings that it stands for. */
import type { KeySettings } from "../../gen/console/key_service.js";
import type { TypedAmount } from "../parts/large-amounts.tsx";
import { parseMoney, parseWhole, typedMoney, wrongMoney, wrongWhole } from "../typed.ts";

export const COUNTS = ["requestsPerMinute", "tokensPerMinute", "concurrency"] as const;
export const AMOUNTS = ["budgetDayNanos", "budgetMonthNanos", "budgetTotalNanos", "requestCostMaxNanos"] as const;
export const SCOPES = [
  "chat",
  "embeddings",
  "rerank",
  "moderations",
  "models",
  "usage",
  "keys",
  "audit",
  "alerts",
] as const;

type CountName = (typeof COUNTS)[number];
type AmountName = (typeof AMOUNTS)[number];

/** Everything as it was typed. */
export interface Typed extends Readonly<Record<CountName | AmountName, string>> {
  readonly name: string;
  readonly scopes: readonly string[];
  readonly models: string;
  readonly addresses: string;
  /** A day such as 2026-12-31, at whose start in UTC the key ends; empty for never. */
  readonly expires: string;
}

/** The settings that the form changes. */
export type FormSettings = Pick<
  KeySettings,
  "name" | "scopes" | "models" | "addresses" | "expireTime" | CountName | AmountName
>;

export const FRESH: Typed = {
  name: "",
  scopes: ["chat", "embeddings", "rerank", "moderations", "models", "usage"],
  models: "",
  addresses: "",
  expires: "",
  requestsPerMinute: "",
  tokensPerMinute: "",
  concurrency: "",
  budgetDayNanos: "",
  budgetMonthNanos: "",
  budgetTotalNanos: "",
  requestCostMaxNanos: "",
};

export function typedOf(settings: KeySettings): Typed {
  const number = (value: bigint): string => (value === 0n ? "" : value.toString());
  return {
    name: settings.name,
    scopes: settings.scopes,
    models: settings.models.join(", "),
    addresses: settings.addresses.join(", "),
    expires: settings.expireTime?.toISOString().slice(0, 10) ?? "",
    requestsPerMinute: number(settings.requestsPerMinute),
    tokensPerMinute: number(settings.tokensPerMinute),
    concurrency: number(settings.concurrency),
    budgetDayNanos: typedMoney(settings.budgetDayNanos),
    budgetMonthNanos: typedMoney(settings.budgetMonthNanos),
    budgetTotalNanos: typedMoney(settings.budgetTotalNanos),
    requestCostMaxNanos: typedMoney(settings.requestCostMaxNanos),
  };
}

export function isRight(typed: Typed): boolean {
  return (
    COUNTS.every((name) => wrongWhole(typed[name]) === undefined) &&
    AMOUNTS.every((name) => wrongMoney(typed[name]) === undefined)
  );
}

/** The amounts, each beside what it was. */
export function amountsOf(typed: Typed, before: Typed): readonly TypedAmount[] {
  return AMOUNTS.map((name) => ({
    kind: name,
    nanos: parseMoney(typed[name]),
    before: parseMoney(before[name]) ?? 0n,
  }));
}

/** Of what is right. */
export function settingsOf(typed: Typed): FormSettings {
  const number = (text: string): bigint => parseWhole(text) ?? 0n;
  const amount = (text: string): bigint => parseMoney(text) ?? 0n;
  return {
    name: typed.name.trim(),
    scopes: typed.scopes,
    models: listOf(typed.models),
    addresses: listOf(typed.addresses),
    ...(typed.expires === "" ? {} : { expireTime: new Date(`${typed.expires}T00:00:00Z`) }),
    requestsPerMinute: number(typed.requestsPerMinute),
    tokensPerMinute: number(typed.tokensPerMinute),
    concurrency: number(typed.concurrency),
    budgetDayNanos: amount(typed.budgetDayNanos),
    budgetMonthNanos: amount(typed.budgetMonthNanos),
    budgetTotalNanos: amount(typed.budgetTotalNanos),
    requestCostMaxNanos: amount(typed.requestCostMaxNanos),
  };
}

/** The settings that a person changed, and their names as the mask of an update says them. */
export function changesOf(
  before: Typed,
  after: Typed,
): { readonly settings: Partial<FormSettings>; readonly mask: string } {
  const all = settingsOf(after);
  const names = Object.keys(FRESH).filter(
    (name): name is keyof Typed => isNameOf(name) && differs(before[name], after[name]),
  );
  const changed = names.map((name) => (name === "expires" ? "expireTime" : name));
  const settings = Object.fromEntries(Object.entries(all).filter(([name]) => changed.some((one) => one === name)));
  const mask = changed.map((name) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)).join(",");
  return { settings, mask };
}

function isNameOf(name: string): name is keyof Typed {
  return name in FRESH;
}

function differs(before: string | readonly string[], after: string | readonly string[]): boolean {
  return String(before) !== String(after);
}

function listOf(text: string): readonly string[] {
  return text
    .split(/[\s,]+/)
    .map((part) => part.trim())
    .filter((part) => part !== "");
}
