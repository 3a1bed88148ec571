/** Plans by forms: an account of a plan with a member, what its owner may change, and a changed plan for all. */
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { press, tabTo } from "./by-keyboard.js";
import { MOUSE } from "./hand.js";
import { joinWorld, type World } from "./world.js";

let world: World;
beforeAll(async () => {
  world = await joinWorld("plans", 0);
});
afterAll(() => world.close());

interface Settings {
  readonly account: { readonly plan: string; readonly settings: Readonly<Record<string, unknown>> };
}
/** A form that is not closed by a click beside it is an alertdialog. */
const dialogOf = (page: Page): Locator => page.locator("[role=dialog], [role=alertdialog]");
const settingsOf = async (id: string): Promise<Settings["account"]> =>
  (await world.api<Settings>(`/api/v1/accounts/${id}`)).account;

test("a plan and an account of it with a budget and a member take twelve clicks at most", async () => {
  const page = await world.open("/admin/plans");
  const hand = MOUSE.at(page);
  await hand.press("Add a plan");
  await page.getByLabel("Name", { exact: true }).fill("by-form");
  await page.getByLabel("Monthly budget, USD").first().fill("100.00");
  await hand.press("Each member");
  await page.getByLabel("Monthly budget, USD").nth(1).fill("20.00");
  await hand.press("Save");
  await page.getByRole("row", { name: /by-form/ }).waitFor();

  await world.go(page, "/admin/accounts");
  await hand.press("Create an account");
  await page.getByLabel("Id", { exact: true }).fill("of-plan");
  await page.getByLabel("Plan", { exact: true }).selectOption("by-form");
  await page.getByLabel("Daily budget, USD").fill("9.00");
  await hand.press("Create the account");
  await page.getByRole("heading", { name: "Budgets and limits" }).waitFor();
  await page.getByText("$100.00").first().waitFor();
  await hand.press("Switch to account");
  await hand.press("Members");
  await hand.press("Invite somebody");
  await hand.press("Create the link");
  await page.getByText("This is the only time the link is shown.").waitFor();
  expect(hand.clicks).toBeLessThanOrEqual(12);
  expect(await settingsOf("of-plan")).toMatchObject({
    plan: "by-form",
    settings: { budget_month_nanos: "100000000000", budget_day_nanos: "9000000000" },
  });
  await page.context().close();
});

test("a changed plan is applied to all after its effect was shown", async () => {
  const page = await world.open("/admin/plans");
  const row = page.getByRole("row", { name: /by-form/ });
  await row.getByRole("button", { name: "Change", exact: true }).click();
  await page.getByLabel("Monthly budget, USD").first().fill("50.00");
  await page.getByRole("button", { name: "Add a model limit" }).click();
  await page.getByLabel("Model or pattern such as gpt-*").fill("sim-*");
  await page.getByLabel("Concurrent requests").nth(1).fill("3");
  await dialogOf(page).getByRole("button", { name: "Save" }).click();
  await row.getByText("$50.00").waitFor();
  expect((await settingsOf("of-plan")).settings).toMatchObject({ budget_month_nanos: "100000000000" });
  await row.getByRole("button", { name: "Apply to all" }).click();
  await page.getByText("Accounts of the plan: 1. Accounts that would change: 1.").waitFor();
  await page.getByText("in 1 account").first().waitFor();
  await page.getByRole("button", { name: "Change accounts: 1" }).click();
  await dialogOf(page).waitFor({ state: "detached" });
  // The daily budget of the one account is the plan's again, which has none.
  expect((await settingsOf("of-plan")).settings).toMatchObject({
    budget_month_nanos: "50000000000",
    budget_day_nanos: "0",
    model_limits: [{ model: "sim-*", concurrency: "3" }],
  });
  await page.context().close();
});

test("an owner sees the plan, changes the account within it, and reads why more is refused", async () => {
  const { token } = await world.api<{ token: string }>("/api/v1/accounts/of-plan/invitations", { role: "owner" });
  const page = await world.openFresh(`/invitation#${token}`);
  await page.getByLabel("E-mail").fill("olga.plans@example.com");
  await page.getByLabel("Your name").fill("Olga");
  await page.getByLabel("Password", { exact: true }).fill("a password of the owner");
  await page.getByRole("button", { name: "Join" }).click();
  await page.getByRole("link", { name: "Account settings" }).click();
  await page.getByText("by-form").first().waitFor();
  await page.getByRole("button", { name: "Change budgets and limits" }).click();
  await page.getByText("At most $50.00, by the plan.").waitFor();
  await page.getByLabel("Monthly budget, USD").fill("60.00");
  await dialogOf(page).getByRole("button", { name: "Save" }).click();
  await page.getByText("the plan by-form allows no more").waitFor();
  await page.getByLabel("Monthly budget, USD").fill("40.00");
  await dialogOf(page).getByRole("button", { name: "Save" }).click();
  await dialogOf(page).waitFor({ state: "detached" });
  await page.getByText("$40.00").first().waitFor();
  expect((await settingsOf("of-plan")).settings).toMatchObject({ budget_month_nanos: "40000000000" });
  await page.getByRole("button", { name: "Require a second factor" }).waitFor();
  await page.context().close();
});

test("the limits of a member are changed without a mouse on a narrow screen", async () => {
  const page = await world.open("/members?account=of-plan", { viewport: { width: 360, height: 800 } });
  await page.goto(`${world.url}/console/members?account=of-plan`);
  await page.getByRole("row", { name: /Olga/ }).waitFor();
  await press(page, "Limits");
  await page.getByRole("heading", { name: "Limits of Olga" }).waitFor();
  // The plan's, from the first.
  await page.getByLabel("Monthly budget, USD").waitFor();
  expect(await page.getByLabel("Monthly budget, USD").inputValue()).toBe("20.00");
  await tabTo(page, "Monthly budget, USD");
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.type("7.00");
  await page.keyboard.press("Enter");
  await dialogOf(page).waitFor({ state: "detached" });
  await press(page, "Limits");
  await page.getByLabel("Monthly budget, USD").waitFor();
  expect(await page.getByLabel("Monthly budget, USD").inputValue()).toBe("7.00");
  await page.keyboard.press("Escape");
  await page.context().close();
});

test("a plan that is deleted is shown as gone, and its account stays", async () => {
  await world.api("/api/v1/settings/objects/plan/by-form", undefined, "DELETE");
  const page = await world.open("/admin/accounts/of-plan");
  await page.getByText("by-form (no longer there)").waitFor();
  await page.getByRole("button", { name: "Change plan" }).click();
  await page.getByLabel("Plan", { exact: true }).selectOption("");
  await dialogOf(page).getByRole("button", { name: "Save" }).click();
  await page.getByText("The account has no plan").waitFor();
  expect(await settingsOf("of-plan")).toMatchObject({ plan: "", settings: { budget_month_nanos: "40000000000" } });
  await page.context().close();
});
