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
      await page.getByRole("button", { name: "Read it" }).click();
      await page.getByText("Read it", { exact: true }).waitFor({ state: "detached" });
      return page.getByText(shows).first().isVisible();
    })
    .toBe(true);
}

test("it is turned on in the account's page, read in the request's, and a person is forgotten", async () => {
  const page = await world.open("/admin/accounts/content");
  await page.getByText("Nothing of what requests and answers say is kept.").waitFor();
  const unkept = await ask("before it was on", "ann");
  await page.getByRole("button", { name: "Change", exact: true }).click();
  await page.getByText("Operators can read it; each reading is in the audit log.").waitFor();
  expect(await violationsOf(page)).toEqual([]);
  await page.getByLabel("Keep what requests and answers say").check();
  await page.getByLabel("Taken out beside credentials").fill("ab");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Nothing was changed.").waitFor();
  await page.getByLabel("Taken out beside credentials").fill("###-##-####");
  await page.getByLabel("Most of each request and answer, KiB").fill("many");
  await page.getByText("Give a whole number, or leave it empty.").waitFor();
  await expect.poll(() => page.getByRole("button", { name: "Save" }).isDisabled()).toBe(true);
  await page.getByLabel("Most of each request and answer, KiB").fill("32");
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
  await page.getByRole("button", { name: "Read it" }).click();
  await page.getByText("Nothing is kept of this request").waitFor();
  await world.go(page, "/admin/audit?method=ReadRequestContent");
  await page.getByText(`requests/${id}`).first().waitFor();
  await world.go(page, "/");
  await page.getByText("Operators of this gateway have what requests of this account").waitFor();

  await world.go(page, "/admin/accounts/content");
  await page.getByRole("button", { name: "Forget a person" }).click();
  await page.getByLabel("End user").fill("ann");
  await page.getByRole("button", { name: "Forget the person" }).click();
  await page.getByText("2 requests name the person no more; the content of 1 was forgotten.").waitFor();
  await page.getByRole("button", { name: "Done" }).click();
  await world.go(page, `/requests/${id}`);
  await page.getByRole("button", { name: "Read it" }).click();
  await page.getByText("Nothing is kept of this request").waitFor();
  await page.context().close();
});

test("who is no operator is not offered it", async () => {
  const id = await ask("Hello.", "bob");
  const page = await world.open("/members");
  await page.getByRole("button", { name: "Invite somebody" }).click();
  await page.getByLabel("Their e-mail address").fill("owner@example.com");
  await page.getByLabel("Role").selectOption("owner");
  await page.getByRole("button", { name: "Make the link" }).click();
  const link = (await page.locator("[role=alertdialog] pre").first().textContent()) ?? "";
  const guest = await world.openFresh(link.slice(link.indexOf("/console") + "/console".length));
  await guest.getByLabel("E-mail").fill("owner@example.com");
  await guest.getByLabel("Your name").fill("An owner");
  await guest.getByLabel("Password").fill("another toll for a gate");
  await guest.getByRole("button", { name: "Join" }).click();
  await guest.getByRole("heading", { name: "Overview" }).waitFor();
  await world.go(guest, `/requests/${id}`);
  await guest.getByRole("heading", { name: "Ledger entries" }).waitFor();
  expect(await guest.getByRole("button", { name: "Read it" }).count()).toBe(0);
  await guest.context().close();
  await page.context().close();
});
