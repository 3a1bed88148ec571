/** What several tests of a person's own page do: join, sign in, and look at what is shown once. */
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { violationsOf } from "./axe.js";
import type { World } from "./world.js";

export const PASSWORD = "a toll of her very own";
export const CLICKS_MAX = 6;

/** A page of somebody new, who has just joined the account. `origin` is another one of the gateway's than its own. */
export async function join(world: World, email: string, origin = world.url): Promise<Page> {
  const path = `/api/v1/accounts/${world.account}/invitations`;
  const { token } = await world.api<{ token: string }>(path, { role: "member" });
  const page = await world.openFresh("/");
  await page.goto(`${origin}/console/invitation#${token}`);
  await page.getByLabel("E-mail").fill(email);
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Join" }).click();
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  return page;
}

export async function fillSignIn(page: Page, email: string, password: string): Promise<void> {
  await page.getByLabel("E-mail").fill(email);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
}

/** Counts what is pressed on the page from now on, until another page is loaded. */
export async function countClicks(page: Page): Promise<() => Promise<number>> {
  await page.evaluate(() => {
    const { dataset } = document.documentElement;
    const isCounted = "clicks" in dataset;
    dataset["clicks"] = "0";
    if (isCounted) return;
    const count = (): void => void (dataset["clicks"] = String(Number(dataset["clicks"]) + 1));
    window.addEventListener("pointerdown", count, { capture: true });
  });
  return () => page.evaluate(() => Number(document.documentElement.dataset["clicks"]));
}

export async function openMe(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Your account, theme and sign-out" }).click();
  await page.getByRole("menuitem", { name: "Your account" }).click();
  await page.getByRole("heading", { name: "Your account" }).waitFor();
}

/** What a dialog shows this once. */
export async function shownIn(page: Page, what: string): Promise<string> {
  const region = page.getByRole("alertdialog").getByRole("region", { name: what });
  return (await region.textContent()) ?? "";
}

export async function codesIn(page: Page): Promise<readonly string[]> {
  const codes = (await shownIn(page, "the recovery codes")).split("\n");
  expect(codes).toHaveLength(10);
  expect(await violationsOf(page)).toEqual([]);
  await page.getByRole("button", { name: "I have saved them" }).click();
  await page.getByRole("alertdialog").waitFor({ state: "detached" });
  return codes;
}
