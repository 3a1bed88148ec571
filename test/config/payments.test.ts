/** The block of payments: what it takes, and what it refuses before anybody pays by it. */
import { expect, test } from "vitest";
import { parseSettings } from "../support/parse-settings.js";
import { hideSecrets } from "../../src/config/kept-secrets.js";

const GOOD = {
  secret_key: "sk_test_1",
  webhook_secret: "whsec_1",
  console_url: "https://gateway.example.com/console/",
};
const textOf = (stripe: object): string => `payments: ${JSON.stringify({ stripe })}\n`;

test("nothing is paid by card unless the block says so", () => {
  expect(parseSettings("accounts: {}\n", {}).payments).toEqual({ stripe: undefined });
  expect(parseSettings("payments: {}\n", {}).payments).toEqual({ stripe: undefined });
});

test("what is left out has plain defaults, and secrets come from the environment", () => {
  const said = { ...GOOD, secret_key: "${KEY}", webhook_secret: "${HOOK}" };
  expect(parseSettings(textOf(said), { KEY: "rk_live_2", HOOK: "whsec_2" }).payments.stripe).toEqual({
    secretKey: "rk_live_2",
    webhookSecret: "whsec_2",
    consoleUrl: "https://gateway.example.com/console",
    amountsNanos: [10_000_000_000n, 25_000_000_000n, 100_000_000_000n],
    amountMinNanos: 5_000_000_000n,
    amountMaxNanos: 1_000_000_000_000n,
    apiBase: undefined,
  });
});

test.each([
  { name: "no key", change: { secret_key: undefined }, says: "secret_key" },
  { name: "a publishable key", change: { secret_key: "pk_test_1" }, says: "secret_key" },
  { name: "an empty signing secret", change: { webhook_secret: "" }, says: "webhook_secret" },
  { name: "a variable that is not set", change: { webhook_secret: "${NOT_SET}" }, says: "NOT_SET" },
  {
    name: "a console over plain HTTP",
    change: { console_url: "http://gateway.example.com/console" },
    says: "console_url",
  },
  { name: "a console with a query", change: { console_url: "https://a.example/console?next=b" }, says: "console_url" },
  { name: "another currency", change: { currency: "eur" }, says: "currency" },
  { name: "parts of cents", change: { amounts: ["10.001"] }, says: "amounts" },
  { name: "no amounts", change: { amounts: [] }, says: "amounts" },
  { name: "an amount above the most", change: { amounts: ["10"], amount_max: "9" }, says: "amounts" },
  { name: "a least above the most", change: { amount_min: "10", amount_max: "9" }, says: "amount_max" },
  { name: "less than Stripe takes", change: { amount_min: "0.49" }, says: "amount_min" },
  { name: "more than Stripe takes", change: { amount_max: "1000000" }, says: "amount_max" },
  { name: "somebody else in Stripe's place", change: { api_base: "https://stripe.example.com" }, says: "api_base" },
  {
    name: "a host that only looks like this machine",
    change: { api_base: "http://127.0.0.1.example.com" },
    says: "api_base",
  },
])("$name is refused", ({ change, says }) => {
  expect(() => parseSettings(textOf({ ...GOOD, ...change }), {})).toThrow(says);
});

test("people who edit the file see neither of the secrets", () => {
  const { text, secrets } = hideSecrets(textOf(GOOD));
  expect(secrets.map(({ source }) => source)).toEqual(['"sk_test_1"', '"whsec_1"']);
  expect(text).not.toMatch(/sk_test_1|whsec_1/);
});
