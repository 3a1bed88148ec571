/** Sums of QueryUsage as JSON text: there may be 20,000 in an answer, so nothing is made of them on the way. */
import { formatMoney } from "../base/money.js";
import type { Percentiles, Usage, UsageSum } from "./index.js";
import { NO_USAGE, USAGE_FIELDS } from "./usage.js";

/** The proto's names of the fields of a usage, as they begin in JSON. */
const TOKENS = USAGE_FIELDS.map((field) => {
  const name = field.replaceAll(/[A-Z]|\d/g, (part) => `_${part.toLowerCase()}`);
  const begin = `,"${name}":"`;
  return { field, begin, none: `${begin}0"` };
});

/** The same text as that of any message. */
export function usageJson(sum: UsageSum): string {
  const { requestCount, admittedCount, costNanos, chargedNanos, operatorCostNanos, marginNanos } = sum;
  let text = `{"values":${JSON.stringify(sum.values)}`;
  text += `,"request_count":"${requestCount}","admitted_count":"${admittedCount}"`;
  text += `,"errors":${errorsJson(sum.errors)},"usage":${tokensJson(sum.usage ?? NO_USAGE)}`;
  text += moneyJson("cost", costNanos) + moneyJson("charged", chargedNanos);
  text += moneyJson("operator_cost", operatorCostNanos) + moneyJson("margin", marginNanos);
  text += timesJson("first_token", sum.firstToken) + timesJson("total", sum.total);
  const { cacheSavedNanos, streamedTokens, streamedMs } = sum;
  text += moneyJson("cache_saved", cacheSavedNanos);
  return `${text},"streamed_tokens":"${streamedTokens}","streamed_ms":${streamedMs}}`;
}

function errorsJson(errors: UsageSum["errors"]): string {
  let text = "";
  for (const reason in errors) text += `${text === "" ? "" : ","}${JSON.stringify(reason)}:"${errors[reason]}"`;
  return `{${text}}`;
}

function tokensJson(usage: Usage): string {
  let text = "";
  for (const { field, begin, none } of TOKENS) {
    const tokens = usage[field];
    // Most kinds of tokens occur in few sums.
    text += tokens === 0n ? none : `${begin}${tokens}"`;
  }
  return `{${text.slice(1)},"meters":${metersJson(usage)}}`;
}

function metersJson({ meters }: Usage): string {
  if (meters.length === 0) return "[]";
  return JSON.stringify(meters.map((meter) => ({ ...meter, quantity: String(meter.quantity) })));
}

function moneyJson(name: string, nanos: bigint | undefined): string {
  return nanos === undefined ? "" : `,"${name}_nanos":"${nanos}","${name}":"${formatMoney(nanos)}"`;
}

function timesJson(name: string, times: Percentiles | undefined): string {
  if (times === undefined) return "";
  return `,"${name}":{"p50_ms":${times.p50Ms},"p95_ms":${times.p95Ms},"p99_ms":${times.p99Ms}}`;
}
