/** What Stripe says of payments, read from its events and its answers alike: only what money depends on. */
import { z } from "zod";
import { GatewayError } from "../base/errors.js";
import { NANOS_PER_CENT } from "../base/money.js";
import type { DisputeFact, PaidFact, RefundFact } from "../store/card-scripts.js";

const CURRENCY = "usd";
const PROBLEM_CHARACTERS_MAX = 200;

/** A reference to an object, which may come whole. */
const reference = z.union([z.string(), z.object({ id: z.string() }).transform(({ id }) => id), z.null()]).optional();
const centsForm = z.number().int().nonnegative();

const eventForm = z.object({
  id: z.string().min(1).max(255),
  type: z.string().min(1).max(255),
  created: z.number().int().nonnegative(),
  data: z.object({ object: z.unknown() }),
});

const sessionForm = z.object({
  id: z.string().min(1),
  mode: z.string(),
  payment_status: z.string(),
  payment_intent: reference,
  amount_total: centsForm.nullable(),
  currency: z.string().nullable(),
  metadata: z.record(z.string(), z.string()).nullish(),
});

const refundForm = z.object({
  id: z.string().min(1),
  amount: centsForm,
  currency: z.string(),
  status: z.string().nullish(),
  payment_intent: reference,
});

const chargeForm = z.object({ payment_intent: reference });

const disputeForm = z.object({
  id: z.string().min(1),
  amount: centsForm,
  currency: z.string(),
  status: z.string(),
  payment_intent: reference,
});

export type StripeEvent = z.output<typeof eventForm>;

/** A Checkout Session. */
export interface SessionFacts {
  readonly id: string;
  readonly isPaid: boolean;
  /** What it says of the payment that it was made for: a hint, and no proof. */
  readonly hint: { readonly paymentId: string; readonly consoleUrl: string } | undefined;
  readonly paid: PaidFact;
}

/** Names of what a session carries with it. */
export const HINT_ID = "tollgate_payment";
export const HINT_CONSOLE = "tollgate_console";

/** Throws BODY_INVALID where it is no event. */
export function eventIn(value: unknown): StripeEvent {
  return read(eventForm, value);
}

export function sessionIn(value: unknown): SessionFacts {
  const session = read(sessionForm, value);
  const { [HINT_ID]: paymentId, [HINT_CONSOLE]: consoleUrl } = session.metadata ?? {};
  const isInUsd = session.currency === CURRENCY;
  const problem = isInUsd ? "" : `it was paid in '${session.currency ?? "no currency"}', and only usd is credited`;
  return {
    id: session.id,
    isPaid: session.mode === "payment" && session.payment_status === "paid",
    hint: paymentId === undefined || consoleUrl === undefined ? undefined : { paymentId, consoleUrl },
    paid: {
      intentId: session.payment_intent ?? null,
      paidNanos: isInUsd ? nanosOf(session.amount_total ?? 0) : 0n,
      problem: problem.slice(0, PROBLEM_CHARACTERS_MAX),
    },
  };
}

/** The PaymentIntent of a charge or a refund; undefined where there is none. */
export function intentIn(value: unknown): string | undefined {
  return read(chargeForm, value).payment_intent ?? undefined;
}

/** Undefined where it is in another currency than what we charge. */
export function refundIn(value: unknown): (RefundFact & { readonly intentId: string | undefined }) | undefined {
  const refund = read(refundForm, value);
  if (refund.currency !== CURRENCY) return undefined;
  const isFailed = refund.status === "failed" || refund.status === "canceled";
  const intentId = refund.payment_intent ?? undefined;
  return { id: refund.id, amountNanos: nanosOf(refund.amount), isFailed, intentId };
}

/** In these the bank has taken the money, or had; a warning is only a question. */
const WITHDRAWN: ReadonlySet<string> = new Set(["needs_response", "under_review", "lost", "won"]);

export function disputeIn(
  value: unknown,
  type = "",
): (DisputeFact & { readonly intentId: string | undefined }) | undefined {
  const dispute = read(disputeForm, value);
  if (dispute.currency !== CURRENCY) return undefined;
  const isReinstated = dispute.status === "won" || type === "charge.dispute.funds_reinstated";
  return {
    id: dispute.id,
    amountNanos: nanosOf(dispute.amount),
    isWithdrawn: isReinstated || WITHDRAWN.has(dispute.status) || type === "charge.dispute.funds_withdrawn",
    isReinstated,
    intentId: dispute.payment_intent ?? undefined,
  };
}

function nanosOf(cents: number): bigint {
  return BigInt(cents) * NANOS_PER_CENT;
}

function read<Form extends z.ZodType>(form: Form, value: unknown): z.output<Form> {
  const { data, error } = form.safeParse(value);
  if (error === undefined) return data as z.output<Form>;
  const where = error.issues[0]?.path.join(".") ?? "";
  throw new GatewayError("ERROR_REASON_BODY_INVALID", { problem: `'${where}' is not as Stripe documents it` });
}
