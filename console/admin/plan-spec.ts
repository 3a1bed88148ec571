/** What an operator types into the form of a plan, and the spec that it stands for. */
import type { PlanMemberSpec, PlanSpec } from "../../gen/console/settings_object.js";
import type { RequestFields } from "../api/client.ts";
import {
  areRight,
  COUNTS,
  limitsOf,
  type Limits,
  NO_LIMITS,
  type TypedLimits,
  typedLimits,
} from "../parts/limit-form.ts";
import {
  areRightModels,
  modelLimitsOf,
  type TypedModelLimits,
  typedModelLimits,
} from "../parts/model-limit-fields.tsx";
import { parseWhole, wrongWhole } from "../typed.ts";
import { contentOf, type TypedContent, typedContent, wrongSize } from "./content-form.ts";

const NANOS_PER_USD = 1_000_000_000n;
const NANO_DIGITS = 9;
const EXPIRES_DAYS_MAX = 3_650n;

export interface TypedPlan {
  readonly account: TypedLimits;
  readonly models: readonly TypedModelLimits[];
  /** `kept`: whether owners may store content. */
  readonly content: TypedContent;
  readonly members: TypedLimits;
  readonly keys: TypedLimits;
  readonly expiresAfterDays: string;
  /** The form shows none: it stays as it is. */
  readonly creditLine: PlanSpec["creditLine"];
}

type LimitSpec = Omit<PlanMemberSpec, never>;

export function typedPlan(spec: PlanSpec | undefined): TypedPlan {
  const { content, models = {}, keys } = spec ?? {};
  const days = keys?.expiresAfterDays ?? 0;
  return {
    account: typedSpec(spec),
    models: typedModelLimits(Object.entries(models).map(([model, limits]) => Object.assign({ model }, limits))),
    content: typedContent(content === undefined ? undefined : { ...content, kept: content.allowed }),
    members: typedSpec(spec?.members),
    keys: typedSpec(keys),
    expiresAfterDays: days === 0 ? "" : String(days),
    creditLine: spec?.creditLine,
  };
}

export function isRightPlan({ account, models, content, members, keys, expiresAfterDays }: TypedPlan): boolean {
  const areLimits = [account, members, keys].every(areRight) && areRightModels(models);
  const isContent = wrongSize(content.eachKib) === undefined && wrongSize(content.allMib) === undefined;
  return areLimits && isContent && areRightDays(expiresAfterDays);
}

export function areRightDays(text: string): boolean {
  return wrongWhole(text) === undefined && (parseWhole(text) ?? 0n) <= EXPIRES_DAYS_MAX;
}

/** Of what is right. */
export function specOf(typed: TypedPlan): RequestFields<PlanSpec> {
  const { kept: allowed, ...content } = contentOf(typed.content);
  const models = modelLimitsOf(typed.models).map(({ model, ...limits }) => [model, limits] as const);
  return {
    ...limitSpec(typed.account),
    ...(typed.creditLine === undefined ? {} : { creditLine: typed.creditLine }),
    models: Object.fromEntries(models),
    content: { allowed, ...content },
    members: limitSpec(typed.members),
    keys: { ...limitSpec(typed.keys), expiresAfterDays: Number(parseWhole(typed.expiresAfterDays) ?? 0n) },
  };
}

/** The limits that a spec says. */
export function limitsIn(spec: LimitSpec): Limits {
  const { requestsPerMinute, tokensPerMinute, concurrency } = spec;
  return {
    requestsPerMinute,
    tokensPerMinute,
    concurrency,
    budgetDayNanos: nanosOf(spec.budgetDay),
    budgetWeekNanos: nanosOf(spec.budgetWeek),
    budgetMonthNanos: nanosOf(spec.budgetMonth),
    budgetQuarterNanos: nanosOf(spec.budgetQuarter),
    budgetTotalNanos: nanosOf(spec.budgetTotal),
    requestCostMaxNanos: nanosOf(spec.requestCostMax),
  };
}

function typedSpec(spec: LimitSpec | undefined): TypedLimits {
  return spec === undefined ? NO_LIMITS : typedLimits(limitsIn(spec));
}

function limitSpec(typed: TypedLimits): LimitSpec {
  const limits = limitsOf(typed);
  const amounts = {
    budgetDay: usdOf(limits.budgetDayNanos),
    budgetWeek: usdOf(limits.budgetWeekNanos),
    budgetMonth: usdOf(limits.budgetMonthNanos),
    budgetQuarter: usdOf(limits.budgetQuarterNanos),
    budgetTotal: usdOf(limits.budgetTotalNanos),
    requestCostMax: usdOf(limits.requestCostMaxNanos),
  };
  const [requestsPerMinute = 0n, tokensPerMinute = 0n, concurrency = 0n] = COUNTS.map((name) => limits[name]);
  return { ...amounts, requestsPerMinute, tokensPerMinute, concurrency };
}

/** A decimal of a spec always has a point, whatever the locale of the browser. */
function nanosOf(usd: string): bigint {
  const [whole = "", part = ""] = usd.split(".");
  return BigInt(whole || 0) * NANOS_PER_USD + BigInt(part.padEnd(NANO_DIGITS, "0"));
}

function usdOf(nanos: bigint): string {
  if (nanos === 0n) return "";
  return `${nanos / NANOS_PER_USD}.${String(nanos % NANOS_PER_USD).padStart(NANO_DIGITS, "0")}`.replace(/\.?0+$/, "");
}
