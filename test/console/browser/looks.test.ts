/** Every page, light and dark, wide and narrow: accessible, no wider than the window, and without errors. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type axe from "axe-core";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startWorld, type World } from "./world.js";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
let world: World;
let requestId = "";

beforeAll(async () => {
  world = await startWorld(45);
  const { requests } = (await world.api("/api/v1/requests?page_size=1")) as { requests: { id: string }[] };
  requestId = requests[0]?.id ?? "";
});

afterAll(() => world.close());

const PAGES: readonly { readonly name: string; readonly path: () => string; readonly shows: string }[] = [
  { name: "overview", path: () => "/", shows: "Spend by model" },
  { name: "keys", path: () => "/keys", shows: "backend" },
  { name: "make-key", path: () => "/keys?make=key", shows: "What it may do" },
  { name: "key", path: () => `/keys/${world.keys[1]?.id}`, shows: "Spend by day" },
  { name: "requests", path: () => "/requests", shows: "charged" },
  { name: "request", path: () => `/requests/${requestId}`, shows: "Ledger entries" },
  { name: "usage", path: () => "/usage?by=key&and=model", shows: "Total" },
  { name: "models", path: () => "/models", shows: "sim-small" },
  { name: "playground", path: () => "/playground", shows: "Message" },
  { name: "billing", path: () => "/billing", shows: "Balance before" },
  { name: "docs", path: () => "/docs", shows: "Put the secret of a key" },
  { name: "docs-errors", path: () => "/docs?about=errors", shows: "What to do" },
  { name: "docs-api", path: () => "/docs?about=api", shows: "CreateKey" },
  { name: "health", path: () => "/admin", shows: "All is well" },
  { name: "accounts", path: () => "/admin/accounts", shows: "Acme Robotics" },
  { name: "account", path: () => "/admin/accounts/acme", shows: "Credited in all" },
  { name: "upstreams", path: () => "/admin/upstreams", shows: "takes requests" },
  { name: "ledger", path: () => "/admin/ledger", shows: "It reads every entry" },
  { name: "nodes", path: () => "/admin/nodes", shows: "answers you" },
  { name: "unknown", path: () => "/no/such/page", shows: "There is no such page" },
];

test.each(
  PAGES.flatMap((page) =>
    [
      { width: 1_440, colorScheme: "light" as const },
      { width: 360, colorScheme: "dark" as const },
    ].map(({ width, colorScheme }) => [page.name, colorScheme, width, page.path, page.shows] as const),
  ),
)("%s, %s, %i pixels wide", async (name, colorScheme, width, path, shows) => {
  const page = await world.open(path(), { viewport: { width, height: 900 }, colorScheme });
  const errors: string[] = [];
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  page.on("pageerror", (error) => errors.push(error.message));
  await sees(page, shows);
  await page.waitForLoadState("networkidle");
  await world.keepPicture(page, `${name}-${colorScheme}-${width}`);
  expect(await violationsOf(page)).toEqual([]);
  const tooWide = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  expect(tooWide).toBe(0);
  expect(await page.evaluate(() => window.violations ?? [])).toEqual([]);
  expect(await page.evaluate(() => window.ran)).toBeUndefined();
  expect(errors).toEqual([]);
  await page.context().close();
});

test.each(["light", "dark"] as const)("sign-in and welcome, %s", async (colorScheme) => {
  for (const [path, shows] of [
    ["/", "Sign in"],
    ["/welcome", "This page needs the whole link"],
    ["/welcome#abc", "Your name"],
  ] as const) {
    const page = await world.openFresh(path);
    await page.emulateMedia({ colorScheme });
    await page.getByText(shows).first().waitFor();
    await world.keepPicture(page, `gate-${shows.slice(0, 4)}-${colorScheme}`);
    expect(await violationsOf(page)).toEqual([]);
    await page.context().close();
  }
});

test("no page asks the server more than four times, but for who is signed in", async () => {
  const page = await world.open("/docs");
  await sees(page, "Put the secret of a key");
  for (const { path, shows, name } of PAGES) {
    const asked = new Set<string>();
    page.removeAllListeners("request");
    page.on("request", (request) => {
      const { pathname, search } = new URL(request.url());
      if (pathname.startsWith("/api/") && !/^\/api\/v1\/(session|accounts)$/.test(pathname))
        asked.add(pathname + search);
    });
    await page.goto(`${world.gateway.url}/console${path()}`);
    await sees(page, shows);
    await page.waitForLoadState("networkidle");
    expect(asked.size, `${name}: ${[...asked].join(" ")}`).toBeLessThanOrEqual(4);
  }
  await page.context().close();
});

/** Waits until a person sees a text somewhere on the page. */
async function sees(page: Page, text: string): Promise<void> {
  await page.getByText(text).filter({ visible: true }).first().waitFor();
}

/** What axe finds, as one line each. */
async function violationsOf(page: Page): Promise<readonly string[]> {
  // The browser's debugger runs it, which the page's policy does not concern.
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(async () => {
    // The edge: the script of the package puts itself there.
    const { axe } = window as unknown as { axe: { run(): Promise<axe.AxeResults> } };
    return axe.run();
  });
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id} ${target} ${failureSummary}`),
  );
}
