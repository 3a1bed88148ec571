/** Whether one key's settings stay within another's: a rule for each setting, so that a new one must have one. */
import type { KeySettings } from "../api/index.js";
import type { SettingField } from "./key-settings.js";
import { AddressSet } from "./address-range.js";
import { GlobSet } from "./glob.js";

interface Rule<Value> {
  /** What is wrong with the child's value beside the maker's; empty where it is within. */
  readonly excess: (child: Value, maker: Value, settings: KeySettings) => string;
  /** What a new key gets that leaves the setting out. */
  readonly inherited: (child: Value, maker: Value) => Value;
}

/** A setting that grants nothing and limits nothing. */
function free<Value>(): Rule<Value> {
  return { excess: () => "", inherited: (child) => child };
}

/** Zero is no limit. */
function isCountWithin(child: bigint, maker: bigint): boolean {
  return maker === 0n || (child > 0n && child <= maker);
}

const COUNT: Rule<bigint> = {
  excess: (child, maker) => (isCountWithin(child, maker) ? "" : `at most ${maker}`),
  inherited: (child, maker) => (child === 0n ? maker : child),
};
/** A duty, or the end of a right, that the maker has and its keys must have too. */
const DUTY: Rule<boolean> = {
  excess: (child, maker) => (maker && !child ? "must be true" : ""),
  inherited: (child, maker) => child || maker,
};

const RULES: { readonly [Field in SettingField]: Rule<KeySettings[Field]> } = {
  name: free(),
  scopes: { excess: scopesExcess, inherited: (child) => child },
  models: {
    excess: (child, maker) => (areGlobsWithin(child, maker) ? "" : `must be among ${listed(maker)}`),
    inherited: listOr,
  },
  modelsDenied: { excess: deniedExcess, inherited: (child, maker) => [...new Set([...child, ...maker])] },
  addresses: {
    excess: (child, maker) => (areAddressesWithin(child, maker) ? "" : `must be within ${listed(maker)}`),
    inherited: listOr,
  },
  expireTime: {
    excess: (child, maker) =>
      maker === undefined || (child !== undefined && child <= maker) ? "" : `at the latest ${maker.toISOString()}`,
    inherited: (child, maker) => child ?? maker,
  },
  requestsPerMinute: COUNT,
  tokensPerMinute: COUNT,
  concurrency: COUNT,
  budgetDayNanos: COUNT,
  budgetWeekNanos: COUNT,
  budgetMonthNanos: COUNT,
  budgetQuarterNanos: COUNT,
  budgetTotalNanos: COUNT,
  requestCostMaxNanos: COUNT,
  refuseUnaffordable: free(),
  metadata: free(),
  retriesRunAnew: free(),
  strict: free(),
  childrenEndWithIt: DUTY,
  endStreamsOnRevoke: {
    excess: (child, maker) => (maker !== false && child === false ? "must be true" : ""),
    inherited: (child, maker) => child ?? maker,
  },
  endStreamsOnExpiry: DUTY,
  cacheMarksOff: free(),
  // A key is bound to the demands of its makers whatever its own are: see `KeyCaller`.
  demands: { excess: () => "", inherited: (child, maker) => child ?? maker },
  // The quotas of a key count the requests of all keys that it made: no key can pass those of its makers.
  quotas: free(),
};

/** A setting of a key that goes beyond its maker's. */
export interface Excess {
  readonly field: SettingField;
  readonly problem: string;
}

/** The first setting of the child that goes beyond the maker's; undefined where all are within. */
export function excessOf(child: KeySettings, maker: KeySettings): Excess | undefined {
  for (const field of FIELDS) {
    const problem = excessIn(field, child, maker);
    if (problem !== "") return { field, problem };
  }
  return undefined;
}

/** True where a key with these settings may do nothing that one with the maker's may not. */
export function isWithin(child: KeySettings, maker: KeySettings): boolean {
  return excessOf(child, maker) === undefined;
}

