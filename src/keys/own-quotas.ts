/** The quotas of accounts and keys, with their globs compiled. */
import type { AccountQuotas, Quota, QuotaPeriod } from "../api/index.js";
import { GlobSet } from "./glob.js";

/** A quota of an account or a key. */
export class OwnQuota implements Quota {
  readonly period: QuotaPeriod;
  readonly model: string;
  readonly requests: bigint;
  readonly tokens: bigint;
  readonly amountNanos: bigint;
  readonly warnPercent: number;
  readonly #globs: GlobSet | undefined;

  constructor({ period, model, requests, tokens, amountNanos, warnPercent }: Quota) {
    this.period = period;
    this.model = model;
    this.requests = requests;
    this.tokens = tokens;
    this.amountNanos = amountNanos;
    this.warnPercent = warnPercent;
    this.#globs = model === "" ? undefined : new GlobSet([model], true);
  }

  matches(model: string): boolean {
    return this.#globs === undefined || this.#globs.matches(model);
  }
}

/** The quotas of an account, and when the days of all quotas under it start. */
export interface OwnAccountQuotas {
  readonly limits: readonly OwnQuota[];
  readonly dayStart: { readonly timeZone: string; readonly hour: number };
}

/** Undefined where the settings have none. */
export function ownQuotas(
  settings: { readonly limits: readonly Quota[] } | undefined,
): readonly OwnQuota[] | undefined {
  if (settings === undefined || settings.limits.length === 0) return undefined;
  return settings.limits.map((quota) => new OwnQuota(quota));
}

/** Undefined where the account says nothing of quotas. */
export function accountQuotasOf(settings: AccountQuotas | undefined): OwnAccountQuotas | undefined {
  if (settings === undefined) return undefined;
  const { timeZone, dayStartHour: hour } = settings;
  return { limits: ownQuotas(settings) ?? [], dayStart: { timeZone, hour } };
}
