/** What a key's settings may be, and how a mask changes them. */
import { snakeCase } from "../api/field-name.js";
import { invalid } from "../api/check.js";
import type { Key, KeySettings } from "../api/index.js";
import type { FieldName } from "../api/money-fields.js";
import type { Act } from "../audit/act.js";
import { quotasProblem } from "../api/quotas.js";
import { demandsProblem } from "../base/demands.js";
import { GatewayError } from "../base/errors.js";
import { AMOUNT_NANOS_MAX } from "../base/money.js";
import { isAddressBlock } from "./address-range.js";
import { SCOPES } from "./caller.js";

/** What a key gets that names no scopes: the use of models, and no management. */
export const DEFAULT_SCOPES = ["chat", "embeddings", "rerank", "moderations", "audio", "models", "usage"] as const;
const NAME_LENGTH_MAX = 128;
const LIST_LENGTH_MAX = 100;
const GLOB_LENGTH_MAX = 256;
const LIMIT_MAX = 1_000_000_000n;
const METADATA_ENTRIES_MAX = 16;
const METADATA_NAME_LENGTH_MAX = 64;
const METADATA_VALUE_LENGTH_MAX = 512;
/** The last moment that a protobuf Timestamp can say: the end of the year 9999. */
const TIME_MAX_MS = 253_402_300_799_999;

type Check<Value> = (value: Value, param: string) => void;

/** A setting by its name here. */
export type SettingField = FieldName<KeySettings>;

/** One rule for each setting, in the protocol's order: a new setting does not compile without one. */
const CHECKS: { readonly [Field in SettingField]: Check<KeySettings[Field]> } = {
  name: checkName,
  scopes: checkScopes,
  models: checkGlobs,
  modelsDenied: checkGlobs,
  addresses: checkAddresses,
  expireTime: checkTime,
  requestsPerMinute: checkLimit,
  tokensPerMinute: checkLimit,
  concurrency: checkLimit,
  budgetDayNanos: checkAmount,
  budgetWeekNanos: checkAmount,
  budgetMonthNanos: checkAmount,
  budgetQuarterNanos: checkAmount,
  budgetTotalNanos: checkAmount,
  requestCostMaxNanos: checkAmount,
  refuseUnaffordable: () => undefined,
  metadata: checkMetadata,
  retriesRunAnew: () => undefined,
  strict: () => undefined,
  childrenEndWithIt: () => undefined,
  endStreamsOnRevoke: () => undefined,
  endStreamsOnExpiry: () => undefined,
  cacheMarksOff: () => undefined,
  demands: checkDemands,
  quotas: checkQuotas,
};

/** A setting's name in the protocol, such as `requests_per_minute`. */
export function settingName(field: SettingField): string {
  return snakeCase(field);
}

const FIELDS_BY_NAME: ReadonlyMap<string, SettingField> = new Map(
  fieldsOf(CHECKS).map((field) => [snakeCase(field), field]),
);

/** The names of all settings in the protocol. */
export const SETTING_NAMES: readonly string[] = [...FIELDS_BY_NAME.keys()];

/**
 * A new key's settings, checked; without scopes it gets the default ones. Throws PARAMETER_INVALID that names the
 * setting.
 */
export function newSettings(given: KeySettings | undefined): KeySettings {
  const settings = given ?? emptySettings();
  return checked(settings.scopes.length === 0 ? { ...settings, scopes: [...DEFAULT_SCOPES] } : settings);
}

/**
 * The settings with those that the mask names taken from `given`. An empty list of scopes then means none. Throws
 * PARAMETER_MISSING without a mask, because to guess it from what is not zero could never turn a setting off, and
 * PARAMETER_INVALID for an unknown name.
 */
export function maskedSettings(
  settings: KeySettings,
  given: KeySettings | undefined,
  mask: readonly string[],
): KeySettings {
  if (mask.length === 0) throw new GatewayError("ERROR_REASON_PARAMETER_MISSING", { param: "update_mask" });
  const changed = { ...settings };
  const source = given ?? emptySettings();
  for (const name of mask) {
    const field = FIELDS_BY_NAME.get(name);
    if (field === undefined) throw invalid("update_mask", `${quoted(name)} is not a setting of a key`);
    take(field, source, changed);
  }
  return checked(changed);
}

function take<Field extends SettingField>(field: Field, from: KeySettings, to: KeySettings): void {
  to[field] = from[field];
}

function checked(settings: KeySettings): KeySettings {
  for (const [name, field] of FIELDS_BY_NAME) checkField(field, settings, `settings.${name}`);
  return { ...settings, scopes: [...new Set(settings.scopes)] };
}

function checkField<Field extends SettingField>(field: Field, settings: KeySettings, param: string): void {
  const check: Check<KeySettings[Field]> = CHECKS[field];
  check(settings[field], param);
}

