/** A person without a mouse signs in, makes a key, asks a model and looks at the bill, and always sees the focus. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { PERSON } from "./person.js";
import { joinWorld, type World } from "./world.js";

const STOPS_MAX = 60;
let world: World;
beforeAll(async () => {
  world = await joinWorld("keyboard", 1);
});
afterAll(() => world.close());

interface Stop {
  readonly name: string;
  readonly isSeen: boolean;
}

/** What has the focus, by the name that a person hears, and whether its focus is drawn. */
async function here(page: Page): Promise<Stop> {
  return page.evaluate(() => {
    const element = document.activeElement;
    if (element === null || element === document.body) return { name: "", isSeen: true };
    // The edge: only fields have labels.
    const { labels } = element as HTMLInputElement;
    const name = element.getAttribute("aria-label") ?? labels?.[0]?.textContent ?? element.textContent;
    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(element);
    const box = element.getBoundingClientRect();
    // A dialog that opened has the focus itself: all of it is what the person looks at.
    const isDialog = element.matches("[role=dialog], [role=alertdialog]");
    const isDrawn = isDialog || (outlineStyle !== "none" && outlineWidth !== "0px") || boxShadow !== "none";
    return { name: name.trim(), isSeen: isDrawn && box.bottom > 0 && box.top < window.innerHeight };
  });
}

/** Goes on by Tab to what has the name; each stop on the way is seen. */
async function tabTo(page: Page, name: string | RegExp): Promise<void> {
  const passed: string[] = [];
  for (let stop = 0; stop < STOPS_MAX; stop++) {
    const at = await here(page);
    expect(at.isSeen, `${at.name} has the focus and is not seen`).toBe(true);
    if (typeof name === "string" ? at.name === name : name.test(at.name)) return;
    passed.push(at.name);
    await page.keyboard.press("Tab");
  }
  throw new Error(`no stop is called ${name}: ${passed.join(" | ")}`);
}

async function press(page: Page, name: string | RegExp, key = "Enter"): Promise<void> {
  await tabTo(page, name);
  await page.keyboard.press(key);
}

test("from the sign-in over a key and an answer to the bill", async () => {
  const page = await world.openFresh(`/keys?account=${world.account}`);
  await page.getByLabel("E-mail").waitFor();
  await tabTo(page, "E-mail");
  await page.keyboard.type(PERSON.email);
  await tabTo(page, "Password");
  await page.keyboard.type(PERSON.password);
  await page.keyboard.press("Enter");

  await page.getByRole("link", { name: "backend" }).waitFor();
  await press(page, "Create a key");
  const dialog = page.getByRole("dialog");
  await dialog.waitFor();
  // Escape leaves without a key, and leads back to where the person was.
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await expect.poll(async () => (await here(page)).name).toBe("Create a key");
  await page.keyboard.press("Enter");
  await dialog.waitFor();
  await tabTo(page, "Name");
  await page.keyboard.type("of a keyboard");
  await press(page, "Create the key");
  await page.getByText("the only time").waitFor();
  await press(page, "I have copied it");
  await page.getByRole("alertdialog").waitFor({ state: "detached" });
  await expect.poll(async () => (await here(page)).name).toBe("Create a key");
  await page.getByRole("link", { name: "of a keyboard" }).waitFor();

  await press(page, "Playground");
  await page.getByRole("heading", { name: "Playground" }).waitFor();
  await page.getByLabel("Message").waitFor();
  await tabTo(page, /^Model/);
  await page.keyboard.type("sim-free");
  await tabTo(page, "Message");
  await page.keyboard.type("Say something.");
  await press(page, "Send");
  await page.locator(".receipt").getByText("tokens").waitFor();

  await press(page, "Billing");
  await page.getByText("Opening balance").waitFor();
  await press(page, "Redeem a code");
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await expect.poll(async () => (await here(page)).name).toBe("Redeem a code");
  const coming = page.waitForEvent("download");
  await press(page, "Download CSV");
  expect((await coming).suggestedFilename()).toContain("statement-keyboard");
  await page.context().close();
});
