/** What a plan says of accounts, members and keys: the copies that are made of it, and what goes beyond it. Pure. */
import { isDeepStrictEqual } from "node:util";
import type {
  AccountQuotas,
  AccountSettings,
  ContentSettings,
  CreditLine,
  Demands,
  KeySettings,
  ModelLimits,
} from "../api/index.js";
import { invalid } from "../api/check.js";
import { snakeCase } from "../api/field-name.js";
import { BODY_BYTES_DEFAULT, REDACTIONS_MAX, TOTAL_BYTES_DEFAULT } from "../base/account-bounds.js";
import { DAY_MS } from "../base/day.js";
import type { GatewayError } from "../base/errors.js";
import type { KeyLimits, PlanSettings } from "../config/settings.js";

export type Plan = PlanSettings;

/** The plans in force on this node. */
export interface Plans {
  /** Undefined where there is none of this name: a plan may be deleted while accounts name it. */
  get(name: string): Plan | undefined;
  /** The same as it is in the database now, which another node may have changed. */
  find(name: string): Promise<Plan | undefined>;
}

/** The settings of an account, as it has them. */
export type OwnSettings = Pick<AccountSettings, (typeof AMOUNTS)[number] | (typeof COUNTS)[number] | "modelLimits"> & {
  readonly content?: ContentSettings | undefined;
  readonly demands?: Demands | undefined;
  readonly creditLine?: CreditLine | undefined;
  readonly quotas?: AccountQuotas | undefined;
};

const COUNTS = ["requestsPerMinute", "tokensPerMinute", "concurrency"] as const;
const AMOUNTS = [
  "budgetDayNanos",
  "budgetWeekNanos",
  "budgetMonthNanos",
  "budgetQuarterNanos",
  "budgetTotalNanos",
  "requestCostMaxNanos",
] as const;
const NUMBERS = [...AMOUNTS, ...COUNTS];
const TOTAL_BYTES = BigInt(TOTAL_BYTES_DEFAULT);

/**
 * What an account gets of a plan. Of `own`, the plan's bounds of content leave what they allow, and a plan without a
 * credit line leaves the account its own.
 */
export function copyOf(plan: Plan, own?: OwnSettings): AccountSettings {
  return {
    ...plan.budgets,
    ...plan.limits,
    modelLimits: plan.limits.modelLimits.map((one) => ({ ...one })),
    content: contentOf(plan, own?.content),
    creditLine: plan.limits.creditLine ?? own?.creditLine,
    // A plan makes no demands and has no quotas: those of the account stay.
    demands: own?.demands,
    quotas: own?.quotas,
  };
}

function contentOf({ content: most }: Plan, own: ContentSettings | undefined): ContentSettings | undefined {
  if (!most.isAllowed) return own?.kept === true ? { ...own, kept: false } : own;
  const { kept = false, redactions = [], bodyBytesMax, totalBytesMax } = own ?? {};
  const content = {
    kept,
    redactions: [...new Set([...most.redactions, ...redactions])].slice(0, REDACTIONS_MAX),
    bodyBytesMax: bodyBytesMax !== undefined && !isMoreBody(bodyBytesMax, most) ? bodyBytesMax : most.bodyBytesMax,
    totalBytesMax:
      totalBytesMax !== undefined && !isMoreTotal(totalBytesMax, most) ? totalBytesMax : most.totalBytesMax,
  };
  const isEmpty =
    !kept && content.redactions.length === 0 && content.bodyBytesMax === 0 && content.totalBytesMax === 0n;
  return isEmpty ? own : content;
}

function isMoreBody(bytes: number, most: Plan["content"]): boolean {
  return (bytes || BODY_BYTES_DEFAULT) > (most.bodyBytesMax || BODY_BYTES_DEFAULT);
}

function isMoreTotal(bytes: bigint, most: Plan["content"]): boolean {
  return (bytes || TOTAL_BYTES) > (most.totalBytesMax || TOTAL_BYTES);
}

/** The settings that a plan has a say in, as the protocol names and orders them. */
export const PLAN_SETTINGS: readonly string[] = [...NUMBERS.map(snakeCase), "model_limits", "content", "credit_line"];

/** The names of the settings in which two accounts differ, as the protocol has them. */
export function differingSettings(one: OwnSettings, other: OwnSettings): readonly string[] {
  const numbers = NUMBERS.filter((name) => one[name] !== other[name]).map(snakeCase);
  const models = spelledLimits(one.modelLimits) === spelledLimits(other.modelLimits) ? [] : ["model_limits"];
  const content = spelledContent(one.content) === spelledContent(other.content) ? [] : ["content"];
  const demands = spelledDemands(one.demands) === spelledDemands(other.demands) ? [] : ["demands"];
  const line = spelledLine(one.creditLine) === spelledLine(other.creditLine) ? [] : ["credit_line"];
  const quotas = isDeepStrictEqual(one.quotas, other.quotas) ? [] : ["quotas"];
  return [...numbers, ...models, ...content, ...demands, ...line, ...quotas];
}

