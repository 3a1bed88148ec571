/** Top-up codes in the console: an operator makes and voids them, an account's people redeem them. */
import { text as textIn } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { PERSON } from "./person.js";
import { joinWorld, SCRIPT_NAME, type World } from "./world.js";

let world: World;
beforeAll(async () => {
  world = await joinWorld("codes", 0);
});
afterAll(() => world.close());

test("a batch is made and shown once, saved, redeemed on the billing page, and its rest is voided", async () => {
  const page = await world.open("/admin/codes");
  await page.getByRole("button", { name: "Create codes" }).first().click();
  await page.getByLabel("How many").fill("1001");
  await page.getByText("Enter a whole number from 1 to 1,000").waitFor();
  await page.getByLabel("How many").fill("3");
  await page.getByLabel("Value per code, USD").fill("7.25");
  await page.getByLabel("Note").fill(SCRIPT_NAME);
  await page.getByLabel("Valid for").selectOption("30");
  await page.getByRole("button", { name: "Create the codes" }).click();
  await page.getByText("the only time").waitFor();
  const codes = ((await page.locator("[role=alertdialog] pre").textContent()) ?? "").split("\n");
  expect(codes).toHaveLength(3);
  const coming = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download CSV" }).click();
  const file = await coming;
  expect(file.suggestedFilename()).toMatch(/^codes-batch_\w+\.csv$/);
  const lines = (await textIn(await file.createReadStream())).trimEnd().split("\r\n");
  expect(lines.slice(1).map((line) => line.split(",").slice(0, 2))).toEqual(codes.map((code) => [code, "7.25"]));
  await page.getByRole("button", { name: "I have saved them" }).click();
  await expect.poll(() => page.content()).not.toContain(codes[0]);

  await world.go(page, "/billing");
  await page.getByText("$25.00").first().waitFor();
  await page.getByRole("button", { name: "Redeem a code" }).click();
  await page.getByLabel("Code", { exact: true }).fill("TG-NONE");
  await page.getByRole("button", { name: "Redeem", exact: true }).click();
  await page.getByText("This code is wrong, was used before, or is too old").waitFor();
  await page.getByLabel("Code", { exact: true }).fill(` ${codes[0]?.toLowerCase().replaceAll("-", " ")} `);
  await page.keyboard.press("Enter");
  await page.getByText("Code value").waitFor();
  await page.getByRole("dialog").getByText("$7.25").waitFor();
  await page.getByRole("button", { name: "Close" }).click();
  await page.getByText("$32.25").first().waitFor();
  const { available_nanos } = await world.api<{ available_nanos: string }>("/api/v1/accounts/codes/balance");
  expect(available_nanos).toBe("32250000000");

  await world.go(page, "/admin/codes");
  await page.getByRole("link", { name: SCRIPT_NAME }).click();
  await page.getByRole("link", { name: "codes", exact: true }).waitFor();
  await expect.poll(() => page.getByText("open", { exact: true }).count()).toBe(2);
  await page.getByRole("button", { name: "Void" }).first().click();
  await page.getByRole("dialog").getByRole("button", { name: "Void" }).click();
  await page.getByText("void", { exact: true }).waitFor();
  await page.getByRole("link", { name: "All batches" }).click();
  const row = page.getByRole("row", { name: SCRIPT_NAME });
  await row.getByText("1 of 3").waitFor();
  await row.getByRole("button", { name: "Void" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Void" }).click();
  await row.getByRole("button", { name: "Void" }).waitFor({ state: "detached" });
  const { top_up_batches } = await world.api<{ top_up_batches: { note: string }[] }>("/api/v1/top-up-batches");
  const ours = top_up_batches.find(({ note }) => note === SCRIPT_NAME);
  expect(ours).toMatchObject({ code_count: 3, redeemed_count: 1, void_count: 2 });
  await page.context().close();
});

test("an amount that may be two is refused with both, and one of ten times the last must be confirmed", async () => {
  const page = await world.open("/admin/codes?add=codes", { locale: "en-US" });
  const amount = page.getByLabel("Value per code, USD");
  const go = page.getByRole("button", { name: "Create the codes" });
  await amount.fill("50,00");
  await page.getByText("This may be 50.00 or 5000.00.").waitFor();
  expect(await go.isDisabled()).toBe(true);
  await amount.fill("50.00");
  await go.click();
  await page.getByRole("button", { name: "I have saved them" }).click();
  await page.getByRole("button", { name: "Create codes" }).first().click();
  await amount.fill("500");
  const confirm = page.getByLabel("Yes, $500.00 is correct. The last amount was $50.00.");
  await confirm.check();
  expect(await go.isDisabled()).toBe(false);
  await amount.fill("5000");
  expect(await go.isDisabled()).toBe(true);
  await amount.fill("499.99");
  await confirm.waitFor({ state: "detached" });
  expect(await go.isDisabled()).toBe(false);
  await page.context().close();
});

test("who signed in a while ago shows the password once more, and goes on", async () => {
  const page = await world.open("/admin/codes?add=codes");
  await page.route("**/api/v1/top-up-codes", (route) =>
    route.fulfill({
      status: 403,
      headers: { "x-tollgate-reason": "PROOF_NEEDED", "content-type": "application/json" },
      body: JSON.stringify({ error: { message: "You signed in more than 30 minutes ago." } }),
    }),
  );
  await page.getByLabel("Value per code, USD").fill("1");
  await page.getByRole("button", { name: "Create the codes" }).click();
  await page.getByRole("button", { name: "Enter your password" }).click();
  await page.getByLabel("Password", { exact: true }).fill("not the password");
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByText("Your identity was not confirmed.").waitFor();
  await page.unroute("**/api/v1/top-up-codes");
  await page.getByLabel("Password", { exact: true }).fill(PERSON.password);
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByText("Confirmed. Try again now.").waitFor();
  await page.getByRole("button", { name: "Create the codes" }).click();
  await page.getByText("the only time").waitFor();
  await page.context().close();
});
