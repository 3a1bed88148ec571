/** A person without a mouse signs in, makes a key, asks a model and looks at the bill, and always sees the focus. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { here, press, tabTo } from "./by-keyboard.js";
import { PERSON } from "./person.js";
import { joinWorld, type World } from "./world.js";

let world: World;
beforeAll(async () => {
  world = await joinWorld("keyboard", 1);
});
afterAll(() => world.close());

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
  await press(page, "Show ledger entries");
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