/** The order of the limits says nothing. */
function spelledLimits(limits: readonly ModelLimits[]): string {
  const each = limits.map((one) => JSON.stringify([one.model, ...COUNTS.map((name) => String(one[name]))]));
  return each.toSorted().join(" ");
}

function spelledLine(line: CreditLine | undefined): string {
  return line === undefined ? "" : `${line.amountNanos} ${line.period}`;
}

function spelledContent(content: ContentSettings | undefined): string {
  const { kept = false, redactions = [], bodyBytesMax = 0, totalBytesMax = 0n } = content ?? {};
  return JSON.stringify([kept, redactions, bodyBytesMax, String(totalBytesMax)]);
}

function spelledDemands(demands: Demands | undefined): string {
  const { region = [], retention = "", trains = "" } = demands ?? {};
  return JSON.stringify([region, retention, trains]);
}

/**
 * Throws PARAMETER_INVALID where an owner or admin gives the account more than the plan does. What stays as it is may
 * be more: an operator gave it, or the plan had it once.
 */
export function requireWithin(plan: Plan, before: OwnSettings, changed: Partial<AccountSettings>): void {
  const most = { ...plan.budgets, ...plan.limits };
  for (const name of NUMBERS)
    requireNumber(plan, `settings.${snakeCase(name)}`, most[name], before[name], changed[name]);
  if (changed.modelLimits !== undefined) requireModels(plan, before.modelLimits, changed.modelLimits);
  if ("content" in changed) requireContent(plan, before.content, changed.content);
}

/** Throws PARAMETER_INVALID where an owner or admin gives a member more than the plan does. */
export function requireMemberWithin(plan: Plan, before: KeyLimits | undefined, changed: KeyLimits): void {
  for (const name of NUMBERS)
    requireNumber(plan, `settings.${snakeCase(name)}`, plan.members[name], before?.[name], changed[name]);
}

/** Zero is no limit, and so more than every limit. */
function requireNumber(
  plan: Plan,
  param: string,
  most: bigint,
  before: bigint | undefined,
  value: bigint | undefined,
): void {
  if (value === undefined || value === before || most === 0n || (value > 0n && value <= most)) return;
  throw beyond(plan, param, `must be from 1 to ${most}`);
}

/**
 * Each model or glob that the plan limits stays limited under the same name: another glob might match less. More
 * limits only narrow.
 */
function requireModels(plan: Plan, before: readonly ModelLimits[], changed: readonly ModelLimits[]): void {
  for (const most of plan.limits.modelLimits) {
    const index = changed.findIndex(({ model }) => model === most.model);
    const [own, was] = [changed[index], before.find(({ model }) => model === most.model)];
    const isLimit = COUNTS.some((name) => most[name] > 0n);
    if (own === undefined && was !== undefined && isLimit)
      throw beyond(plan, "settings.model_limits", `must limit ${most.model}`);
    for (const name of own === undefined ? [] : COUNTS)
      requireNumber(plan, `settings.model_limits[${index}].${snakeCase(name)}`, most[name], was?.[name], own?.[name]);
  }
}

/** Of content that is not stored anything may be said: what begins to be stored is judged whole. */
function requireContent(plan: Plan, before: ContentSettings | undefined, changed: ContentSettings | undefined): void {
  if (changed?.kept !== true) return;
  const was = before?.kept === true ? before : undefined;
  const { redactions, bodyBytesMax, totalBytesMax } = changed;
  const most = plan.content;
  // What an operator turned on beyond the plan, an owner may turn off, and not change.
  if (!most.isAllowed && spelledContent(was) !== spelledContent(changed))
    throw beyond(plan, "settings.content.kept", "must be false");
  if (bodyBytesMax !== was?.bodyBytesMax && isMoreBody(bodyBytesMax, most))
    throw beyond(plan, "settings.content.body_bytes_max", `must be at most ${most.bodyBytesMax || BODY_BYTES_DEFAULT}`);
  if (totalBytesMax !== was?.totalBytesMax && isMoreTotal(totalBytesMax, most))
    throw beyond(plan, "settings.content.total_bytes_max", `must be at most ${most.totalBytesMax || TOTAL_BYTES}`);
  const lost = most.redactions.find((rule) => !redactions.includes(rule) && was?.redactions.includes(rule) !== false);
  if (lost !== undefined) throw beyond(plan, "settings.content.redactions", `must have ${JSON.stringify(lost)}`);
}

function beyond({ id }: Plan, param: string, rule: string): GatewayError {
  return invalid(param, `${rule}: the plan ${id} allows no more. Ask an operator`);
}

/** A new key's settings with the plan's where they say nothing. */
export function withKeyDefaults(plan: Plan, settings: KeySettings, nowMs: number): KeySettings {
  const { expiresAfterDays, ...limits } = plan.keys;
  const given = { ...settings };
  for (const name of NUMBERS) if (given[name] === 0n) given[name] = limits[name];
  if (given.expireTime === undefined && expiresAfterDays > 0)
    given.expireTime = new Date(Math.floor(nowMs) + expiresAfterDays * DAY_MS);
  return given;
}
