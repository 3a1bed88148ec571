/** The methods of PaymentService about payments by card. */
import { type Payment, type PaymentOptions, type PaymentServiceService, PaymentState } from "../../api/index.js";
import { invalid, required, unknown } from "../../api/check.js";
import type { CardPayments } from "../../payments/card-payments.js";
import type { PaymentRow } from "../../store/card-rows.js";
import type { PaymentPlace } from "../../store/card-scripts.js";
import type { Handlers } from "../call/handler.js";
import { accountFilter, checkOwner, isOperator } from "../call/account-scope.js";
import { pageOf } from "./page.js";

const PLACE = /^p:(\d{1,15}):(\w{1,64})$/;

type CardMethods = Pick<
  Handlers<typeof PaymentServiceService>,
  "createCheckout" | "getPayment" | "listPayments" | "reconcilePayments" | "handleStripeEvent"
>;

export function cardHandlers(cards: CardPayments, nowMs: () => number): CardMethods {
  return {
    async createCheckout({ accountId, amountNanos }, { caller, address, act }) {
      checkOwner(caller, required("account_id", accountId), "account", accountId);
      const { payment, url } = await cards.begin({ accountId, amountNanos }, address, act);
      return { payment: shown(payment, nowMs(), isOperator(caller)), url };
    },
    async getPayment({ id }, { caller }) {
      const payment = await cards.payment(required("id", id));
      if (payment === undefined) throw unknown("payment", id);
      checkOwner(caller, payment.accountId, "payment", id);
      return { payment: shown(payment, nowMs(), isOperator(caller)) };
    },
    async listPayments(request, { caller }) {
      const { size } = pageOf(request);
      const accountId = accountFilter(caller, request.accountId) ?? "";
      const filter = { accountId, needsAttention: request.attention };
      const rows = await cards.list(filter, placeIn(request.pageToken), size + 1);
      const page = rows.slice(0, size);
      const last = rows.length > size ? page.at(-1) : undefined;
      const payments = page.map((row) => shown(row, nowMs(), isOperator(caller)));
      return { payments, nextPageToken: tokenOf(last), options: optionsOf(cards.settings) };
    },
    async reconcilePayments({ days }, { act }) {
      return cards.reconcile(days, act);
    },
    async handleStripeEvent({ payload, signature }, { act }) {
      if (payload.length === 0) required("payload", "");
      return { ignored: !(await cards.take(payload, required("signature", signature), act)) };
    },
  };
}

function optionsOf(settings: CardPayments["settings"]): PaymentOptions {
  if (settings === undefined) return { cards: false, amountsNanos: [], amountMinNanos: 0n, amountMaxNanos: 0n };
  const { amountsNanos, amountMinNanos, amountMaxNanos } = settings;
  return { cards: true, amountsNanos: [...amountsNanos], amountMinNanos, amountMaxNanos };
}

function shown(row: PaymentRow, nowMs: number, isForOperator: boolean): Payment {
  const { id, accountId, amountNanos, creditedNanos, refundedNanos, disputedNanos, receivableNanos } = row;
  return {
    id,
    accountId,
    amountNanos,
    state: stateOf(row, nowMs),
    creditedNanos,
    refundedNanos,
    disputedNanos,
    receivableNanos,
    problem: row.problem,
    stripeSessionId: isForOperator ? row.sessionId : "",
    createTime: new Date(row.createTimeMs),
    expireTime: new Date(row.expireTimeMs),
    payTime: row.payTimeMs === null ? undefined : new Date(row.payTimeMs),
  };
}

function stateOf({ problem, payTimeMs, creditedNanos, ending, expireTimeMs }: PaymentRow, nowMs: number): PaymentState {
  if (problem !== "") return PaymentState.PAYMENT_STATE_STUCK;
  if (creditedNanos > 0n) return PaymentState.PAYMENT_STATE_PAID;
  // Paid, and credited in a moment.
  if (payTimeMs !== null || ending === "pending") return PaymentState.PAYMENT_STATE_PENDING;
  if (ending === "failed") return PaymentState.PAYMENT_STATE_FAILED;
  const isOver = ending === "expired" || expireTimeMs <= nowMs;
  return isOver ? PaymentState.PAYMENT_STATE_EXPIRED : PaymentState.PAYMENT_STATE_OPEN;
}

function tokenOf(last: PaymentRow | undefined): string {
  return last === undefined ? "" : Buffer.from(`p:${last.createTimeMs}:${last.id}`).toString("base64url");
}

function placeIn(token: string): PaymentPlace | undefined {
  if (token === "") return undefined;
  const [, timeMs, id] = PLACE.exec(Buffer.from(token, "base64url").toString()) ?? [];
  if (timeMs === undefined || id === undefined)
    throw invalid("page_token", "is not the next_page_token of an earlier response");
  return { createTimeMs: Number(timeMs), id };
}
