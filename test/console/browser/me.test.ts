/** A person's own page: the second factor, the recovery codes, the sessions and the password. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { authenticator } from "../../support/authenticator.js";
import { violationsOf } from "./axe.js";
import { joinWorld, type World } from "./world.js";

const PASSWORD = "a toll of her very own";
const CLICKS_MAX = 6;
let world: World;
beforeAll(async () => {
  world = await joinWorld("me", 0);
});
afterAll(() => world.close());

/** A page of somebody new, who has just joined the account. */
async function join(email: string): Promise<Page> {
  const { token } = await world.api<{ token: string }>("/api/v1/accounts/me/invitations", { role: "member" });
  const page = await world.openFresh(`/invitation#${token}`);
  await page.getByLabel("E-mail").fill(email);
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Join" }).click();
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  return page;
}

/** A page in another browser, which has not sent the form of the sign-in yet. */
async function signInForm(email: string, password: string): Promise<Page> {
  const page = await world.openFresh("/me");
  await fillSignIn(page, email, password);
  return page;
}

async function fillSignIn(page: Page, email: string, password: string): Promise<void> {
  await page.getByLabel("E-mail").fill(email);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
}

/** Counts what is pressed on the page from now on. */
async function countClicks(page: Page): Promise<() => Promise<number>> {
  await page.evaluate(() => {
    const { dataset } = document.documentElement;
    dataset["clicks"] = "0";
    const count = (): void => void (dataset["clicks"] = String(Number(dataset["clicks"]) + 1));
    window.addEventListener("pointerdown", count, { capture: true });
  });
  return () => page.evaluate(() => Number(document.documentElement.dataset["clicks"]));
}

async function openMe(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Your account, theme and sign-out" }).click();
  await page.getByRole("menuitem", { name: "Your account" }).click();
  await page.getByRole("heading", { name: "Your account" }).waitFor();
}

/** What a dialog shows this once. */
async function shownIn(page: Page, what: string): Promise<string> {
  const region = page.getByRole("alertdialog").getByRole("region", { name: what });
  return (await region.textContent()) ?? "";
}

async function codesIn(page: Page): Promise<readonly string[]> {
  const codes = (await shownIn(page, "the recovery codes")).split("\n");
  expect(codes).toHaveLength(10);
  expect(await violationsOf(page)).toEqual([]);
  await page.getByRole("button", { name: "I have saved them" }).click();
  await page.getByRole("alertdialog").waitFor({ state: "detached" });
  return codes;
}

/** Sets up a second factor on the page. */
async function setUp(page: Page): Promise<{ show: () => string; codes: readonly string[] }> {
  await page.getByRole("button", { name: "Set up a second factor" }).click();
  const secret = await shownIn(page, "the secret");
  expect(secret).toMatch(/^[A-Z2-7]{32}$/);
  const uri = await page.getByRole("link", { name: "Open in an authenticator app" }).getAttribute("href");
  expect(uri).toMatch(new RegExp(`^otpauth://totp/Tollgate:.*[?]secret=${secret}&`));
  expect(await violationsOf(page)).toEqual([]);
  const show = authenticator(secret);
  await page.getByLabel("Code that the app shows").fill(show());
  await page.getByRole("button", { name: "Turn on the second factor" }).click();
  return { show, codes: await codesIn(page) };
}

test("a second factor in six clicks, a sign-in with it, new recovery codes, and its removal", async () => {
  const email = "hedy@example.com";
  const page = await join(email);
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

  await page.getByRole("button", { name: "Remove the second factor" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove", exact: true }).click();
  await page.getByRole("button", { name: "Set up a second factor" }).waitFor();
  await page.getByText("unused recovery codes").waitFor({ state: "detached" });
  const third = await signInForm(email, PASSWORD);
  await third.getByRole("heading", { name: "Your account" }).waitFor();
  for (const one of [page, other, third]) await one.context().close();
});

test("the list of sessions ends one of them, and all others", async () => {
  const email = "radia@example.com";
  const page = await join(email);
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

test("a new password ends every session, and signs in", async () => {
  const email = "annie@example.com";
  const page = await join(email);
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
  const page = await join("mary@example.com");
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
