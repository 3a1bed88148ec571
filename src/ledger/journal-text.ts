/** The operations of a request as lines of a journal, and back. Amounts are decimal, bytes are base64. */
import { z } from "zod";
import { UsageSource } from "../api/index.js";
import { asBuffer } from "../base/bytes/bytes.js";
import { metersIn, metersText, NO_METERS } from "../api/meters.js";
import { USAGE_FIELDS, type UsageField } from "../api/usage.js";
import type { CheckpointOperation, HoldOperation, LateTerms, LedgerOperation, SettleOperation } from "./operation.js";

/** What a request is charged by, as its node sent it. */
export type JournalOperation = HoldOperation | CheckpointOperation | SettleOperation;

const whole = z
  .string()
  .regex(/^-?\d{1,20}$/)
  .transform(BigInt);
const bytes = z.base64().transform((text) => new Uint8Array(Buffer.from(text, "base64")));
const budgets = z.array(
  z.object({
    period: z.enum(["day", "week", "month", "quarter", "total"]),
    limitNanos: whole,
    makerId: z.string().optional(),
  }),
);
/** Left out if it is zero. */
const figure = whole.default(0n);
/** As text where a settlement is written, and as a list where a checkpoint is. */
const meters = z.union([
  z.string().transform(metersIn),
  z.array(z.object({ unit: z.string(), variant: z.string(), quantity: whole })),
]);
const usage = z.object({
  ...(Object.fromEntries(USAGE_FIELDS.map((field) => [field, figure])) as Record<UsageField, typeof figure>),
  meters: meters.default(NO_METERS),
});
const admitted = {
  accountId: z.string(),
  keyId: z.string(),
  model: z.string(),
  nodeId: z.string(),
  amountNanos: whole,
  budgets,
  price: bytes,
  expireTimeMs: z.number(),
};
const charge = {
  requestId: z.string(),
  usage,
  costNanos: whole,
  operatorCostNanos: whole.optional(),
  upstream: z.string(),
  attempts: z.number(),
  nowMs: z.number(),
};
const OPERATION = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("hold"),
    requestId: z.string(),
    ...admitted,
    leastNanos: whole,
    nowMs: z.number(),
    leaseId: z.string().optional(),
  }),
  z.object({ kind: z.literal("checkpoint"), ...charge }),
  z.object({
    kind: z.literal("settle"),
    ...charge,
    usageSource: z.enum(UsageSource),
    attemptLog: z.string(),
    terms: z.object({ ...admitted, createTimeMs: z.number() }).optional(),
  }),
]) satisfies z.ZodType<LedgerOperation>;

/** `epoch`: the id of the node when it wrote this. */
export function journalText(operation: JournalOperation, epoch: string): string {
  return operation.kind === "settle"
    ? settlementText(operation, epoch)
    : JSON.stringify({ epoch, ...operation }, spelled);
}

/** Undefined if the line is invalid, as one of another version of the program may be. */
export function journalOperation(text: string): JournalOperation | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return undefined;
  }
  return OPERATION.safeParse(parsed).data;
}

function spelled(_name: string, value: unknown): unknown {
  if (typeof value === "bigint") return String(value);
  return value instanceof Uint8Array ? base64Of(value) : value;
}

/** The same, written by hand: there is one for each answer, and a JSON replacer takes three times as long. */
function settlementText(settlement: SettleOperation, epoch: string): string {
  const { requestId, usage: used, usageSource, costNanos, operatorCostNanos, terms } = settlement;
  const { upstream, attempts, attemptLog, nowMs } = settlement;
  let figures = "";
  for (const field of USAGE_FIELDS) if (used[field] !== 0n) figures += `${figures && ","}"${field}":"${used[field]}"`;
  if (used.meters.length > 0) figures += `${figures && ","}"meters":${quoted(metersText(used.meters))}`;
  const operatorCost = operatorCostNanos === undefined ? "" : `,"operatorCostNanos":"${operatorCostNanos}"`;
  return (
    `{"kind":"settle","epoch":${quoted(epoch)},"requestId":${quoted(requestId)},"usage":{${figures}},` +
    `"usageSource":${usageSource},"costNanos":"${costNanos}"${operatorCost},"upstream":${quoted(upstream)},` +
    `"attempts":${attempts},"attemptLog":${quoted(attemptLog)},"nowMs":${nowMs}` +
    (terms === undefined ? "}" : `,"terms":${termsText(terms)}}`)
  );
}

function termsText(terms: LateTerms): string {
  const { accountId, keyId, model, nodeId, amountNanos, budgets, price, expireTimeMs, createTimeMs } = terms;
  return (
    `{"accountId":${quoted(accountId)},"keyId":${quoted(keyId)},"model":${quoted(model)},"nodeId":${quoted(nodeId)},` +
    `"amountNanos":"${amountNanos}","budgets":${budgetsText(budgets)},"price":"${base64Of(price)}",` +
    `"expireTimeMs":${expireTimeMs},"createTimeMs":${createTimeMs}}`
  );
}

const budgetsText = (budgets: LateTerms["budgets"]): string =>
  budgets.length === 0 ? "[]" : JSON.stringify(budgets, spelled);
const quoted: (text: string) => string = JSON.stringify;

/** A price is the same bytes for all requests that are admitted at it. */
const base64 = new WeakMap<Uint8Array, string>();

function base64Of(value: Uint8Array): string {
  let text = base64.get(value);
  if (text === undefined) base64.set(value, (text = asBuffer(value).toString("base64")));
  return text;
}
