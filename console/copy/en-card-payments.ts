/** The sentences of the operator’s page of card payments in English. */
import { many } from "./en.ts";

export const cardWords = {
  about: "Card payments through Stripe. Payments that need attention say what to do.",
  off: "Card payments are not set up. Add a Stripe account to tollgate.yaml to accept them.",
  attention: "Needs attention",
  all: "All payments",
  emptyAttention: "No payment needs attention.",
  emptyAll: "No card payments yet.",
  payment: "Payment",
  account: "Account",
  nobody: "unknown",
  begun: "Started",
  amount: "Amount",
  credited: "Credited",
  back: "Refunded or disputed",
  receivable: "Receivable",
  state: "State",
  todo: "What to do",
  receivableDo:
    "The account had spent this before the refund or dispute. Collect it from the account’s owner: new credit does " +
    "not settle it.",
  stuckDo: (problem: string) =>
    `${problem} Fix the cause, then reconcile again. If no account can be credited, refund the payment at Stripe.`,
  session: (id: string) => `Stripe session: ${id}`,
  ask: "Reconcile with Stripe",
  asking: "Reconciling…",
  askAbout:
    "Reads payments, refunds and disputes from Stripe, and books those that are missing. You can repeat it safely.",
  days: "Period",
  dayChoices: { "7": "7 days", "30": "30 days", "180": "180 days" },
  askFailed: "Reconciliation failed.",
  found: (lookedAt: number, credits: number, corrections: number, stuck: number) => {
    const paid = many(credits, "missing credit", "missing credits");
    const back = many(corrections, "refund or dispute", "refunds and disputes");
    const booked = credits + corrections === 0 ? "nothing was missing" : `booked ${paid} and ${back}`;
    const left = stuck === 0 ? "" : ` ${many(stuck, "payment is", "payments are")} stuck.`;
    return `Checked ${many(lookedAt, "payment", "payments")}: ${booked}.${left}`;
  },
  first: "Newest",
  more: "Earlier payments",
} as const;
