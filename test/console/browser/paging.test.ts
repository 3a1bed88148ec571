/** A list whose next page is on its way: the page before stays in sight, and nothing of it can be used. */
import type { Page, Route } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { generate, joinWorld, type World } from "./world.js";

/** More than a page of the log of requests, of that of changes, and of keys. */
const REQUESTS = 101;
const KEYS = 101;
const AT_ONCE = 10;
let world: World;
beforeAll(async () => {
  world = await joinWorld("paging", 0);
  const { secret = "" } = world.keys[0] ?? {};
  let left = REQUESTS;
  const send = async (): Promise<void> => {
    while (left-- > 0) await (await generate(world.url, secret, "sim-1", "Hello.")).text();
  };
  await Promise.all(Array.from({ length: AT_ONCE }, send));
  const make = (): Promise<unknown> => world.api("/api/v1/keys", { account_id: "paging", settings: {} });
  for (let made = 0; made < KEYS; made += AT_ONCE) await Promise.all(Array.from({ length: AT_ONCE }, make));
  for (const { asks, size } of LISTS) await vi.waitFor(() => hasMore(asks, size), { timeout: 60_000, interval: 500 });
});
afterAll(() => world.close());

const LISTS = [
  { path: "/requests", asks: "/api/v1/requests", size: 100 },
  { path: "/audit", asks: "/api/v1/audit_events", size: 100 },
] as const;

test.each(LISTS)("of $path", async ({ path, asks }) => {
  const page = await world.open(path);
  const list = page.locator(".loaded");
  const older = page.getByRole("link", { name: "Older" });
  await older.waitFor();
  const file = page.getByRole("button", { name: "Download CSV" });
  const waiting: Route[] = [];
  await page.route(
    (url) => url.pathname === asks && url.searchParams.get("page_token") !== null,
    (route) => void waiting.push(route),
  );
  const before = await firstRow(page);
  await older.focus();
  await page.keyboard.press("Enter");
  await expect.poll(() => waiting.length).toBe(1);
  await expect.poll(() => list.getAttribute("aria-busy")).toBe("true");
  expect(await firstRow(page)).toBe(before);
  // Neither a click nor the keyboard reaches what belongs to the page before.
  expect(await older.evaluate((link) => link.closest("[inert]") !== null)).toBe(true);
  if (path === "/requests") expect(await file.evaluate((button) => button.closest("[inert]") !== null)).toBe(true);
  await waiting[0]?.continue();
  await expect.poll(() => list.getAttribute("aria-busy")).toBe("false");
  expect(await firstRow(page)).not.toBe(before);
  await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute("role"))).toBe("region");
  await page.context().close();
});

/** Records of requests come a moment after their answers. */
async function hasMore(path: string, size: number): Promise<void> {
  const answer = await world.api<{ next_page_token: string }>(`${path}?account_id=paging&page_size=${size}`);
  expect(answer.next_page_token).not.toBe("");
}

describe("a key that is on no page yet is found by the server, asked once,", () => {
  let page: Page;
  let asked: string[] = [];
  beforeEach(async () => {
    page = await world.open("/keys");
    await page.getByText("100 keys", { exact: true }).waitFor();
    expect(await page.getByRole("link", { name: "backend" }).count()).toBe(0);
    asked = [];
    page.on("request", (request) => {
      const { pathname, searchParams } = new URL(request.url());
      if (pathname === "/api/v1/keys" && searchParams.has("text")) asked.push(searchParams.get("text") ?? "");
    });
  });
  afterEach(() => page.context().close());

  test("in the list", async () => {
    await page.getByRole("searchbox").fill("BackEnd");
    await page.getByRole("link", { name: "backend" }).waitFor();
    await page.getByText("1 key", { exact: true }).waitFor();
    expect(asked).toEqual(["BackEnd"]);
  });

  test("also where it was revoked", async () => {
    const { id = "" } = world.keys[0] ?? {};
    await world.api(`/api/v1/keys/${id}`, undefined, "DELETE");
    await page.getByRole("link", { name: "Revoked" }).click();
    await page.getByRole("link", { name: "ci", exact: true }).waitFor();
    await page.getByText("1 key", { exact: true }).waitFor();
    await page.getByRole("searchbox").fill("backend");
    await page.getByText("No key matches.").waitFor();
  });

  test("in the command palette", async () => {
    await page.keyboard.press("Control+K");
    await page.getByPlaceholder("A page, a key, a model, or a request’s id").fill("backend");
    const found = page.getByRole("menuitem", { name: /^backend sk-/ });
    await found.waitFor();
    await found.click();
    await page.getByRole("heading", { name: "backend" }).waitFor();
    expect(asked).toEqual(["backend"]);
  });

  test("in the filters of requests", async () => {
    await world.go(page, "/requests");
    await page.getByText("Filters", { exact: true }).click();
    await page.getByLabel("Find a key").fill("backend");
    const { id = "" } = world.keys[1] ?? {};
    const option = page.getByLabel("Key", { exact: true }).locator(`option[value="${id}"]`);
    await option.waitFor({ state: "attached" });
    await page.getByLabel("Key", { exact: true }).selectOption(id);
    await page.getByRole("button", { name: "Show", exact: true }).click();
    await expect.poll(() => page.url()).toContain(`key=${id}`);
    await page.getByText("No request matches.").waitFor();
    expect(asked).toEqual(["backend"]);
  });
});

test("a statement is whole on paper, and on the screen only what is in sight", async () => {
  const { entries } = await world.api<{ entries: unknown[] }>("/api/v1/accounts/paging/statement?page_size=500");
  const page = await world.open("/billing?journal=open");
  await page.getByText("Opening balance").waitFor();
  const rows = page.locator("tbody tr:not([aria-hidden])");
  await rows.first().waitFor();
  expect(await rows.count()).toBeLessThan(entries.length);
  await page.emulateMedia({ media: "print" });
  await expect.poll(() => rows.count()).toBe(entries.length);
  await page.context().close();
});

/** With its links: requests of one second may read alike. */
async function firstRow(page: Page): Promise<string> {
  return page.locator("tbody tr:not([aria-hidden])").first().innerHTML();
}
