/** A person's own page: the name, the authenticator app, the recovery codes, the sessions and the password. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { authenticator } from "../../support/authenticator.js";
import { violationsOf } from "./axe.js";
import { CLICKS_MAX, codesIn, countClicks, fillSignIn, join, openMe, PASSWORD, shownIn } from "./own-page.js";
import { joinWorld, type World } from "./world.js";

let world: World;
beforeAll(async () => {
  world = await joinWorld("me", 0);
});
afterAll(() => world.close());

/** A page in another browser, which has not sent the form of the sign-in yet. */
async function signInForm(email: string, password: string): Promise<Page> {
  const page = await world.openFresh("/me");
  await fillSignIn(page, email, password);
  return page;
}

/** Sets up an authenticator app on the page. */
async function setUp(page: Page): Promise<{ show: () => string; codes: readonly string[] }> {
  await page.getByRole("button", { name: "Set up an authenticator app" }).click();
  const secret = await shownIn(page, "the secret");
  expect(secret).toMatch(/^[A-Z2-7]{32}$/);
  const uri = await page.getByRole("link", { name: "Open in an authenticator app" }).getAttribute("href");
  expect(uri).toMatch(new RegExp(`^otpauth://totp/Tollgate:.*[?]secret=${secret}&`));
  expect(await violationsOf(page)).toEqual([]);
  const show = authenticator(secret);
  await page.getByLabel("Code that the app shows").fill(show());
  await page.getByRole("button", { name: "Turn on the app" }).click();
  return { show, codes: await codesIn(page) };
}

test("a second factor in six clicks, a sign-in with it, new recovery codes, and its removal", async () => {
  const email = "hedy@example.com";
  const page = await join(world, email);
  const clicks = await countClicks(page);
  await openMe(page);
  const { show, codes } = await setUp(page);
  await page.getByText("You have 10 unused recovery codes").waitFor();
  const made = await clicks();
  expect(made).toBeGreaterThan(0);
  expect(made).toBeLessThanOrEqual(CLICKS_MAX);

  const other = await signInForm(email, PASSWORD);
  await other.getByLabel("Second-factor code").fill(show());
  await other.getByRole("button", { name: "Sign in", exact: true }).click();
  await other.getByRole("heading", { name: "Your account" }).waitFor();

  // Who signed in a while ago shows the password once more, with a recovery code in place of the app's.
  const newCodes = "**/api/v1/session/second-factor/recovery-codes";
  await page.route(newCodes, (route) =>
    route.fulfill({
      status: 403,
      headers: { "x-tollgate-reason": "PROOF_NEEDED", "content-type": "application/json" },
      body: JSON.stringify({ error: { message: "You signed in more than 30 minutes ago." } }),
    }),
  );
  await page.getByRole("button", { name: "Create new recovery codes" }).click();
  const create = page.getByRole("dialog").getByRole("button", { name: "Create the codes" });
  await create.click();
  await page.getByRole("button", { name: "Enter your password" }).click();
  await page.getByLabel("Password", { exact: true }).fill(PASSWORD);
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByLabel("Second-factor code").fill(codes[0] ?? "");
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByText("Confirmed. Try again now.").waitFor();
  await page.unroute(newCodes);
  await create.click();
  const anew = await codesIn(page);
  expect(anew.filter((code) => codes.includes(code))).toEqual([]);

  await page.getByRole("button", { name: "Remove the authenticator app" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove", exact: true }).click();
  await page.getByRole("button", { name: "Set up an authenticator app" }).waitFor();
  await page.getByText("unused recovery codes").waitFor({ state: "detached" });
  const third = await signInForm(email, PASSWORD);
  await third.getByRole("heading", { name: "Your account" }).waitFor();
  for (const one of [page, other, third]) await one.context().close();
});

test("the list of sessions ends one of them, and all others", async () => {
  const email = "radia@example.com";
  const page = await join(world, email);
  const others = [await signInForm(email, PASSWORD)];
  await others[0]?.getByRole("heading", { name: "Your account" }).waitFor();
  await openMe(page);
  const rows = page.getByRole("region", { name: "Sessions" }).locator("tbody tr");
  await expect.poll(() => rows.count()).toBe(2);
  expect(await rows.first().textContent()).toMatch(/Chrome on Linux.*this session/);
  expect(await rows.first().getByRole("button").count()).toBe(0);
  await rows.nth(1).getByRole("button", { name: "End" }).click();
  await page.getByText("Chrome on Linux is signed out at once").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "End the session" }).click();
  await expect.poll(() => rows.count()).toBe(1);
  expect(await page.getByRole("button", { name: "End all other sessions" }).count()).toBe(0);

  for (let count = 0; count < 2; count++) others.push(await signInForm(email, PASSWORD));
  for (const one of others.slice(1)) await one.getByRole("heading", { name: "Your account" }).waitFor();
  await page.reload();
  await expect.poll(() => rows.count()).toBe(3);
  await page.getByRole("button", { name: "End all other sessions" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "End the sessions" }).click();
  await expect.poll(() => rows.count()).toBe(1);
  for (const one of others) {
    await one.reload();
    await one.getByRole("heading", { name: "Sign in" }).waitFor();
    await one.context().close();
  }
  await page.context().close();
});

