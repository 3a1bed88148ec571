/** What is answered late leads nobody away from where they went meanwhile. */
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, expect, inject, test, vi } from "vitest";
import { FIRST, firstOperator } from "../../support/browser.js";
import { FakeStripe } from "../../support/fake-stripe.js";
import { startGateway } from "../../support/gateway-process.js";
import { type IssuerGateway, issuerSettings, startIssuerGateway } from "../../support/issuer-gateway.js";
import { contextOf, hold, storageOf } from "./world.js";

let world: IssuerGateway;
let stripe: FakeStripe;
let browser: Browser;
const complaints: string[] = [];
const WAIT = { timeout: 60_000, interval: 50 };

beforeAll(async () => {
  stripe = await FakeStripe.start();
  world = await startIssuerGateway("localhost");
  const { corp, open, gateway, operator } = world;
  gateway.writeSettings(issuerSettings(corp, open) + stripe.settings(`${gateway.url}/console`));
  await vi.waitFor(async () => {
    const { body } = await operator.call("GET", "/payments");
    expect(body["options"]).toMatchObject({ cards: true });
  }, WAIT);
  browser = await chromium.connect(inject("shared").browser);
});
afterAll(async () => {
  await browser.close();
  await world.close();
  await stripe.close();
  expect(complaints).toEqual([]);
});

/** A page of a gateway's first operator; of nobody where no cookies are given. */
async function openPage(url: string, cookies: Iterable<readonly [string, string]> = []): Promise<Page> {
  const context = await contextOf(browser, complaints, { storageState: storageOf(url, cookies) });
  const page = await context.newPage();
  await page.goto(url);
  return page;
}

/** Where a page goes from now on. */
function placesOf(page: Page): readonly string[] {
  const places: string[] = [];
  page.on("framenavigated", (frame) => places.push(new URL(frame.url()).pathname));
  page.on("request", (request) => request.isNavigationRequest() && places.push(request.url()));
  return places;
}

test("the first account opens on the page that was chosen while it was made", async () => {
  const gateway = await startGateway();
  const page = await openPage(`${gateway.url}/console/`, (await firstOperator(gateway)).cookies);
  const made = hold(page, "**/api/v1/accounts");
  await page.getByLabel("Id", { exact: true }).fill("acme");
  await page.getByRole("button", { name: "Create the account" }).click();
  const held = await made;
  await page.getByRole("link", { name: "Playground", exact: true }).click();
  await page.waitForURL("**/console/playground*");
  const places = placesOf(page);
  await held.continue();
  await page.getByLabel("Message", { exact: true }).waitFor();
  await page.waitForURL("**/console/playground?account=acme");
  expect(places.filter((place) => place !== "/console/playground")).toEqual([]);
  await page.context().close();
  await gateway.stop();
});

test("who closes the dialog of a payment is not led to pay", async () => {
  const page = await openPage(`${world.gateway.url}/console/billing?account=acme`, world.operator.cookies);
  const begun = hold(page, "**/api/v1/accounts/acme/payments");
  await page.getByRole("button", { name: "Add funds" }).click();
  await page.getByRole("button", { name: "Continue to Stripe" }).click();
  const held = await begun;
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await stays(page, () => held.continue());
});

test("who signs in by password meanwhile is not led to an issuer", async () => {
  const page = await openPage(`${world.gateway.url}/console/models`);
  const begun = hold(page, "**/api/v1/oidc/corp:begin");
  await page.getByRole("button", { name: "Sign in with Corp" }).click();
  const held = await begun;
  await page.getByLabel("E-mail").fill(FIRST.email);
  await page.getByLabel("Password").fill(FIRST.password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.getByRole("heading", { name: "Models", level: 1 }).waitFor();
  await stays(page, () => held.continue());
});

test("a dialog that was opened anew stays, with what is typed in it", async () => {
  const page = await openPage(`${world.gateway.url}/console/admin/accounts/acme`, world.operator.cookies);
  const credited = hold(page, "**/api/v1/accounts/acme:credit");
  await page.getByRole("button", { name: "Credit", exact: true }).click();
  await page.getByLabel("Amount").fill("1.00");
  await page.getByLabel("Your reference").fill("first");
  await page.getByRole("dialog").getByRole("button", { name: "Credit" }).click();
  const held = await credited;
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Credit", exact: true }).click();
  await page.getByLabel("Amount").fill("2.00");
  await held.continue();
  await page.getByText("$2.00", { exact: true }).first().waitFor();
  expect(await page.getByLabel("Amount").inputValue()).toBe("2.00");
  await page.context().close();
});

test("a dialog that makes a secret stays until the secret is there", async () => {
  const made = await world.operator.call("POST", "/keys", { account_id: "acme", settings: { name: "kept" } });
  const { id } = made.body["key"] as { id: string };
  const page = await openPage(`${world.gateway.url}/console/keys/${id}?account=acme`, world.operator.cookies);
  const rotated = hold(page, "**/api/v1/keys/*:rotate");
  await page.getByRole("button", { name: "Rotate" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Create a new secret" }).click();
  const held = await rotated;
  await page.keyboard.press("Escape");
  expect(await dialog.getByRole("button", { name: "Cancel" }).isDisabled()).toBe(true);
  await held.continue();
  await page.getByText(/^sk-/).waitFor();
  await page.context().close();
});

/** That a page goes nowhere by the answer that it waited for, and somewhere when it is led. */
async function stays(page: Page, answer: () => Promise<void>): Promise<void> {
  const places = placesOf(page);
  const come = page.waitForEvent("requestfinished");
  await answer();
  await come;
  await page.getByRole("link", { name: "Docs", exact: true }).click();
  await page.getByRole("heading", { name: "Docs", level: 1 }).waitFor();
  expect(places).toEqual(["/console/docs"]);
  await page.context().close();
}
