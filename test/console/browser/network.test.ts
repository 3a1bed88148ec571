/** What a person keeps in sight, and gets in the end, where the network or the gateway is away for a while. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fillPages, PAGES, sees } from "./pages.js";
import { hold, joinWorld, type World } from "./world.js";

let world: World;
beforeAll(async () => {
  world = await joinWorld("network", 12);
  await fillPages(world);
});
afterAll(() => world.close());

const NO_CONNECTION = "No connection.";

/** Longer than an answer counts as fresh, and than any page waits before it asks again. */
const STALE_MS = 90_000;

/** As if somebody came back to the tab after a while: what is no longer fresh is asked anew. */
async function comeBack(page: Page): Promise<void> {
  await page.clock.fastForward(STALE_MS);
  await page.evaluate(() => void window.dispatchEvent(new Event("visibilitychange")));
}

describe("a part of the program that was not loaded yet", () => {
  test("is waited for while the network is away, on every page of the navigation", async () => {
    const page = await world.open("/");
    await sees(page, "Spend by model");
    await page.waitForLoadState("networkidle");
    await page.context().setOffline(true);
    await sees(page, NO_CONNECTION);
    const links = page.getByRole("banner").getByRole("navigation").getByRole("link");
    const names = await links.allTextContents();
    expect(names.length).toBeGreaterThan(15);
    for (const name of names) {
      await links
        .filter({ hasText: new RegExp(`^${name}$`) })
        .first()
        .click();
      await sees(page, NO_CONNECTION);
    }
    await page.context().setOffline(false);
    await page.getByText(NO_CONNECTION).waitFor({ state: "detached" });
    await page.getByRole("heading", { name: names.at(-1) ?? "", level: 1 }).waitFor();
    await page.context().close();
  });

  test("takes nothing away where the network goes while it is on its way", async () => {
    const page = await world.open("/");
    await sees(page, "Spend by model");
    const onItsWay = hold(page, "**/assets/dialog-box*.js");
    await page.getByRole("link", { name: "Keys" }).click();
    await page.getByRole("link", { name: "backend" }).waitFor();
    const route = await onItsWay;
    await page.context().setOffline(true);
    await route.abort("internetdisconnected");
    await sees(page, NO_CONNECTION);
    await sees(page, "backend");
    await page.unroute("**/assets/dialog-box*.js");
    await page.context().setOffline(false);
    await page.getByRole("button", { name: "Create a key" }).click();
    await sees(page, "What it may do");
    await page.context().close();
  });
});

test("a page that starts while the network is away says so", async () => {
  const page = await world.openFresh("/");
  await page.addInitScript(() => Object.defineProperty(navigator, "onLine", { value: false, configurable: true }));
  await page.reload();
  await sees(page, NO_CONNECTION);
  await page.context().close();
});

describe("what a page shows stays where asking anew fails:", () => {
  let page: Page;
  beforeAll(async () => {
    page = await world.open("/");
    await page.clock.install();
  });
  afterAll(() => page.context().close());

  test.each(PAGES)("$name", async ({ path, shows }) => {
    await world.go(page, path(world));
    await sees(page, shows);
    await page.waitForLoadState("networkidle");

    let asked = 0;
    await page.route("**/api/v1/**", (route) => (asked++, route.abort("connectionrefused")));
    await comeBack(page);
    await expect.poll(() => asked).toBeGreaterThan(0);
    await sees(page, "The gateway does not respond.");
    await sees(page, shows);
    await page.unroute("**/api/v1/**");

    asked = 0;
    const body = { error: { message: "The database is away.", type: "api_error", param: null, code: "unavailable" } };
    await page.route("**/api/v1/**", (route) => (asked++, route.fulfill({ status: 503, json: body })));
    await comeBack(page);
    await expect.poll(() => asked).toBeGreaterThan(0);
    await page.clock.fastForward(STALE_MS);
    await sees(page, shows);
    await page.unroute("**/api/v1/**");
    await comeBack(page);
    await page.getByText("The gateway does not respond.").waitFor({ state: "detached" });
    await sees(page, shows);
  });
});

test("a refusal takes away what is shown also where a question before it has a fault that lasts", async () => {
  const page = await world.open("/");
  await page.clock.install();
  await world.go(page, `/admin/accounts/${world.account}`);
  await sees(page, "Total credited");
  await page.waitForLoadState("networkidle");

  const error = { message: "The database is away.", type: "api_error", param: null, code: "unavailable" };
  const refused = { message: "You may not see this.", type: "permission_error", param: null, code: "permission" };
  const onItsWay = hold(page, "**/api/v1/accounts/*/balance");
  await page.route(`**/api/v1/accounts/${world.account}`, (route) => route.fulfill({ status: 503, json: { error } }));
  await comeBack(page);
  await sees(page, error.message);
  await sees(page, "Total credited");
  await (await onItsWay).fulfill({ status: 403, json: { error: refused } });
  await sees(page, refused.message);
  await page.getByText("Total credited").waitFor({ state: "detached" });
  await page.context().close();
});