test("a person is called by another name at once, and the record of it does not tell the name", async () => {
  const page = await join(world, "grace.hopper@example.com");
  await openMe(page);
  await page.getByRole("button", { name: "Change name" }).click();
  await page.getByLabel("Your name", { exact: true }).fill("Rear Admiral Hopper");
  await page.getByRole("button", { name: "Change the name" }).click();
  await page.getByText("You are signed in as Rear Admiral Hopper, grace.hopper@example.com.").waitFor();
  const told = await world.api<{ audit_events: unknown[] }>("/api/v1/audit_events?method=IdentityService.ChangeName");
  expect(told.audit_events).toHaveLength(1);
  expect(JSON.stringify(told.audit_events[0])).toContain("changed");
  await page.context().close();
});

test("on a phone the sessions show from where each one was signed in", async () => {
  const page = await join(world, "phone@example.com");
  await page.setViewportSize({ width: 360, height: 800 });
  await world.go(page, "/me");
  const row = page.getByRole("region", { name: "Sessions" }).locator("tbody tr").first();
  await row.getByText("Chrome on Linux").waitFor();
  expect(await row.getByText("127.0.0.1").isVisible()).toBe(true);
  const { scroll, width } = await page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    return { scroll: scrollWidth, width: clientWidth };
  });
  expect(scroll).toBeLessThanOrEqual(width);
  await page.context().close();
});

test("a new password ends every session, and signs in", async () => {
  const email = "annie@example.com";
  const page = await join(world, email);
  await openMe(page);
  await page.getByRole("button", { name: "Change password" }).click();
  await page.getByLabel("Current password").fill("not the password");
  await page.getByLabel("New password").fill("a toll that is new");
  await page.getByRole("button", { name: "Change the password" }).click();
  await page.getByText("The password was not changed.").waitFor();
  await page.getByLabel("Current password").fill(PASSWORD);
  await page.getByRole("button", { name: "Change the password" }).click();
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  await fillSignIn(page, email, "a toll that is new");
  await page.getByRole("heading", { name: "Your account" }).waitFor();
  await page.context().close();
});

test("where an account requires a second factor its pages lead to the own page", async () => {
  const page = await join(world, "mary@example.com");
  await world.api("/api/v1/accounts/me/security", { requires_second_factor: true }, "PATCH");
  // The console learns of it from the refusal of a page.
  await page.getByRole("link", { name: "Requests", exact: true }).click();
  const way = page.getByRole("main").getByRole("link", { name: "Go to your account" });
  await way.first().waitFor();
  // And at its start from the session.
  await page.reload();
  await page.getByRole("heading", { name: "Set up a second factor" }).waitFor();
  await way.click();
  await page.getByText("This account or gateway requires a second factor.").waitFor();
  await setUp(page);
  await page.getByRole("link", { name: "Requests", exact: true }).click();
  await page.getByRole("heading", { name: "Requests" }).waitFor();
  await page.context().close();
  await world.api("/api/v1/accounts/me/security", { requires_second_factor: false }, "PATCH");
});
