/** People in the console: invited by a link, given roles, shown only what these allow, and removed. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { joinWorld, type World } from "./world.js";

let world: World;
beforeAll(async () => {
  world = await joinWorld("people", 0);
});
afterAll(() => world.close());

const PASSWORD = "another toll for a gate";

test("somebody is invited, joins, gets another role and is removed", async () => {
  const page = await world.open("/members");
  await page.getByRole("button", { name: "Invite somebody" }).click();
  await page.getByLabel("Their e-mail address").fill("grace@example.com");
  await page.getByLabel("Role").selectOption("viewer");
  await page.getByRole("button", { name: "Create the link" }).click();
  const link = await linkIn(page);
  await page.getByRole("button", { name: "I have copied it" }).click();
  await page.getByRole("cell", { name: "grace@example.com", exact: true }).waitFor();

  const guest = await world.openFresh(link);
  await guest.getByLabel("E-mail").fill("grace@example.com");
  await guest.getByLabel("Your name").fill("Grace Hopper");
  await guest.getByLabel("Password").fill(PASSWORD);
  await guest.getByRole("button", { name: "Join" }).click();
  await guest.getByRole("heading", { name: "Overview" }).waitFor();
  // A viewer sees neither members nor the audit log, and cannot make keys.
  expect(await namesIn(guest)).toEqual([
    "Overview",
    "Keys",
    "Requests",
    "Usage",
    "Models",
    "Playground",
    "Billing",
    "Alerts",
    "Docs",
  ]);
  await guest.getByRole("link", { name: "Keys", exact: true }).click();
  await guest.getByRole("link", { name: "backend" }).waitFor();
  expect(await guest.getByRole("button", { name: "Create a key" }).count()).toBe(0);

  await page.reload();
  const row = page.getByRole("row").filter({ hasText: "Grace Hopper" });
  await row.getByRole("button", { name: "Change role" }).click();
  await page.getByLabel("Role").selectOption("admin");
  await page.getByText("Can change all keys, members and alerts").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Change the role" }).click();
  await row.getByText("admin").waitFor();
  await guest.reload();
  await guest.getByRole("link", { name: "Audit", exact: true }).waitFor();
  expect(await namesIn(guest)).toContain("Members");

  await row.getByRole("button", { name: "Remove" }).click();
  await page.getByText("They lose access to the account at once").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await row.waitFor({ state: "detached" });
  await guest.reload();
  await guest.getByText("You have no account yet").waitFor();
  await guest.context().close();
  await page.context().close();
});

test("a link works once, and an invitation that was taken back not at all", async () => {
  const page = await world.open("/members");
  await page.getByRole("button", { name: "Invite somebody" }).click();
  await page.getByLabel("Their e-mail address").fill("mallory@example.com");
  await page.getByRole("button", { name: "Create the link" }).click();
  const link = await linkIn(page);
  await page.getByRole("button", { name: "I have copied it" }).click();
  const row = page.getByRole("row").filter({ hasText: "mallory@example.com" });
  await row.getByRole("button", { name: "Revoke" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  await row.waitFor({ state: "detached" });
  const guest = await world.openFresh(link);
  await guest.getByLabel("E-mail").fill("mallory@example.com");
  await guest.getByLabel("Password").fill(PASSWORD);
  await guest.getByRole("button", { name: "Join" }).click();
  await guest.getByText("You have not joined.").waitFor();
  await guest.context().close();
  await page.context().close();
});

test("an operator invites an auditor, who changes nothing, and lets a password be set anew", async () => {
  const page = await world.open("/admin/people");
  await page.getByRole("button", { name: "Invite somebody" }).click();
  await page.getByLabel("Role").selectOption("auditor");
  await page.getByRole("button", { name: "Create the link" }).click();
  const guest = await world.openFresh(await linkIn(page));
  await guest.getByLabel("E-mail").fill("emmy@example.com");
  await guest.getByLabel("Your name").fill("Emmy Noether");
  await guest.getByLabel("Password").fill(PASSWORD);
  await guest.getByRole("button", { name: "Join" }).click();
  await guest.getByRole("heading", { name: "Overview" }).waitFor();
  await world.go(guest, "/admin/accounts/people");
  await guest.getByRole("heading", { name: "Acme Robotics" }).waitFor();
  expect(await guest.getByRole("button", { name: "Credit" }).count()).toBe(0);

  await world.go(page, "/admin/people");
  const row = page.getByRole("row").filter({ hasText: "Emmy Noether" });
  await row.getByRole("button", { name: "Reset password" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Create the link" }).click();
  const link = await linkIn(page);
  await guest.goto(world.url + "/console" + link);
  await guest.getByLabel("Password").fill("yet another toll of hers");
  await guest.getByRole("button", { name: "Set the password" }).click();
  await guest.getByRole("link", { name: "Go to sign-in" }).click();
  await guest.getByLabel("E-mail").fill("emmy@example.com");
  await guest.getByLabel("Password").fill("yet another toll of hers");
  await guest.getByRole("button", { name: "Sign in", exact: true }).click();
  await guest.getByRole("heading", { name: "Overview" }).waitFor();
  await guest.context().close();
  await page.context().close();
});

/** The path of the link that is shown this once. */
async function linkIn(page: Page): Promise<string> {
  const text = (await page.locator("[role=alertdialog] pre").first().textContent()) ?? "";
  expect(text).toMatch(/^http:.*\/console\/(invitation|password)#\S{20,}$/);
  return text.slice(text.indexOf("/console") + "/console".length);
}

/** What navigation offers. */
async function namesIn(page: Page): Promise<readonly string[]> {
  await page.getByRole("navigation", { name: "Pages" }).waitFor();
  return page.getByRole("navigation", { name: "Pages" }).getByRole("link").allTextContents();
}
