/** Quotas as options of commands, and how full they are. */
import { InvalidArgumentError } from "commander";
import { type Quota, QuotaPeriod, type QuotaUse } from "../api/index.js";
import { formatUsd, parseUsd } from "../base/money.js";
import { EnumWords } from "./enum-words.js";
import { formatTable, formatTime, numeric, printable } from "./print.js";

const PERIODS = new EnumWords(QuotaPeriod, "QUOTA_PERIOD_");

/** `five_hours=tokens:1000` or `month/gpt-*=amount:5.00`, added to those before it; `none` for none at all. */
export function readQuota(text: string, earlier: readonly Quota[] = []): Quota[] {
  if (text === "none") return [];
  const [, word = "", model = "", parts = ""] = /^([a-z_]+)(?:\/([^=]{1,256}))?=(.+)$/.exec(text) ?? [];
  const period = PERIODS.find(word);
  const rule = `Write ${PERIODS.words.join("|")}=requests:N,tokens:N,amount:USD,warn_percent:N, or some of them.`;
  if (period === undefined) throw new InvalidArgumentError(rule);
  const quota: Quota = { period, model, requests: 0n, tokens: 0n, amountNanos: 0n, warnPercent: 0 };
  for (const part of parts.split(",")) {
    const [name = "", value = ""] = part.split(":");
    if (!set(quota, name, value)) throw new InvalidArgumentError(rule);
  }
  return [...earlier, quota];
}

function set(quota: Quota, name: string, value: string): boolean {
  const count = /^\d{1,15}$/.test(value) ? BigInt(value) : undefined;
  const amountNanos = parseUsd(value);
  if (name === "amount" && amountNanos !== undefined) quota.amountNanos = amountNanos;
  else if (name === "requests" && count !== undefined) quota.requests = count;
  else if (name === "tokens" && count !== undefined) quota.tokens = count;
  else if (name === "warn_percent" && count !== undefined) quota.warnPercent = Number(count);
  else return false;
  return true;
}

/** A table of quotas and of what is used of them; empty without quotas. */
export function formatQuotas(limits: readonly Quota[], uses: readonly QuotaUse[]): string {
  if (limits.length === 0) return "";
  const columns = ["QUOTA", "MODELS", ...["REQUESTS", "TOKENS", "USD"].map(numeric), "STARTS AGAIN"];
  const rows = limits.map((quota, place) => {
    const use = uses[place];
    const count = (used: bigint | undefined, limit: bigint): string => (limit === 0n ? "-" : `${used ?? 0n}/${limit}`);
    const amount = `${formatUsd(use?.amountNanos ?? 0n)}/${formatUsd(quota.amountNanos)}`;
    return [
      PERIODS.wordOf(quota.period),
      quota.model === "" ? "all" : printable(quota.model),
      count(use?.requests, quota.requests),
      count(use?.tokens, quota.tokens),
      quota.amountNanos === 0n ? "-" : amount,
      use?.resetTime === undefined ? "-" : formatTime(use.resetTime),
    ];
  });
  return formatTable(columns, rows);
}
