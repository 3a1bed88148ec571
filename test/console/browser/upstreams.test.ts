/** An operator adds an upstream and a model by forms, tests it, changes the price, and takes both away. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type FakeVendor, startFakeVendor } from "../../support/fake-vendor.js";
import { press, tabTo } from "./by-keyboard.js";
import { MOUSE } from "./hand.js";
import { joinWorld, type World } from "./world.js";

const KEY = "fake-credential-of-a-form";
let world: World;
let vendor: FakeVendor;
const UPSTREAM = "by-form";
const MODEL = "gpt-4o-mini";

beforeAll(async () => {
  vendor = await startFakeVendor(KEY);
  world = await joinWorld("forms", 0);
});
afterAll(async () => {
  await world.close();
  await vendor.close();
});

async function fillAddress(page: Page): Promise<void> {
  await page.getByLabel("Provider or server").selectOption("openai-compatible");
  await page.getByLabel("Name", { exact: true }).fill(UPSTREAM);
  await page.getByLabel("API key").fill(KEY);
  await page.getByLabel("Base URL").fill(vendor.url);
}

test("an upstream is connected, a model is added at a price, and the next request is served", async () => {
  const page = await world.open("/admin/upstreams");
  const hand = MOUSE.at(page);
  await hand.press("Add an upstream");
  await fillAddress(page);
  await hand.press("Connect");
  await page.getByText("The list has 2 models.").waitFor();
  await hand.press("Save");
  await page.getByRole("row", { name: new RegExp(`${UPSTREAM} .*not yet tested`) }).waitFor();

  await world.go(page, "/admin/models");
  await hand.press("Add a model");
  await page.getByLabel("Name", { exact: true }).fill("team/by-form");
  await page.getByLabel("Upstream", { exact: true }).selectOption(UPSTREAM);
  await page.getByLabel("Name at the upstream").fill(MODEL);
  await page.getByLabel("Price", { exact: true }).selectOption("own");
  await page.getByLabel("Input, USD per million tokens").fill("1");
  await page.getByLabel("Output, USD per million tokens").fill("2");
  await page.getByLabel("Maximum output tokens").fill("1000");
  await page.getByText("team/by-form is new").waitFor();
  await hand.press("Save");
  await page.getByRole("row", { name: /team\/by-form/ }).waitFor();
  expect(hand.clicks).toBeLessThanOrEqual(15);

  const { secret } = await world.api<{ secret: string }>("/api/v1/keys", { account_id: world.account, settings: {} });
  await world.api(`/api/v1/accounts/${world.account}:credit`, { amount: "1.00", credit_id: `form-${world.account}` });
  const ask = async (): Promise<string> => {
    const answer = await fetch(`${world.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "team/by-form", messages: [{ role: "user", content: "hello" }], max_tokens: 5 }),
    });
    return answer.text();
  };
  // Another node uses it within two seconds.
  await expect.poll(ask, { timeout: 60_000 }).toContain("yes");
  expect(vendor.seen.at(-1)).toBe(KEY);
  await page.context().close();
});

test("a price is changed with its effect shown, and the upstream is tested, drained and brought back", async () => {
  const page = await world.open("/admin/models");
  const hand = MOUSE.at(page);
  const row = page.getByRole("row", { name: /team\/by-form/ });
  await hand.press("Change", { row: "team/by-form" });
  await page.getByLabel("Input, USD per million tokens").fill("3");
  await page.getByText(/team\/by-form: .* becomes .*3/).waitFor();
  await hand.press("Save");
  await row.getByText("3.00").first().waitFor();
  expect(hand.clicks).toBe(2);

  await world.go(page, "/admin/upstreams");
  const upstream = page.getByRole("row", { name: new RegExp(UPSTREAM) });
  await upstream.getByRole("button", { name: "Test" }).click();
  await upstream.getByText("The upstream answers.").waitFor();
  await upstream.getByText("healthy").waitFor();
  await upstream.getByRole("button", { name: "Drain" }).click();
  await page.getByText("No other upstream serves").waitFor();
  await page.getByRole("button", { name: "Drain it" }).click();
  await upstream.getByText("drained").waitFor();
  await upstream.getByRole("button", { name: "End the drain" }).click();
  await upstream.getByText("healthy").waitFor();
  expect(await page.content()).not.toContain(KEY);
  await page.context().close();
});

test("a rotated key is typed once, and a refused one is named before it is saved", async () => {
  const page = await world.open("/admin/upstreams");
  const hand = MOUSE.at(page);
  const row = page.getByRole("row", { name: new RegExp(UPSTREAM) });
  vendor.accept("rotated-credential-of-a-form");
  await hand.press("Change", { row: UPSTREAM });
  await page.getByLabel("API key").fill("rotated-credential-of-a-form");
  await hand.press("Connect");
  await page.getByText("The list has 2 models.").waitFor();
  await hand.press("Save");
  await page.getByRole("heading", { name: `Change ${UPSTREAM}` }).waitFor({ state: "detached" });
  expect(hand.clicks).toBeLessThanOrEqual(4);
  await row.getByRole("button", { name: "Test" }).click();
  await row.getByText("The upstream answers.").waitFor();
  expect(vendor.seen.at(-1)).toBe("rotated-credential-of-a-form");
  await page.context().close();
});

test("an upstream that a model names stays, and says by which; both go one after the other", async () => {
  const page = await world.open("/admin/upstreams");
  const row = page.getByRole("row", { name: new RegExp(UPSTREAM) });
  await row.getByRole("button", { name: "Delete" }).click();
  await page.getByText("The model team/by-form refers to it.").waitFor();
  expect(await page.getByRole("dialog").getByRole("button", { name: "Delete" }).getAttribute("aria-disabled")).toBe(
    "true",
  );
  await page.getByRole("button", { name: "Cancel" }).click();
  await world.go(page, "/admin/models");
  await page
    .getByRole("row", { name: /team\/by-form/ })
    .getByRole("button", { name: "Delete" })
    .click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.getByRole("row", { name: /team\/by-form/ }).waitFor({ state: "detached" });
  await world.go(page, "/admin/upstreams");
  await row.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await row.waitFor({ state: "detached" });
  await page.context().close();
});

test("a second account gets its credit, its budget and its limits in one form", async () => {
  const page = await world.open("/admin/accounts");
  const hand = MOUSE.at(page);
  await hand.press("Create an account");
  await page.getByLabel("Id", { exact: true }).fill("by-form");
  await page.getByLabel("Credit in USD").fill("5.00");
  await page.getByLabel("Monthly budget, USD").fill("2.00");
  await page.getByLabel("Requests per minute").fill("60");
  await hand.press("Create the account");
  await page.getByRole("heading", { name: "Budgets and limits" }).waitFor();
  await page.getByText("$2.00").first().waitFor();
  await hand.press("Change budgets and limits");
  await page.getByLabel("Daily budget, USD").fill("1.00");
  await hand.press("Save");
  await page.getByText("$1.00").first().waitFor();
  expect(hand.clicks).toBeLessThanOrEqual(12);
  const { account } = await world.api<{ account: { settings: Record<string, string> } }>("/api/v1/accounts/by-form");
  expect(account.settings).toMatchObject({ budget_month_nanos: "2000000000", budget_day_nanos: "1000000000" });
  await page.context().close();
});

test("an upstream is added without a mouse on a narrow screen", async () => {
  const page = await world.open("/admin/upstreams", { viewport: { width: 360, height: 800 } });
  await press(page, "Add an upstream");
  await tabTo(page, "Provider or server");
  await page.keyboard.type("Another");
  await tabTo(page, "Name");
  await page.keyboard.type("by-keys");
  await tabTo(page, "API key");
  await page.keyboard.type("rotated-credential-of-a-form");
  await tabTo(page, "Base URL");
  await page.keyboard.type(vendor.url);
  await page.keyboard.press("Enter");
  await page.getByText("The list has 2 models.").waitFor();
  await press(page, /^gpt-4o-mini/u, "Space");
  await page.getByText("1 model chosen").waitFor();
  // Its price is published for another provider alone: it is not saved before its price is said.
  await page.getByText("Price of the chosen models").waitFor();
  expect(await page.getByRole("button", { name: "Save" }).isDisabled()).toBe(true);
  await tabTo(page, "Price");
  await page.keyboard.type("Free");
  await press(page, "Save");
  await page.getByRole("heading", { name: "Add an upstream" }).waitFor({ state: "detached" });
  const { object } = await world.api<{ object: object }>("/api/v1/settings/objects/upstream/by-keys");
  expect(object).toMatchObject({ upstream: { family: "openai-compatible" }, secrets_set: ["api_key"] });
  for (const path of [`model/${MODEL}`, "upstream/by-keys"])
    await world.api(`/api/v1/settings/objects/${path}`, undefined, "DELETE");
  await page.context().close();
});