/** A new key's settings, with the maker's own wherever they say nothing. */
export function inherited(child: KeySettings, maker: KeySettings): KeySettings {
  const settings = { ...child };
  for (const field of FIELDS) inherit(field, settings, maker);
  return settings;
}

/**
 * What is wrong with a key's new quotas beside its own; empty where each of its own stays, and is no larger. The quotas
 * of its makers do not stand in for them.
 */
export function quotasExcess(changed: KeySettings["quotas"], own: KeySettings["quotas"]): string {
  const missing = (own?.limits ?? []).find((quota) => {
    const same = changed?.limits.find(({ period, model }) => period === quota.period && model === quota.model);
    const measures = ["requests", "tokens", "amountNanos"] as const;
    return same === undefined || measures.some((one) => !isCountWithin(same[one], quota[one]));
  });
  return missing === undefined ? "" : "must keep each quota of the key, with limits that are no larger";
}

/** The settings with each number that limits lowered to the maker's, which may have been lowered since. */
export function lowered(child: KeySettings, maker: KeySettings): KeySettings {
  const settings = { ...child };
  for (const field of COUNTS) {
    const [own, most] = [child[field], maker[field]];
    if (most > 0n && (own === 0n || own > most)) settings[field] = most;
  }
  return settings;
}

const COUNTS = [
  "requestsPerMinute",
  "tokensPerMinute",
  "concurrency",
  "budgetDayNanos",
  "budgetWeekNanos",
  "budgetMonthNanos",
  "budgetQuarterNanos",
  "budgetTotalNanos",
  "requestCostMaxNanos",
] as const satisfies readonly SettingField[];

function excessIn<Field extends SettingField>(field: Field, child: KeySettings, maker: KeySettings): string {
  const rule: Rule<KeySettings[Field]> = RULES[field];
  return rule.excess(child[field], maker[field], child);
}

function inherit<Field extends SettingField>(field: Field, child: KeySettings, maker: KeySettings): void {
  const rule: Rule<KeySettings[Field]> = RULES[field];
  child[field] = rule.inherited(child[field], maker[field]);
}

// Object.keys forgets the names' type; RULES has these and no others.
const FIELDS = Object.keys(RULES) as SettingField[];

function scopesExcess(child: readonly string[], maker: readonly string[]): string {
  if (maker.includes("operator")) return "";
  const missing = child.find((scope) => !maker.includes(scope));
  return missing === undefined ? "" : `your key lacks '${missing}'`;
}

/**
 * A star of the child's is a sign like any other here, which only a star of the maker's matches: exactly then whatever
 * it stands for is matched too.
 */
function areGlobsWithin(child: readonly string[], maker: readonly string[]): boolean {
  if (maker.length === 0) return true;
  const allowed = new GlobSet(maker);
  return child.length > 0 && child.every((glob) => allowed.matches(glob));
}

/** What the maker may not use, its keys deny too, or name no model that it could be. */
function deniedExcess(child: readonly string[], maker: readonly string[], { models }: KeySettings): string {
  const denied = new GlobSet(child);
  const names = models.length > 0 && models.every((model) => !model.includes("*")) ? models : undefined;
  const missing = maker.find((glob) => {
    if (denied.matches(glob)) return false;
    const refused = new GlobSet([glob]);
    return names === undefined || names.some((name) => refused.matches(name) && !denied.matches(name));
  });
  return missing === undefined ? "" : `must hold ${JSON.stringify(missing)}`;
}

function areAddressesWithin(child: readonly string[], maker: readonly string[]): boolean {
  if (maker.length === 0) return true;
  const blocks = maker.map((block) => new AddressSet([block]));
  return child.length > 0 && child.every((one) => blocks.some((block) => block.covers(one)));
}

function listOr(child: string[], maker: string[]): string[] {
  return child.length === 0 ? [...maker] : child;
}

function listed(texts: readonly string[]): string {
  return texts.length === 0 ? "nothing" : texts.slice(0, 8).join(", ") + (texts.length > 8 ? ", ..." : "");
}
