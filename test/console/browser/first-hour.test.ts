/** The first hour of a new gateway: from the link that it prints, over its first steps, to a streamed answer. */
import { chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { type FakeVendor, startFakeVendor } from "../../support/fake-vendor.js";
import { HANDS } from "./hand.js";
import { PERSON } from "./person.js";
import { type Nodes, startNodes } from "./setup.js";
import { contextOf } from "./world.js";

const KEY = "fake-credential-of-a-first-hour";
const CLICKS_MAX = 15;
let vendor: FakeVendor;
beforeAll(async () => {
  vendor = await startFakeVendor(KEY);
});
afterAll(() => vendor.close());

describe.each(HANDS)("$name:", ({ window, at }) => {
  let gateway: Nodes;
  beforeAll(async () => {
    gateway = await startNodes(undefined);
  });
  afterAll(() => gateway.close());

  test(`from the link that the gateway printed to a streamed answer in ${CLICKS_MAX} clicks`, async () => {
    const complaints: string[] = [];
    const browser = await chromium.connect(inject("shared").browser);
    const context = await contextOf(browser, complaints, window);
    const page = await context.newPage();
    const hand = at(page);
    // The link is the first click.
    await page.goto(`${gateway.url}/console/welcome#${await gateway.welcomeToken()}`);
    await hand.type("Your name", PERSON.name);
    await hand.type("E-mail", PERSON.email);
    await hand.type("Password", PERSON.password);
    await hand.press("Become the operator");

    await page.getByRole("region", { name: "First steps" }).waitFor();
    await hand.type("Id", "acme");
    await hand.type("Credit in USD", "5.00");
    await hand.press("Create the account");

    await hand.press("Add an upstream");
    const families = page.getByLabel("Provider or server").locator("option");
    await expect.poll(() => families.allTextContents()).toEqual(expect.arrayContaining(["OpenAI", "Anthropic"]));
    await hand.type("API key", KEY);
    await hand.type("Base URL", vendor.url);
    await hand.press("Connect");
    await page.getByText("The list has 2 models.").waitFor();
    await hand.check(/^gpt-4o-mini/);
    await hand.press("Test with a call");
    await page.getByText("The upstream answers.").first().waitFor();
    await hand.press("Save");

    await next(page, "Invite a member");
    await hand.press("Invite a member");
    await hand.type("Their e-mail address", "grace@example.com");
    await hand.press("Create the link");
    expect(await page.getByRole("region", { name: "the link" }).textContent()).toContain("/console/invitation#");
    await hand.press("I have copied it");

    await next(page, "Create a key");
    await hand.press("Create a key");
    await hand.type("Name", "first");
    await hand.press("Create the key");
    const code = await page.getByRole("region", { name: "Sample code" }).textContent();
    expect(code).toContain(`${gateway.url}/v1/chat/completions`);
    expect(code).toContain('"gpt-4o-mini"');
    await hand.press("I have copied it: open the playground");

    await hand.type("Message", "Say yes.");
    await hand.press("Send");
    await page.locator("article .columns .answer-text", { hasText: "yes" }).waitFor();
    await page.locator(".receipt").getByText("tokens").waitFor();
    expect(vendor.seen.at(-1)).toBe(KEY);
    await expect.poll(() => isAllDone(page)).toBe(true);
    expect(hand.clicks + 1).toBeLessThanOrEqual(CLICKS_MAX);
    expect(complaints).toEqual([]);
    await context.close();
    await browser.close();
  });
});

/** Whether the gateway lacks nothing any more. */
async function isAllDone(page: Page): Promise<boolean> {
  return page.evaluate(async () => {
    const answer = await fetch("/api/v1/settings/first-steps", { headers: { "x-tollgate-console": "1" } });
    return Object.values((await answer.json()) as object).every((isDone) => isDone === true);
  });
}

/** The strip above a page says which step is next. */
async function next(page: Page, step: string): Promise<void> {
  await page.getByRole("region", { name: "First steps" }).getByRole("link", { name: step }).waitFor();
}
