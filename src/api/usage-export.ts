/** Sums of usage as files: CSV, lines of JSON, and the columns of FOCUS 1.2 for whoever adds up clouds. */
import { formatUsd } from "../base/money.js";
import { isUnit, metersCell, NO_METERS, UNITS } from "./meters.js";
import { cell as csvText, line as csvLine } from "../base/csv.js";
import type { Meter, Usage, UsageSummary } from "./index.js";

/** A form of export: what stands before the first line, and one line. Each line is whole, so that nothing is held. */
export interface UsageForm {
  readonly head: string;
  line(summary: UsageSummary): string;
}

const COLUMNS = [
  "day",
  "account_id",
  "key_id",
  "model",
  "requests",
  "input_tokens",
  "cache_read_tokens",
  "cache_write_tokens",
  "output_tokens",
  "reasoning_tokens",
  "cost_usd",
  "refunded_usd",
  "operator_cost_usd",
  "margin_usd",
  "meters",
];

/** Columns of the FinOps Open Cost and Usage Specification, and ours, which it wants to begin with `x_`. */
const FOCUS_COLUMNS = [
  "BillingAccountId",
  "BillingAccountName",
  "BillingCurrency",
  "BillingPeriodStart",
  "BillingPeriodEnd",
  "ChargePeriodStart",
  "ChargePeriodEnd",
  "ChargeCategory",
  "ChargeClass",
  "ChargeDescription",
  "ChargeFrequency",
  "BilledCost",
  "EffectiveCost",
  "ListCost",
  "ContractedCost",
  "ConsumedQuantity",
  "ConsumedUnit",
  "PricingQuantity",
  "PricingUnit",
  "ProviderName",
  "PublisherName",
  "InvoiceIssuerName",
  "ServiceCategory",
  "ServiceSubcategory",
  "ServiceName",
  "ResourceId",
  "ResourceType",
  "SkuId",
  "SubAccountId",
  "x_Requests",
  "x_InputTokens",
  "x_OutputTokens",
  "x_OperatorCost",
  "x_Meters",
];
const ISSUER = "Tollgate";
const TOKENS = "Tokens";

export const USAGE_FORMS: Readonly<Record<"csv" | "jsonl" | "focus", UsageForm>> = {
  csv: { head: csvLine(COLUMNS), line: (summary) => csvLine(cellsOf(summary)) },
  jsonl: { head: "", line: (summary) => `${JSON.stringify(membersOf(summary))}\n` },
  focus: { head: csvLine(FOCUS_COLUMNS), line: (summary) => csvLine(focusCells(summary)) },
};

function cellsOf(summary: UsageSummary): string[] {
  const { day, accountId, keyId, model, requestCount, costNanos, refundedNanos } = summary;
  const { operatorCostNanos, marginNanos } = summary;
  return [
    day,
    csvText(accountId),
    csvText(keyId),
    csvText(model),
    `${requestCount}`,
    ...tokensOf(summary.usage).map(String),
    formatUsd(costNanos),
    formatUsd(refundedNanos),
    operatorCostNanos === undefined ? "" : formatUsd(operatorCostNanos),
    marginNanos === undefined ? "" : formatUsd(marginNanos),
    metersCell(metersOf(summary)),
  ];
}

/** Programs get whole numbers: tokens, and nano-USD as text, which no reader rounds. */
function membersOf(summary: UsageSummary): Record<string, unknown> {
  const { day, accountId, keyId, model, requestCount, costNanos, refundedNanos, usage } = summary;
  const [input = 0n, cacheRead = 0n, cacheWrite = 0n, output = 0n, reasoning = 0n] = tokensOf(usage);
  const { operatorCostNanos, marginNanos } = summary;
  return {
    day,
    account_id: accountId,
    key_id: keyId,
    model,
    requests: Number(requestCount),
    input_tokens: Number(input),
    cache_read_tokens: Number(cacheRead),
    cache_write_tokens: Number(cacheWrite),
    output_tokens: Number(output),
    reasoning_tokens: Number(reasoning),
    meters: metersOf(summary).map(({ unit, variant, quantity }) => ({ unit, variant, quantity: Number(quantity) })),
    cost_nanos: `${costNanos}`,
    refunded_nanos: `${refundedNanos}`,
    ...(operatorCostNanos === undefined ? {} : { operator_cost_nanos: `${operatorCostNanos}` }),
    ...(marginNanos === undefined ? {} : { margin_nanos: `${marginNanos}` }),
  };
}

/** One charge a day, account, key and model. What was charged is what is listed: there are no discounts. */
function focusCells(summary: UsageSummary): string[] {
  const { day, accountId, keyId, model, requestCount, costNanos, usage, operatorCostNanos } = summary;
  const [input = 0n, cacheRead = 0n, cacheWrite = 0n, output = 0n, reasoning = 0n] = tokensOf(usage);
  const tokensIn = input + cacheRead + cacheWrite;
  const tokensOut = output + reasoning;
  const cost = formatUsd(costNanos);
  const [quantity, unit] = consumedOf(tokensIn + tokensOut, metersOf(summary));
  return [
    csvText(accountId),
    csvText(accountId),
    "USD",
    ...monthOf(day),
    ...dayOf(day),
    "Usage",
    "",
    csvText(`Requests to ${model}`),
    "Usage-Based",
    cost,
    cost,
    cost,
    cost,
    quantity,
    unit,
    quantity,
    unit,
    ISSUER,
    ISSUER,
    ISSUER,
    "AI and Machine Learning",
    "Generative AI",
    "Model access",
    csvText(model),
    "Model",
    csvText(model),
    csvText(keyId),
    `${requestCount}`,
    `${tokensIn}`,
    `${tokensOut}`,
    operatorCostNanos === undefined ? "" : formatUsd(operatorCostNanos),
    metersCell(metersOf(summary)),
  ];
}

function metersOf({ usage }: UsageSummary): readonly Meter[] {
  return usage?.meters ?? NO_METERS;
}

/** Of a model that is sold by one other unit, that unit, even if tokens are reported too; else its tokens. */
function consumedOf(tokens: bigint, [first, ...others]: readonly Meter[]): readonly [quantity: string, unit: string] {
  if (first === undefined || others.length > 0) return [`${tokens}`, TOKENS];
  return [`${first.quantity}`, focusUnit(first)];
}

/** FOCUS wants capitalized words, each unit in the plural. */
function focusUnit({ unit }: Meter): string {
  const words = isUnit(unit) ? UNITS[unit].many : unit;
  return words.replaceAll(/\b[a-z]/g, (letter) => letter.toUpperCase());
}

function tokensOf(usage: Usage | undefined): readonly bigint[] {
  if (usage === undefined) return [];
  return [
    usage.inputTokens + usage.imageTokens + usage.audioInputTokens,
    usage.cacheReadTokens,
    usage.cacheWriteTokens + usage.cacheWrite1hTokens,
    usage.outputTokens + usage.audioOutputTokens,
    usage.reasoningTokens,
  ];
}

/** From its first moment to that after its last, as FOCUS has its periods. */
function dayOf(day: string): readonly string[] {
  const start = new Date(`${day}T00:00:00Z`);
  const end = new Date(start);
  end.setUTCDate(end.getUTCDate() + 1);
  return [momentOf(start), momentOf(end)];
}

function monthOf(day: string): readonly string[] {
  const start = new Date(`${day.slice(0, 7)}-01T00:00:00Z`);
  const end = new Date(start);
  end.setUTCMonth(end.getUTCMonth() + 1);
  return [momentOf(start), momentOf(end)];
}

function momentOf(time: Date): string {
  return time.toISOString().replace(".000Z", "Z");
}
