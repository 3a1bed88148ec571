/** Payments by card in the console: funds are added at a stand-in for Stripe, and the way back says what became. */
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { firstOperator } from "../../support/browser.js";
import { FakeStripe, type SignedEvent } from "../../support/fake-stripe.js";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";
import { violationsOf } from "./axe.js";
import { contextOf, storageOf } from "./world.js";

let stripe: FakeStripe;
let gateway: GatewayProcess;
let operator: Management;
let browser: Browser;
let page: Page;
const complaints: string[] = [];
/** What was told nobody yet. */
const held: SignedEvent[] = [];

beforeAll(async () => {
  stripe = await FakeStripe.start();
  gateway = await startGateway({ settings: "accounts: { acme: {} }\n" });
  operator = new Management(gateway);
  const { cookies } = await firstOperator(gateway);
  browser = await chromium.connect(inject("shared").browser);
  const storageState = storageOf(gateway.url, cookies);
  page = await (await contextOf(browser, complaints, { storageState })).newPage();
  stripe.onEvent = (event) => Promise.resolve(void held.push(event));
});
afterAll(async () => {
  await browser.close();
  await gateway.stop();
  await stripe.close();
  expect(complaints).toEqual([]);
});

const billing = (): Promise<unknown> => page.goto(`${gateway.url}/console/billing?account=acme`);
const heading = (): Promise<void> => page.getByRole("heading", { name: "Statement" }).waitFor();

async function tell(): Promise<void> {
  for (const { payload: body, signature } of held.splice(0)) {
    const headers = { "content-type": "application/json", "stripe-signature": signature };
    const { status } = await fetch(`${gateway.url}/api/v1/stripe-events`, { method: "POST", headers, body });
    expect(status).toBe(200);
  }
}

test("nothing of it shows where it is not set up", async () => {
  await billing();
  await heading();
  expect(await page.getByRole("button", { name: "Add funds" }).count()).toBe(0);
  gateway.writeSettings(`accounts: { acme: {} }\n${stripe.settings(`${gateway.url}/console`)}`);
  const options = async (): Promise<unknown> => (await operator.call("GET", "/payments")).body["options"];
  await expect.poll(options).toMatchObject({ cards: true });
});

test("an amount is chosen, paid at Stripe, on its way, and then there", async () => {
  await billing();
  await page.getByRole("button", { name: "Add funds" }).click();
  await page.getByLabel("Amount").selectOption("other");
  await page.getByLabel("Another amount").fill("2.50");
  await page.getByText("This amount is not accepted.").waitFor();
  await page.getByLabel("Another amount").fill("12.34");
  expect(await violationsOf(page)).toEqual([]);
  await page.getByRole("button", { name: "Continue to Stripe" }).click();
  await page.getByRole("link", { name: "Pay" }).click();
  await page.getByText("The payment is being processed").waitFor();
  await tell();
  await page.getByText("$12.34 was paid and added to the balance.").waitFor();
  await page.getByRole("region", { name: "Card payments" }).getByText("paid", { exact: true }).waitFor();
  await page.getByRole("definition").filter({ hasText: "$12.34" }).first().waitFor();
  expect(await violationsOf(page)).toEqual([]);
  expect((await operator.balance("acme")).availableNanos).toBe(12_340_000_000n);
});

test("who comes back without paying is told so, and is charged nothing", async () => {
  await billing();
  await page.getByRole("button", { name: "Add funds" }).click();
  await page.getByRole("button", { name: "Continue to Stripe" }).click();
  await page.getByRole("link", { name: "Back" }).click();
  await page.getByText("You did not complete the payment.").waitFor();
  await page.getByRole("region", { name: "Card payments" }).getByText("not paid", { exact: true }).first().waitFor();
  expect((await operator.balance("acme")).availableNanos).toBe(12_340_000_000n);
});

test("an operator sees which payments need somebody and why, and books what Stripe never told", async () => {
  const health = async (): Promise<unknown> => page.goto(`${gateway.url}/console/admin`);
  const list = async (query = ""): Promise<unknown> => page.goto(`${gateway.url}/console/admin/payments${query}`);
  await list();
  await page.getByText("No payment needs attention.").waitFor();
  // What was paid is spent, and then goes back to the payer.
  const begun = await operator.call("POST", "/accounts/acme/payments", { amount: "20.00" });
  const { payment } = begun.body as { payment: { id: string; stripe_session_id: string } };
  held.push(stripe.pay(payment.stripe_session_id), stripe.arrive(payment.stripe_session_id));
  await tell();
  const { availableNanos } = await operator.balance("acme");
  await operator.call("POST", "/accounts/acme:debit", {
    amount_nanos: String(availableNanos),
    debit_id: "all",
    reason: "spent elsewhere",
  });
  held.push(stripe.refund(payment.stripe_session_id, 2_000));
  await tell();
  await health();
  await page.getByText("1 card payment needs attention").waitFor();
  await page.getByRole("link", { name: "Details" }).click();
  const row = page.getByRole("row").filter({ hasText: payment.stripe_session_id });
  await row.getByText("The account had spent this").waitFor();
  expect(await row.locator("data").evaluateAll((amounts) => amounts.map((one) => one.getAttribute("value")))).toEqual([
    "20000000000",
    "20000000000",
    "20000000000",
  ]);
  expect(await violationsOf(page)).toEqual([]);
  // Paid, and nobody was told.
  const other = await operator.call("POST", "/accounts/acme/payments", { amount: "11.00" });
  const lost = (other.body as { payment: { stripe_session_id: string } }).payment.stripe_session_id;
  stripe.pay(lost);
  await page.getByRole("button", { name: "Reconcile with Stripe" }).click();
  await page.getByText("booked 1 missing credit and 0 refunds and disputes").waitFor();
  await page.getByRole("link", { name: "All payments" }).click();
  await page.getByRole("row").filter({ hasText: lost }).getByText("paid", { exact: true }).waitFor();
  expect((await operator.balance("acme")).availableNanos).toBe(11_000_000_000n);
});
