/** What people and upstreams write stays text on every page, and what a page is for is done by keyboard alone. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { script } from "../../support/fake-upstream.js";
import { generate, joinWorld, SCRIPT_NAME, type World } from "./world.js";

const TABS_MAX = 120;
let world: World;
let requestId = "";

beforeAll(async () => {
  world = await joinWorld("strangers", 2, SCRIPT_NAME);
  const [key] = world.keys;
  const named = { user: SCRIPT_NAME, metadata: { name: SCRIPT_NAME } };
  const body = JSON.stringify({ error: { message: SCRIPT_NAME, type: SCRIPT_NAME, code: SCRIPT_NAME } });
  const fake = script({ status: 400, body });
  const answer = await generate(world.url, key?.secret ?? "", "fake-1", fake, named);
  requestId = answer.headers.get("x-request-id") ?? "";
  await (await generate(world.url, key?.secret ?? "", SCRIPT_NAME, "Hello.", named)).text();
  await (await generate(world.url, key?.secret ?? "", "sim-1", "Hello.", named)).text();
  await world.api("/api/v1/webhooks", {
    account_id: "strangers",
    settings: { name: SCRIPT_NAME, url: `http://127.0.0.1:9/${encodeURIComponent(SCRIPT_NAME)}` },
  });
  const settings = { name: SCRIPT_NAME, kind: "balance_low", amount: "100.00" };
  await world.api("/api/v1/alerts", { account_id: "strangers", settings });
  const reason = { amount: "1.00", debit_id: "strangers-debit", reason: SCRIPT_NAME };
  await world.api("/api/v1/accounts/strangers:debit", reason);
});
afterAll(() => world.close());

/** The world's end fails where any of these pages ran the script or broke the policy. */
describe("a script is text in", () => {
  test.each([
    ["the account's name", () => "/admin/accounts"],
    ["the account switcher", () => "/"],
    ["the names of keys", () => "/keys"],
    ["a key", () => `/keys/${world.keys[2]?.id}`],
    ["the models and end users of requests", () => "/requests"],
    ["what an upstream said", () => `/requests/${requestId}`],
    ["the groups of usage", () => "/usage?by=key&and=model"],
    ["the end users and tags of usage", () => "/usage?by=user&and=tag"],
    ["the reasons of the statement", () => "/billing?journal=open"],
    ["the alerts", () => "/alerts"],
    ["the webhooks", () => "/alerts?show=webhooks"],
    ["the audit log", () => "/audit"],
    ["the filters of a link", () => `/requests?model=${encodeURIComponent(SCRIPT_NAME)}`],
    ["the search of a link", () => `/keys?find=${encodeURIComponent(SCRIPT_NAME)}`],
    ["an id of a link", () => `/requests/${encodeURIComponent(SCRIPT_NAME)}`],
  ])("%s", async (_name, path) => {
    const page = await world.open(path());
    await page.waitForLoadState("networkidle");
    expect(await page.locator("main img[src=x]").count()).toBe(0);
    expect(await page.locator("img[src=x]").count()).toBe(0);
    await page.context().close();
  });

  test("each of them is really shown", async () => {
    for (const path of ["/admin/accounts", "/keys", "/alerts", "/alerts?show=webhooks", "/billing?journal=open"]) {
      const page = await world.open(path);
      await page.getByText(SCRIPT_NAME).filter({ visible: true }).first().waitFor();
      await page.context().close();
    }
  });
});

describe("by keyboard alone", () => {
  test.each([
    ["a key is made", "/keys", ["Create a key"], "of a keyboard", "The only time"],
    ["somebody is invited", "/members", ["Invite somebody"], "eve@example.com", "the only time"],
    ["a webhook is begun", "/alerts?show=webhooks", ["Add a webhook"], "", "With https://"],
    ["an alert is begun", "/alerts", ["Create an alert"], "", "Amount in USD"],
    ["an account is credited", "/admin/accounts/strangers", ["Credit"], "", "Your reference"],
    ["an account is frozen", "/admin/accounts/strangers", ["Freeze"], "", "Reason"],
    ["the ledger is proven", "/admin/ledger", ["Verify the ledger"], "", "The ledger is correct"],
    ["requests are filtered", "/requests", ["Filters"], "", "Error reason"],
    ["usage is saved", "/usage?days=1", ["Download CSV"], "", "Total"],
    ["the statement is saved", "/billing?journal=open", ["Download CSV"], "", "Closing balance"],
    ["a snippet is copied", "/docs", ["Copy Quick start"], "", "Copied"],
    ["a page of docs is opened", "/docs", ["Keys and their settings"], "", "Keys that make keys"],
    ["codes are begun", "/admin/codes", ["Create codes"], "", "Value per code"],
    ["a code is begun", "/billing", ["Redeem a code"], "TG-NONE", "This code is wrong"],
    ["what was made here is saved", "/admin/settings", ["Download as YAML"], "", "Export accounts, keys and alerts"],
  ])("%s", async (_name, path, buttons, typed, shows) => {
    const page = await world.open(path);
    await page.context().grantPermissions(["clipboard-write"]);
    await page.waitForLoadState("networkidle");
    for (const name of buttons) {
      await tabTo(page, name);
      await page.keyboard.press("Enter");
    }
    if (typed !== "") {
      await page.keyboard.type(typed);
      await page.keyboard.press("Enter");
    }
    await expect.poll(() => page.locator("body").innerText()).toMatch(new RegExp(shows, "i"));
    await page.context().close();
  });

  test("a dialog keeps the focus within it, closes by Escape and gives it back", async () => {
    const page = await world.open("/keys");
    await page.waitForLoadState("networkidle");
    await tabTo(page, "Create a key");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    for (let stop = 0; stop < TABS_MAX / 4; stop++) {
      await page.keyboard.press("Tab");
      expect(await page.evaluate(() => document.activeElement?.closest("[role=dialog]") !== null)).toBe(true);
    }
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe("Create a key");
    await page.context().close();
  });
});

/** Goes by Tab to what has the name. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let stop = 0; stop < TABS_MAX; stop++) {
    await page.keyboard.press("Tab");
    const here = await page.evaluate(() => {
      const element = document.activeElement;
      return element?.getAttribute("aria-label") ?? element?.textContent ?? "";
    });
    if (here === name) return;
  }
  throw new Error(`no stop of the keyboard is called ${name}`);
}
