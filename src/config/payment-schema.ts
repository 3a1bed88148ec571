/** How accounts are paid into, in a settings file: by card through Stripe, where the block says so. */
import { z } from "zod";
import { NANOS_PER_CENT } from "../base/money.js";
import type { PaymentSettings } from "./settings.js";
import { block, oneOf, orEmpty, reading, type SecretMark, usd } from "./values.js";

/** Stripe's own bounds for one payment in USD. */
const LEAST_NANOS = 500_000_000n;
const MOST_NANOS = 999_999_990_000_000n;
const AMOUNTS_MAX = 12;
const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** Whole cents, as cards are charged. */
const cents = usd.refine((nanos) => nanos % NANOS_PER_CENT === 0n, "must be whole cents, such as 25.00");

const SECRET_LENGTH_MAX = 512;
const secret = (form: RegExp, rule: string, mark: SecretMark) => {
  const parse = (value: string) => (form.test(value) && value.length <= SECRET_LENGTH_MAX ? value : undefined);
  return reading(rule, parse, { type: "string" }, { secret: mark });
};

const consoleUrl = reading(
  "must be the https:// address of the console, such as https://gateway.example.com/console",
  (value) => {
    const url = URL.canParse(value) ? new URL(value) : undefined;
    if (url === undefined || url.username !== "" || url.password !== "" || /[?#\s\\]/.test(value)) return undefined;
    const isSafe = url.protocol === "https:" || (url.protocol === "http:" && LOOPBACK.test(url.hostname));
    return isSafe ? value.replace(/\/+$/, "") : undefined;
  },
);

/** Whoever answers there is believed about money, so that it is Stripe, or this machine. */
const apiBase = reading("must be an http:// address of this machine, such as http://127.0.0.1:12111", (value) => {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  const isHere = url?.protocol === "http:" && LOOPBACK.test(url.hostname) && url.pathname === "/" && url.search === "";
  return isHere ? url.origin : undefined;
});

const AMOUNTS_RULE = `must be a list of 1 to ${AMOUNTS_MAX} amounts in USD, such as ["10", "25", "100"]`;

const stripe = block({
  secret_key: secret(/^[sr]k_\w+$/, "must be a secret or restricted key of a Stripe account, best as `${VARIABLE}`", {
    isSent: true,
    unchangedBy: ["console_url", "currency", "amounts", "amount_min", "amount_max"],
  }).describe("The API key of the Stripe account"),
  webhook_secret: secret(/^whsec_[\w+/=]+$/, "must be the signing secret of a Stripe webhook", {
    isSent: false,
  }).describe(
    "The signing secret of the Stripe webhook that sends events to `/api/v1/stripe-events`, best as `${VARIABLE}`",
  ),
  console_url: consoleUrl.describe("The address of the console, to which payers return from Stripe"),
  currency: oneOf(["usd"]).prefault("usd").describe("The currency of payments"),
  amounts: z
    .array(cents, { error: () => AMOUNTS_RULE })
    .min(1, AMOUNTS_RULE)
    .max(AMOUNTS_MAX, AMOUNTS_RULE)
    .prefault(["10", "25", "100"])
    .describe("The amounts that the console offers"),
  amount_min: cents.prefault("5").describe("The smallest amount of one payment"),
  amount_max: cents.prefault("1000").describe("The largest amount of one payment"),
  api_base: apiBase.optional().describe("For tests only: the address of a replacement for Stripe, on this machine"),
}).superRefine(({ amounts, amount_min: least, amount_max: most }, { addIssue }) => {
  const refuse = (field: string, message: string) => addIssue({ code: "custom", path: [field], message });
  if (least < LEAST_NANOS) refuse("amount_min", "must be at least 0.50, which is Stripe's own bound");
  if (most > MOST_NANOS) refuse("amount_max", "must be at most 999999.99, which is Stripe's own bound");
  if (least > most) refuse("amount_max", "must not be below amount_min");
  else if (amounts.some((nanos) => nanos < least || nanos > most))
    refuse("amounts", "must each be from amount_min to amount_max");
});

/** The block `payments`. */
export const payments = orEmpty(
  block({ stripe: stripe.optional().describe("Payments by card, through Stripe Checkout") }),
).transform(({ stripe: said }): PaymentSettings => {
  if (said === undefined) return { stripe: undefined };
  return {
    stripe: {
      secretKey: said.secret_key,
      webhookSecret: said.webhook_secret,
      consoleUrl: said.console_url,
      amountsNanos: said.amounts,
      amountMinNanos: said.amount_min,
      amountMaxNanos: said.amount_max,
      apiBase: said.api_base,
    },
  };
});
