/** Every page, light and dark, wide and narrow: accessible, no wider than the window, and without errors. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { violationsOf } from "./axe.js";
import { fillPages, PAGES, sees } from "./pages.js";
import { joinWorld, type World } from "./world.js";

let world: World;
beforeAll(async () => {
  world = await joinWorld("looks", 45);
  await fillPages(world);
});

afterAll(() => world.close());

const WIDE_LIGHT = { width: 1_440, colorScheme: "light" } as const;
const NARROW_DARK = { width: 360, colorScheme: "dark" } as const;
/** The other two differ from these in nothing that a rule could find; people look at all four. */
const MODES =
  process.env["TOLLGATE_TEST_MODES"] === "all"
    ? [
        WIDE_LIGHT,
        NARROW_DARK,
        { width: 1_440, colorScheme: "dark" } as const,
        { width: 360, colorScheme: "light" } as const,
      ]
    : [WIDE_LIGHT, NARROW_DARK];

describe.each(MODES)(
  "$colorScheme, $width pixels wide, asking the server four times at most:",
  ({ width, colorScheme }) => {
    let page: Page;
    let errors: string[] = [];
    let asked: string[] = [];
    beforeAll(async () => {
      page = await world.open("/", { viewport: { width, height: 900 }, colorScheme });
      // What this asks is none of the questions that are counted.
      await page.waitForLoadState("networkidle");
      page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
      page.on("request", (request) => {
        const { pathname, search } = new URL(request.url());
        // Who is signed in is asked once, when the console starts.
        if (pathname.startsWith("/api/") && pathname !== "/api/v1/session") asked.push(pathname + search);
      });
    });

    test.each(PAGES)("$name", async ({ name, path, shows }) => {
      errors = [];
      asked = [];
      await world.go(page, path(world));
      await sees(page, shows);
      await page.waitForLoadState("networkidle");
      await world.keepPicture(page, `${name}-${colorScheme}-${width}`);
      expect(await violationsOf(page)).toEqual([]);
      expect(await widerBy(page)).toBe(0);
      // Sentences are read without scrolling sideways; figures may be wider than a phone.
      expect(await page.locator(".doc-table").evaluateAll(widerThanTheirPlace)).toEqual([]);
      expect(errors).toEqual([]);
      // What is asked again counts again.
      expect(asked.length, asked.join(" ")).toBeLessThanOrEqual(4);
    });
  },
);

test("at 200 % zoom no page is wider than its window, and what it is for is seen", async () => {
  const page = await world.open("/", { viewport: { width: 720, height: 450 }, deviceScaleFactor: 2 });
  for (const { name, path, shows } of PAGES) {
    await world.go(page, path(world));
    await sees(page, shows);
    expect(await widerBy(page), name).toBe(0);
  }
  await page.context().close();
});

test("the navigation of an operator is in sight without scrolling, 900 pixels high", async () => {
  const page = await world.open("/");
  await page.getByRole("link", { name: "Settings", exact: true }).waitFor();
  expect(await page.locator(".side").evaluate((side) => side.scrollHeight - side.clientHeight)).toBe(0);
  await page.context().close();
});

test.each(["light", "dark"] as const)("sign-in and welcome, %s", async (colorScheme) => {
  for (const [path, shows] of [
    ["/", "Sign in"],
    ["/welcome", "This page needs the whole link"],
    ["/welcome#abc", "This link was used already"],
    ["/invitation#abc", "You are invited"],
    ["/password#abc", "Choose a password"],
  ] as const) {
    const page = await world.openFresh(path);
    await page.emulateMedia({ colorScheme });
    await page.getByText(shows).first().waitFor();
    await world.keepPicture(page, `gate-${shows.split(" ")[0]}-${colorScheme}`);
    expect(await violationsOf(page)).toEqual([]);
    await page.context().close();
  }
});

async function widerBy(page: Page): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
}

function widerThanTheirPlace(tables: readonly Element[]): readonly string[] {
  return tables
    .filter(({ parentElement }) => parentElement !== null && parentElement.scrollWidth > parentElement.clientWidth)
    .map(({ textContent }) => textContent.slice(0, 40));
}
