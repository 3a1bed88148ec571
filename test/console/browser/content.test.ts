/** What requests say: kept once an operator turns it on in the page, shown to operators alone, and forgotten. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { script } from "../../support/fake-upstream.js";
import { violationsOf } from "./axe.js";
import { generate, joinWorld, SCRIPT_NAME, type World } from "./world.js";

const NUMBER = "078-05-1120";
let world: World;
beforeAll(async () => {
  world = await joinWorld("content", 0);
});
afterAll(() => world.close());

async function ask(said: string, user: string): Promise<string> {
  const answer = await generate(world.url, world.keys[0]?.secret ?? "", "fake-1", said, { user });
  await answer.text();
  return answer.headers.get("x-request-id") ?? "";
}

/** Content is kept a moment after its answer; a page that asked too early is asked again. */
async function read(page: Page, id: string, shows: string): Promise<void> {
  await expect
    .poll(async () => {
      await world.go(page, `/requests/${id}`);
      await page.getByRole("button", { name: "Show content" }).click();
      await page.getByText("Show content", { exact: true }).waitFor({ state: "detached" });
      return page.getByText(shows).first().isVisible();
    })
    .toBe(true);
}

test("it is turned on in the account's page, read in the request's, and a person is forgotten", async () => {
  const page = await world.open("/admin/accounts/content");
  await page.getByText("Prompts and answers are not stored.").waitFor();
  const unkept = await ask("before it was on", "ann");
  await page.getByRole("button", { name: "Change", exact: true }).click();
  await page.getByText("Operators can read them; the audit log records each reading.").waitFor();
  expect(await violationsOf(page)).toEqual([]);
  await page.getByLabel("Store prompts and answers").check();
  await page.getByLabel("Redaction rules").fill("ab");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Nothing was changed.").waitFor();
  await page.getByLabel("Redaction rules").fill("###-##-####");
  await page.getByLabel("Limit per request or answer, KiB").fill("many");
  await page.getByText("Enter a whole number, or leave the field empty.").waitFor();
  await expect.poll(() => page.getByRole("button", { name: "Save" }).isDisabled()).toBe(true);
  await page.getByLabel("Limit per request or answer, KiB").fill("32");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.getByText("32 KiB").waitFor();
  await page.getByText("###-##-####").waitFor();
  await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe("Change");

  const id = await ask(script({ text: `Yours is ${NUMBER}. ${SCRIPT_NAME}` }), "ann");
  await read(page, id, "Yours is [redacted].");
  expect(await page.content()).not.toContain(NUMBER);
  expect(await violationsOf(page)).toEqual([]);
  await world.go(page, `/requests/${unkept}`);
  await page.getByRole("button", { name: "Show content" }).click();
  await page.getByText("No content is stored for this request").waitFor();
  await world.go(page, "/admin/audit?method=ReadRequestContent");
  await page.getByText(`read the content of the request ${id}`).first().waitFor();
  await world.go(page, "/");
  await page.getByText("This gateway stores the prompts and answers of this account").waitFor();

  await world.go(page, "/admin/accounts/content");
  await page.getByRole("button", { name: "Erase a person" }).click();
  await page.getByLabel("End user").fill("ann");
  await page.getByRole("button", { name: "Erase the person" }).click();
  await page.getByText("Removed the person from 2 requests; deleted the content of 1.").waitFor();
  await page.getByRole("button", { name: "Done" }).click();
  await world.go(page, `/requests/${id}`);
  await page.getByRole("button", { name: "Show content" }).click();
  await page.getByText("No content is stored for this request").waitFor();
  await page.context().close();
});

test("who is no operator is not offered it", async () => {
  const id = await ask("Hello.", "bob");
  const page = await world.open("/members");
  await page.getByRole("button", { name: "Invite somebody" }).click();
  await page.getByLabel("Their e-mail address").fill("owner@example.com");
  await page.getByLabel("Role").selectOption("owner");
  await page.getByRole("button", { name: "Create the link" }).click();
  const link = (await page.locator("[role=alertdialog] pre").first().textContent()) ?? "";
  const guest = await world.openFresh(link.slice(link.indexOf("/console") + "/console".length));
  await guest.getByLabel("E-mail").fill("owner@example.com");
  await guest.getByLabel("Your name").fill("An owner");
  await guest.getByLabel("Password").fill("another toll for a gate");
  await guest.getByRole("button", { name: "Join" }).click();
  await guest.getByRole("heading", { name: "Overview" }).waitFor();
  await world.go(guest, `/requests/${id}`);
  await guest.getByRole("heading", { name: "Ledger entries" }).waitFor();
  expect(await guest.getByRole("button", { name: "Show content" }).count()).toBe(0);
  await guest.context().close();
  await page.context().close();
});
