/** Every page, light and dark, wide and narrow: accessible, no wider than the window, and without errors. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { violationsOf } from "./axe.js";
import { joinWorld, type World } from "./world.js";

let world: World;
let requestId = "";

beforeAll(async () => {
  world = await joinWorld("looks", 45);
  const { requests } = await world.api<{ requests: { id: string }[] }>("/api/v1/requests?account_id=looks&page_size=1");
  requestId = requests[0]?.id ?? "";
  const settings = { name: "the books", url: "http://127.0.0.1:9/hook" };
  const { webhook } = await world.api<{ webhook: { id: string } }>("/api/v1/webhooks", {
    account_id: "looks",
    settings,
  });
  await world.api(`/api/v1/webhooks/${webhook.id}:test`, {});
  await world.api("/api/v1/alerts", {
    account_id: "looks",
    settings: { name: "money ends", kind: "balance_low", amount: "100.00" },
  });
  await world.api("/api/v1/top-up-codes", { count: 12, amount: "25.00", note: "of looks" });
  await world.api("/api/v1/accounts/looks/invitations", { role: "admin", email: "bob@example.com" });
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
  { name: "requests-filtered", path: () => "/requests?model=sim-1&leastCost=0.000001", shows: "Filters: 2" },
  { name: "members", path: () => "/members", shows: "bob@example.com" },
  { name: "alerts", path: () => "/alerts", shows: "money ends" },
  { name: "webhooks", path: () => "/alerts?show=webhooks", shows: "the books" },
  { name: "deliveries", path: () => "/alerts?show=deliveries", shows: "Look" },
  { name: "audit", path: () => "/audit", shows: "KeyService.CreateKey" },
  { name: "docs", path: () => "/docs", shows: "Put the secret of the key" },
  { name: "docs-errors", path: () => "/docs?about=errors", shows: "PARAMETER_INVALID" },
  { name: "docs-keys", path: () => "/docs?about=keys", shows: "Keys that make keys" },
  { name: "docs-api", path: () => "/docs?about=api", shows: "createKey" },
  { name: "health", path: () => "/admin", shows: "All is well" },
  { name: "accounts", path: () => "/admin/accounts", shows: "Acme Robotics" },
  { name: "account", path: () => "/admin/accounts/looks", shows: "Credited in all" },
  { name: "codes", path: () => "/admin/codes", shows: "of looks" },
  { name: "make-codes", path: () => "/admin/codes?add=codes", shows: "Worth of each" },
  { name: "upstreams", path: () => "/admin/upstreams", shows: "takes requests" },
  { name: "people", path: () => "/admin/people", shows: "Ada Lovelace" },
  { name: "operator-alerts", path: () => "/admin/alerts", shows: "money ends" },
  { name: "operator-audit", path: () => "/admin/audit?method=CreateAccount", shows: "AccountService.CreateAccount" },
  { name: "prices", path: () => "/admin/models", shows: "set in tollgate.yaml" },
  { name: "settings", path: () => "/admin/settings", shows: "The last accepted change of the file" },
  { name: "ledger", path: () => "/admin/ledger", shows: "It reads every entry" },
  { name: "nodes", path: () => "/admin/nodes", shows: "answers you" },
  { name: "card-payments", path: () => "/admin/payments", shows: "Card payments are not set up" },
  { name: "unknown", path: () => "/no/such/page", shows: "There is no such page" },
];
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
      await world.go(page, path());
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
    await world.go(page, path());
    await sees(page, shows);
    expect(await widerBy(page), name).toBe(0);
  }
  await page.context().close();
});

test.each(["light", "dark"] as const)("sign-in and welcome, %s", async (colorScheme) => {
  for (const [path, shows] of [
    ["/", "Sign in"],
    ["/welcome", "This page needs the whole link"],
    ["/welcome#abc", "Your name"],
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

/** Waits until a person sees a text somewhere on the page. */
async function sees(page: Page, text: string): Promise<void> {
  await page.getByText(text).filter({ visible: true }).first().waitFor();
}