function checkName(name: string, param: string): void {
  if (name.length > NAME_LENGTH_MAX || hasControl(name))
    throw invalid(param, `must be at most ${NAME_LENGTH_MAX} characters, without control characters`);
}

function checkScopes(scopes: readonly string[], param: string): void {
  for (const scope of scopes) {
    if (!SCOPES.some((known) => known === scope))
      throw invalid(param, `${quoted(scope)} is not one of ${SCOPES.join(", ")}`);
  }
}

function checkGlobs(globs: readonly string[], param: string): void {
  checkLength(globs, param);
  for (const glob of globs) {
    if (glob === "" || glob.length > GLOB_LENGTH_MAX || hasControl(glob))
      throw invalid(param, `each glob must have 1 to ${GLOB_LENGTH_MAX} characters, without control characters`);
  }
}

function checkAddresses(blocks: readonly string[], param: string): void {
  checkLength(blocks, param);
  for (const block of blocks) {
    if (!isAddressBlock(block)) throw invalid(param, `${quoted(block)} is no address or CIDR block such as 10.0.0.0/8`);
  }
}

function checkLength(list: readonly string[], param: string): void {
  if (list.length > LIST_LENGTH_MAX) throw invalid(param, `must have at most ${LIST_LENGTH_MAX} entries`);
}

function checkTime(time: Date | undefined, param: string): void {
  if (time === undefined) return;
  const ms = time.getTime();
  if (!(ms >= 0 && ms <= TIME_MAX_MS)) throw invalid(param, "must be a time from 1970 to 9999");
}

function checkLimit(limit: bigint, param: string): void {
  if (limit < 0n || limit > LIMIT_MAX) throw invalid(param, `must be a whole number from 0 to ${LIMIT_MAX}`);
}

function checkAmount(nanos: bigint, param: string): void {
  if (nanos < 0n || nanos > AMOUNT_NANOS_MAX)
    throw invalid(param, `must be an amount from 0 to ${AMOUNT_NANOS_MAX} nano-USD`);
}

function checkDemands(demands: KeySettings["demands"], param: string): void {
  const problem = demands && demandsProblem(demands);
  if (problem !== undefined) throw invalid(`${param}.${problem[0]}`, problem[1]);
}

function checkQuotas(quotas: KeySettings["quotas"], param: string): void {
  const problem = quotas && quotasProblem(quotas);
  if (problem !== undefined) throw invalid(`${param}.${problem[0]}`, problem[1]);
}

function checkMetadata(metadata: Readonly<Record<string, string>>, param: string): void {
  const entries = Object.entries(metadata);
  if (entries.length > METADATA_ENTRIES_MAX) throw invalid(param, `must have at most ${METADATA_ENTRIES_MAX} entries`);
  for (const [name, value] of entries) {
    if (name === "" || name.length > METADATA_NAME_LENGTH_MAX || hasControl(name))
      throw invalid(param, `each name must have 1 to ${METADATA_NAME_LENGTH_MAX} characters`);
    if (value.length > METADATA_VALUE_LENGTH_MAX)
      throw invalid(param, `each value must have at most ${METADATA_VALUE_LENGTH_MAX} characters`);
  }
}

/** Settings that limit nothing and name no scope. */
export function emptySettings(): KeySettings {
  return {
    name: "",
    scopes: [],
    models: [],
    modelsDenied: [],
    addresses: [],
    expireTime: undefined,
    requestsPerMinute: 0n,
    tokensPerMinute: 0n,
    concurrency: 0n,
    budgetDayNanos: 0n,
    budgetWeekNanos: 0n,
    budgetMonthNanos: 0n,
    budgetQuarterNanos: 0n,
    budgetTotalNanos: 0n,
    requestCostMaxNanos: 0n,
    refuseUnaffordable: false,
    metadata: {},
    retriesRunAnew: false,
    strict: false,
    childrenEndWithIt: false,
    endStreamsOnRevoke: undefined,
    endStreamsOnExpiry: false,
    cacheMarksOff: false,
    demands: undefined,
    quotas: undefined,
  };
}

function fieldsOf(checks: typeof CHECKS): SettingField[] {
  // Object.keys forgets the names' type; CHECKS has these and no others.
  return Object.keys(checks) as SettingField[];
}

function hasControl(text: string): boolean {
  return /\p{Cc}/u.test(text);
}

/** Input as a message may repeat it: short, and with its control characters escaped. */
function quoted(text: string): string {
  return JSON.stringify(text.slice(0, 64));
}

/** What an update asks of the key that it finds. */
export interface UpdateTerms {
  readonly act: Act;
  /** Throws where the caller may not change such a key to such settings: it sees what is about to be written. */
  readonly permit?: (key: Key, changed: KeySettings) => void;
  /** The etag that the caller read; empty where it takes whatever is there. */
  readonly etag?: string;
}
