/** The sentences of the operator’s page of card payments in English. */
import { many } from "./en.ts";

export const cardWords = {
  about: "What came by card through Stripe. What needs you stands first, with what to do.",
  off: "Card payments are not set up. Name a Stripe account in tollgate.yaml to take them.",
  attention: "Needs you",
  all: "All payments",
  emptyAttention: "No payment needs you.",
  emptyAll: "Nobody paid by card yet.",
  payment: "Payment",
  account: "Account",
  nobody: "not known",
  begun: "Begun",
  amount: "Amount",
  credited: "Credited",
  back: "Refunded or disputed",
  receivable: "Still to receive",
  state: "State",
  todo: "What to do",
  receivableDo:
    "The account had spent this before it was refunded or disputed. Ask its people for it; new credit does not pay it off by itself.",
  stuckDo: (problem: string) =>
    `${problem} Ask Stripe again once the cause is gone. Where no account can be credited, refund the payment at Stripe.`,
  session: (id: string) => `At Stripe: ${id}`,
  ask: "Ask Stripe",
  asking: "Asking Stripe…",
  askAbout: "Asks Stripe for what was paid, refunded and disputed, and books what is missing. To repeat it is safe.",
  days: "Of the last",
  dayChoices: { "7": "7 days", "30": "30 days", "180": "180 days" },
  askFailed: "Stripe was not asked.",
  found: (lookedAt: number, credits: number, corrections: number, stuck: number) => {
    const paid = many(credits, "missing credit", "missing credits");
    const back = many(corrections, "refund or dispute", "refunds and disputes");
    const booked = credits + corrections === 0 ? "nothing was missing" : `booked ${paid} and ${back}`;
    const left = stuck === 0 ? "" : ` ${many(stuck, "payment is", "payments are")} stuck.`;
    return `Looked at ${many(lookedAt, "payment", "payments")}: ${booked}.${left}`;
  },
  first: "Newest",
  more: "Earlier payments",
} as const;
