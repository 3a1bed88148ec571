/** The playground on its own route: streamed, stopped, compared, refused; and the way there from the first link. */
import type { Page } from "playwright-core";
import { chromium } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { money } from "../../../console/format.js";
import { script } from "../../support/fake-upstream.js";
import { startGateway } from "../../support/gateway-process.js";
import { PERSON } from "./person.js";
import { CHROMIUM } from "./setup.js";
import { contextOf, joinWorld, SCRIPT_NAME, type World } from "./world.js";

const CLICKS_MAX = 6;
let world: World;
beforeAll(async () => {
  world = await joinWorld("playground", 0);
});
afterAll(() => world.close());

test("an answer streams in, its estimate stands before it and its receipt after it", async () => {
  const page = await world.open("/playground?model=fake-1");
  const routes: string[] = [];
  page.on("request", (request) => routes.push(new URL(request.url()).pathname));
  await page.getByLabel("Message").fill(script({ words: 8, eventDelayMs: 1_000 }));
  await page.getByText(/Costs at most \$0\.\d+: \$0\.\d+ for the message/).waitFor();
  await page.getByRole("button", { name: "Send" }).click();
  // Its beginning is seen while the rest is still to come.
  const answer = page.locator("article .columns .answer-text");
  await expect.poll(() => answer.textContent()).toMatch(/^word0/);
  expect(await page.getByRole("button", { name: "Stop" }).isVisible()).toBe(true);
  await expect.poll(() => answer.textContent()).toBe("word0 word1 word2 word3 word4 word5 word6 word7");
  expect(routes).toContain("/api/v1/accounts/playground/playground/chat/completions");
  expect(routes.filter((route) => route.startsWith("/v1/"))).toEqual([]);
  const receipt = page.locator(".receipt");
  await receipt.getByText("tokens").waitFor();
  await receipt.getByRole("link", { name: "See the request" }).click();
  await page.getByRole("heading", { name: "Ledger entries" }).waitFor();
  const id = page.url().split("/").at(-1)?.split("?")[0] ?? "";
  const { request } = await world.api<{ request: { charged_nanos: string; state: string } }>(`/api/v1/requests/${id}`);
  expect(request.state).toBe("settled");
  await page
    .getByText(money(BigInt(request.charged_nanos)))
    .first()
    .waitFor();
  await page.context().close();
});

test("it is stopped, and what came stays and is charged", async () => {
  const page = await world.open("/playground?model=fake-1");
  await page.getByLabel("Message").fill(script({ words: 30, eventDelayMs: 1_000 }));
  await page.getByRole("button", { name: "Send" }).click();
  const answer = page.locator("article .columns .answer-text");
  await expect.poll(() => answer.textContent()).toMatch(/^word0/);
  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByText("Stopped.").waitFor();
  expect(await answer.textContent()).not.toContain("word29");
  await page.context().close();
});

test("two models answer side by side, by keyboard alone", async () => {
  const page = await world.open("/playground?model=sim-1&beside=sim-small");
  await page.getByLabel("Message").waitFor();
  await page.keyboard.type("Hello.");
  await page.keyboard.press("Enter");
  await expect.poll(() => page.locator(".receipt").count()).toBe(2);
  await page.context().close();
});

test("what an upstream says of a failure is text, and the way on is said", async () => {
  const page = await world.open("/playground?model=fake-1");
  const body = JSON.stringify({ error: { message: SCRIPT_NAME, type: "invalid_request_error" } });
  await page.getByLabel("Message").fill(script({ status: 400, body }));
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByText("The request failed.").waitFor();
  expect(await page.getByRole("alert").textContent()).toContain(SCRIPT_NAME);
  await page.context().close();
});

test("from the first link to a streamed answer it takes six clicks at most", async () => {
  const gateway = await startGateway();
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
  const complaints: string[] = [];
  const page = await (await contextOf(browser, complaints, {})).newPage();
  try {
    let clicks = 0;
    const click = async (name: string, role: "button" | "link" = "button"): Promise<void> => {
      clicks += 1;
      await page.getByRole(role, { name, exact: true }).first().click();
    };
    // What the gateway tells a person may come after the word that it is ready.
    const told = (): string => /https?:\S+\/console\/welcome#\S+/.exec(gateway.told.join("\n"))?.[0] ?? "";
    await expect.poll(told).not.toBe("");
    const link = told();
    clicks += 1;
    await page.goto(link);
    await fill(page, "Your name", PERSON.name);
    await fill(page, "E-mail", PERSON.email);
    await fill(page, "Password", PERSON.password);
    await click("Become the operator");
    await fill(page, "Id", "acme");
    await click("Create the account");
    await click("Playground", "link");
    await fill(page, "Message", "Say hello.");
    await click("Send");
    await page.locator(".receipt").getByText("tokens").waitFor();
    expect(clicks).toBeLessThanOrEqual(CLICKS_MAX);
    expect(complaints).toEqual([]);
  } finally {
    await browser.close();
    await gateway.stop();
  }
});

async function fill(page: Page, label: string, text: string): Promise<void> {
  await page.getByLabel(label, { exact: true }).fill(text);
}
