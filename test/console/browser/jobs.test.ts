/** What people come for, done in a real browser against the real gateway. */
import { text as textIn } from "node:stream/consumers";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { money } from "../../../console/format.js";
import { formatUsd } from "../../../src/base/money.js";
import { PERSON } from "./person.js";
import { exactTextOf, generate, joinWorld, SCRIPT_NAME, type World } from "./world.js";

let world: World;
beforeAll(async () => {
  world = await joinWorld("jobs", 12);
});
afterAll(() => world.close());

/** A figure as a page writes it, without the spaces that align it. */
function textOf(page: Page, selector: string): Promise<string> {
  return exactTextOf(page.locator(selector).first());
}

describe("keys", () => {
  test("one is made, shown once, works, is changed, rotated and revoked", async () => {
    const page = await world.open("/keys");
    await page.getByRole("button", { name: "Create a key" }).click();
    await page.getByLabel("Name", { exact: true }).fill("of a test");
    await page.getByRole("button", { name: "Create the key" }).click();
    await page.getByText("the only time").waitFor();
    const secret = await textOf(page, "[role=alertdialog] pre");
    expect(secret).toMatch(/^sk-\w{20,}$/);
    expect(await page.locator("[role=alertdialog] pre").nth(1).textContent()).toContain(`Bearer ${secret}`);
    await page.getByRole("button", { name: "I have copied it" }).click();
    await expect.poll(() => page.content()).not.toContain(secret);
    expect((await generate(world.url, secret, "sim-1", "Hello.")).status).toBe(200);

    await page.getByRole("link", { name: "of a test" }).click();
    await page.getByRole("button", { name: "Change", exact: true }).click();
    await page.getByLabel("Daily budget, USD").fill("1.50");
    await page.getByLabel("Requests per minute").fill("600");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("$1.50 a day, 600 requests/min").waitFor();

    await page.getByRole("button", { name: "Rotate", exact: true }).click();
    await page.getByLabel("The old secret").selectOption("0");
    await page.getByRole("button", { name: "Create a new secret" }).click();
    await page.getByText("the only time").waitFor();
    const next = await textOf(page, "[role=alertdialog] pre");
    await page.getByRole("button", { name: "I have copied it" }).click();
    expect((await generate(world.url, secret, "sim-1", "Hello.")).status).toBe(401);
    expect((await generate(world.url, next, "sim-1", "Hello.")).status).toBe(200);

    await page.getByRole("button", { name: "Revoke", exact: true }).click();
    await page.getByText("stop working").waitFor();
    await page.getByRole("button", { name: "Revoke the key" }).click();
    await page.getByText("The key no longer works").waitFor();
    expect((await generate(world.url, next, "sim-1", "Hello.")).status).toBe(401);
    await world.go(page, "/keys?show=revoked");
    await page.getByRole("link", { name: "of a test" }).waitFor();
    await page.context().close();
  });

  test("a wrong amount is said at its field, and a refusal of the gateway with its request id", async () => {
    const page = await world.open("/keys?make=key");
    await page.getByText("Limits and budgets", { exact: true }).click();
    await page.getByLabel("Daily budget, USD").fill("ten");
    await page.getByText("Enter an amount such as 12.50").waitFor();
    await expect.poll(() => page.getByRole("button", { name: "Create the key" }).isDisabled()).toBe(true);
    await page.getByLabel("Daily budget, USD").fill("");
    await page.getByLabel("IP addresses", { exact: true }).fill("nowhere");
    await page.getByRole("button", { name: "Create the key" }).click();
    await page.getByText("The key was not created.").waitFor();
    expect(await page.getByRole("alert").textContent()).toMatch(/addresses.*Request id: req_\w+/);
    await page.context().close();
  });

  test("a script in a name is a name", async () => {
    const page = await world.open("/keys");
    await page.getByRole("link", { name: SCRIPT_NAME }).click();
    await page.getByRole("heading", { name: SCRIPT_NAME }).waitFor();
    await page.context().close();
  });
});

