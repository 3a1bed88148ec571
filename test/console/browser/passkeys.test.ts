/** Passkeys in a browser that has an authenticator of its own: added, used to sign in and to prove, and removed. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { violationsOf } from "./axe.js";
import { here, press, tabTo } from "./by-keyboard.js";
import { CLICKS_MAX, codesIn, countClicks, fillSignIn, join, openMe, PASSWORD } from "./own-page.js";
import { joinWorld, type World } from "./world.js";

let world: World;
/** Browsers give passkeys to host names alone. */
let origin: string;
beforeAll(async () => {
  world = await joinWorld("passkeys", 0);
  origin = world.url.replace("127.0.0.1", "localhost");
});
afterAll(() => world.close());

/** Somebody new, on a page whose browser has an authenticator that says yes. */
async function joinWithAuthenticator(email: string): Promise<Page> {
  const page = await join(world, email, origin);
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("WebAuthn.enable");
  await devtools.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return page;
}

async function signOut(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Your account, theme and sign-out" }).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
}

test("by mouse a passkey is added in six clicks, signs in in six, proves, is renamed and removed", async () => {
  const email = "lise@example.com";
  const page = await joinWithAuthenticator(email);
  const clicks = await countClicks(page);
  await openMe(page);
  await page.getByRole("button", { name: "Add a passkey" }).click();
  await page.getByRole("alertdialog").waitFor();
  expect(await violationsOf(page)).toEqual([]);
  await page.getByRole("button", { name: "Add", exact: true }).click();
  const codes = await codesIn(page);
  const rows = page.getByRole("region", { name: "Passkeys" }).locator("tbody tr");
  await expect.poll(() => rows.count()).toBe(1);
  expect(await rows.first().textContent()).toMatch(/Chrome on Linux.*never/);
  await page.getByText("You have 10 unused recovery codes").waitFor();
  expect(await clicks()).toBeGreaterThan(0);
  expect(await clicks()).toBeLessThanOrEqual(CLICKS_MAX);
  expect(await violationsOf(page)).toEqual([]);
  await world.keepPicture(page, "own-page-passkeys");

  // The same authenticator keeps one passkey of a person.
  await page.getByRole("button", { name: "Add a passkey" }).click();
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await page.getByText("already has a passkey of yours").waitFor();
  await page.getByRole("button", { name: "Cancel" }).click();

  await signOut(page);
  const signInClicks = await countClicks(page);
  await page.getByLabel("E-mail").click();
  await page.keyboard.type(email);
  await page.getByLabel("Password").click();
  await page.keyboard.type(PASSWORD);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.getByRole("button", { name: "Use a passkey" }).waitFor();
  expect(await violationsOf(page)).toEqual([]);
  expect(await signInClicks()).toBeLessThanOrEqual(CLICKS_MAX - 1);
  await page.getByRole("button", { name: "Use a passkey" }).click();
  await page.getByRole("heading", { name: "Your account" }).waitFor();
  await expect.poll(() => rows.first().textContent()).not.toContain("never");

  // A browser without the passkey signs in with a recovery code.
  const other = await world.openFresh("/");
  await other.goto(`${origin}/console/me`);
  await fillSignIn(other, email, PASSWORD);
  await other.getByRole("button", { name: "Use a passkey" }).waitFor();
  await other.getByLabel("Second-factor code").fill(codes[0] ?? "");
  await other.getByRole("button", { name: "Sign in", exact: true }).click();
  await other.getByRole("heading", { name: "Your account" }).waitFor();
  await other.context().close();

  // Who signed in a while ago shows the password once more, and the passkey.
  const old = "**/api/v1/session/passkeys/*";
  await page.route(old, (route) =>
    route.request().method() === "DELETE"
      ? route.fulfill({
          status: 403,
          headers: { "x-tollgate-reason": "PROOF_NEEDED", "content-type": "application/json" },
          body: JSON.stringify({ error: { message: "You signed in more than 30 minutes ago." } }),
        })
      : route.fallback(),
  );
  await rows.first().getByRole("button", { name: "Rename" }).click();
  await page.getByLabel("Name", { exact: true }).fill("Laptop");
  await page.getByRole("dialog").getByRole("button", { name: "Rename" }).click();
  await rows.first().getByText("Laptop").waitFor();
  await rows.first().getByRole("button", { name: "Remove" }).click();
  const remove = page.getByRole("button", { name: "Remove the passkey" });
  await remove.click();
  await page.getByRole("button", { name: "Enter your password" }).click();
  await page.getByLabel("Password", { exact: true }).fill(PASSWORD);
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("button", { name: "Use a passkey" }).click();
  await page.getByText("Confirmed. Try again now.").waitFor();
  await page.unroute(old);
  await remove.click();
  await expect.poll(() => rows.count()).toBe(0);
  await page.getByText("unused recovery codes").waitFor({ state: "detached" });
  await signOut(page);
  await fillSignIn(page, email, PASSWORD);
  await page.getByRole("heading", { name: "Your account" }).waitFor();
  await page.context().close();
});

test("by keyboard at 360 pixels a passkey is added and signs in, and the focus is always seen", async () => {
  const email = "chien@example.com";
  const page = await joinWithAuthenticator(email);
  await page.setViewportSize({ width: 360, height: 800 });
  await page.goto(`${origin}/console/me`);
  await page.getByRole("button", { name: "Add a passkey" }).waitFor();
  await press(page, "Add a passkey");
  await page.getByRole("alertdialog").waitFor();
  await tabTo(page, "Name");
  await page.keyboard.press("Enter");
  await page.getByText("the only time").waitFor();
  await press(page, "I have saved them");
  await page.getByRole("alertdialog").waitFor({ state: "detached" });
  await expect.poll(async () => (await here(page)).name).toBe("Add a passkey");
  const widths = await page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    return { scrollWidth, clientWidth };
  });
  expect(widths.scrollWidth).toBeLessThanOrEqual(widths.clientWidth);

  await page.evaluate(() =>
    fetch("/api/v1/sessions:end", {
      method: "POST",
      headers: { "x-tollgate-console": "1", "content-type": "application/json" },
      body: "{}",
    }),
  );
  await page.reload();
  await page.getByLabel("E-mail").waitFor();
  await tabTo(page, "E-mail");
  await page.keyboard.type(email);
  await tabTo(page, "Password");
  await page.keyboard.type(PASSWORD);
  await page.keyboard.press("Enter");
  // The focus waits on what comes next.
  await expect.poll(async () => (await here(page)).name).toBe("Use a passkey");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Your account" }).waitFor();
  await page.context().close();
});

test("at another address of the gateway the page leads to the one that has passkeys", async () => {
  const page = await join(world, "barbara@example.com");
  await openMe(page);
  const link = page.getByRole("link", { name: origin });
  expect(await link.getAttribute("href")).toBe(`${origin}/console/me`);
  expect(await page.getByRole("button", { name: "Add a passkey" }).count()).toBe(0);
  await page.context().close();
});
