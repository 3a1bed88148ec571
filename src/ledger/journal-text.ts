/** The operations of a request as texts of a journal, and back. Amounts are decimal, bytes are base64. */
import { z } from "zod";
import { UsageSource } from "../api/index.js";
import { asBuffer } from "../api/bytes.js";
import type { CheckpointOperation, HoldOperation, LedgerOperation, SettleOperation } from "./operation.js";

/** What a request is charged by, as its node sent it. */
export type JournalOperation = HoldOperation | CheckpointOperation | SettleOperation;

const whole = z
  .string()
  .regex(/^-?\d{1,20}$/)
  .transform(BigInt);
const bytes = z.base64().transform((text) => new Uint8Array(Buffer.from(text, "base64")));
const budgets = z.array(
  z.object({
    period: z.enum(["day", "month", "total"]),
    limitNanos: whole,
    makerId: z.string().optional(),
  }),
);
const usage = z.object({
  inputTokens: whole,
  cacheReadTokens: whole,
  cacheWriteTokens: whole,
  cacheWrite1hTokens: whole,
  outputTokens: whole,
  reasoningTokens: whole,
  imageTokens: whole,
  audioInputTokens: whole,
  audioOutputTokens: whole,
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

/** `epoch`: the id under which the node lived when it wrote this. */
export function journalText(operation: JournalOperation, epoch: string): string {
  return JSON.stringify({ epoch, ...operation }, spelled);
}

/** Undefined where the text is none, as of another version of the program. */
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
  return value instanceof Uint8Array ? asBuffer(value).toString("base64") : value;
}