describe("figures are those of the ledger, to the last digit:", () => {
  test("the balance and the spend of the overview", async () => {
    const page = await world.open("/?days=1");
    const { available_nanos, spent_nanos } = await balance();
    await page.getByRole("heading", { name: "Spend by model" }).waitFor();
    expect(await textOf(page, ".figures data")).toBe(money(BigInt(available_nanos)));
    expect(await exactTextOf(page.locator(".figures data").nth(1))).toBe(money(BigInt(spent_nanos)));
    await page.context().close();
  });

  test("the total of usage, and its file", async () => {
    const page = await world.open("/usage?days=1&by=model");
    const { spent_nanos } = await balance();
    await page.getByText("Total", { exact: true }).waitFor();
    expect(await textOf(page, "tbody tr:last-child td:last-child data")).toBe(money(BigInt(spent_nanos)));
    const [head = "", ...lines] = (await downloaded(page)).trimEnd().split("\r\n");
    const place = head.split(",").indexOf("cost_nanos");
    const sum = lines.reduce((sum, line) => sum + BigInt(line.split(",")[place] ?? ""), 0n);
    expect(sum).toBe(BigInt(spent_nanos));
    await page.context().close();
  });

  test("the statement, and its file", async () => {
    const page = await world.open("/billing");
    const { available_nanos, spent_nanos } = await balance();
    const costs = page.getByRole("region", { name: "Cost by day, model and key" });
    await page.getByRole("button", { name: "Show keys" }).click();
    await costs.getByRole("link", { name: "ci", exact: true }).first().waitFor();
    const [today] = await costs
      .locator("tr:has(strong) data")
      .evaluateAll((sums) => sums.map((sum) => sum.getAttribute("value")));
    expect(today).toBe(spent_nanos);
    await page.getByRole("link", { name: "Show ledger entries" }).click();
    await page.getByText("Opening balance").waitFor();
    const newest = "[aria-label=Statement] tbody tr:last-child td:last-child data";
    expect(await textOf(page, newest)).toBe(money(BigInt(available_nanos)));
    const file = await downloaded(page);
    expect(file).toContain(`c:inv-1-${world.account}`);
    const [, , kind, , , , available = ""] = file.trimEnd().split("\n").at(-1)?.split(",") ?? [];
    expect([kind, available]).toEqual(["closing", formatUsd(BigInt(available_nanos))]);
    await page.context().close();
  });

  test("each request, from the log to its ledger entries", async () => {
    const page = await world.open("/requests?state=settled");
    const link = page.locator("tbody a").first();
    const id = (await link.getAttribute("href"))?.split("/").at(-1)?.split("?")[0] ?? "";
    const { request } = await world.api<{ request: { charged_nanos: string } }>(`/api/v1/requests/${id}`);
    expect(await textOf(page, "tbody tr data")).toBe(money(BigInt(request.charged_nanos)));
    await link.click();
    await page.getByRole("heading", { name: id }).waitFor();
    await expect.poll(() => page.getByText(`h:${id}`).count()).toBe(1);
    await page.context().close();
  });

  async function balance(): Promise<{ readonly available_nanos: string; readonly spent_nanos: string }> {
    return await world.api<{ available_nanos: string; spent_nanos: string }>(
      `/api/v1/accounts/${world.account}/balance`,
    );
  }

  async function downloaded(page: Page): Promise<string> {
    const coming = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download CSV" }).click();
    return textIn(await (await coming).createReadStream());
  }
});

describe("the shell", () => {
  test("the palette finds a key by its name, all by keyboard, and gives the focus back", async () => {
    const page = await world.open("/");
    await page.getByRole("heading", { name: "Spend by model" }).waitFor();
    await page.keyboard.press("Control+k");
    await page.getByPlaceholder("A page, a key, a model, or a request’s id").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.keyboard.press("Control+k");
    await page.getByRole("menuitem", { name: "backend" }).waitFor();
    await page.keyboard.type("backend");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "backend" }).waitFor();
    await page.context().close();
  });

  test("the first stop of the keyboard skips to the page, and no stop is invisible", async () => {
    const page = await world.open("/keys");
    await page.getByRole("link", { name: "backend" }).waitFor();
    await page.keyboard.press("Tab");
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Skip to content");
    await page.keyboard.press("Enter");
    expect(await page.evaluate(() => document.activeElement?.id)).toBe("page");
    const seen = new Set<string>();
    for (let stop = 0; stop < 14; stop++) {
      await page.keyboard.press("Tab");
      const { isShown, name } = await page.evaluate(() => {
        const element = document.activeElement;
        if (element === null) return { isShown: false, name: "" };
        const { outlineStyle, outlineWidth } = getComputedStyle(element);
        return {
          isShown: outlineStyle !== "none" && outlineWidth !== "0px",
          name: `${element.tagName} ${element.textContent?.slice(0, 30)}`,
        };
      });
      if (name.startsWith("BODY")) break;
      expect(isShown, name).toBe(true);
      seen.add(name);
    }
    expect([...seen].some((name) => name.includes("backend"))).toBe(true);
    await page.context().close();
  });

  test("a lost network is said, and what comes back with it is shown", async () => {
    const page = await world.open("/keys");
    await page.getByRole("link", { name: "backend" }).waitFor();
    await page.context().setOffline(true);
    await page.getByText("No connection.").first().waitFor();
    expect(await page.getByRole("link", { name: "backend" }).isVisible()).toBe(true);
    await page.context().setOffline(false);
    await page.getByText("No connection.").waitFor({ state: "detached" });
    await page.context().close();
  });

  test("who is signed out signs in at the same address and goes on there", async () => {
    const page = await world.openFresh("/usage?days=7");
    await page.getByLabel("E-mail").fill(PERSON.email);
    await page.getByLabel("Password").fill("not the password");
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.getByText("Sign-in failed.").waitFor();
    await page.getByLabel("Password").fill(PERSON.password);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.getByRole("heading", { name: "Usage" }).waitFor();
    expect(page.url()).toContain("days=7");
    await page.getByRole("button", { name: PERSON.name }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await page.getByLabel("Password").waitFor();
    await page.context().close();
  });

  test("a session that ended in another tab is signed in anew at the next page, which is then shown", async () => {
    const page = await world.openFresh(`/keys?account=${world.account}`);
    await signIn(page);
    await page.getByRole("link", { name: "backend" }).waitFor();
    const other = await page.context().newPage();
    await other.goto(page.url());
    await other.getByRole("button", { name: PERSON.name }).click();
    await other.getByRole("menuitem", { name: "Sign out" }).click();
    await other.getByLabel("Password").waitFor();
    await page.getByRole("link", { name: "Usage" }).click();
    await signIn(page);
    await page.getByRole("heading", { name: "Usage" }).waitFor();
    await page.getByText("Total", { exact: true }).waitFor();
    await page.context().close();
  });
});

async function signIn(page: Page): Promise<void> {
  await page.getByLabel("E-mail").fill(PERSON.email);
  await page.getByLabel("Password").fill(PERSON.password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
}
