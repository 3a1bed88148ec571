/** The everyday jobs of settings, each by mouse with its clicks counted, and by keyboard alone on a narrow screen. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { authenticator } from "../../support/authenticator.js";
import { type FakeVendor, startFakeVendor } from "../../support/fake-vendor.js";
import { HANDS } from "./hand.js";
import { joinWorld, type World } from "./world.js";

const KEY = "fake-credential-of-clicks";
const UPSTREAM = "of-clicks";
const MODEL = "clicks/model";
const PASSWORD = "a toll that is clicked";
let world: World;
let vendor: FakeVendor;

beforeAll(async () => {
  vendor = await startFakeVendor(KEY);
  world = await joinWorld("clicks", 0);
  const upstream = { family: "openai-compatible", api_key: KEY, base_url: vendor.url };
  const model = { targets: [{ upstream: UPSTREAM, model: "own" }], price: { input: "1", output: "2" } };
  const changes = [
    { set: { name: UPSTREAM, upstream } },
    { set: { name: MODEL, model: { ...model, output_tokens_max: 9 } } },
  ];
  await world.api("/api/v1/settings/objects:apply", { changes });
});
afterAll(async () => {
  const changes = [`model/${MODEL}`, `upstream/${UPSTREAM}`];
  for (const path of changes) await world.api(`/api/v1/settings/objects/${path}`, undefined, "DELETE");
  await world.close();
  await vendor.close();
});

describe.each(HANDS)("$name:", ({ name, window, at }) => {
  const suffix = name.replaceAll(/[^a-z]+/g, "-");
  const open = (path: string): Promise<Page> => world.open(path, window);

  test("a key with a daily budget in five clicks", async () => {
    const page = await open("/keys");
    const hand = at(page);
    await hand.press("Create a key");
    await hand.type("Name", `budget-${suffix}`);
    await hand.press("Limits and budgets");
    await hand.type("Daily budget, USD", "1.25");
    await hand.press("Create the key");
    await page.getByText("the only time").waitFor();
    await hand.press("I have copied it");
    await page.getByRole("link", { name: `budget-${suffix}` }).waitFor();
    expect(hand.clicks).toBeLessThanOrEqual(5);
    const { keys } = await world.api<{ keys: { settings: object }[] }>(
      `/api/v1/keys?account_id=${world.account}&text=budget-${suffix}`,
    );
    expect(keys[0]?.settings).toMatchObject({ budget_day_nanos: "1250000000" });
    await page.context().close();
  });

  test("an upstream is drained in three clicks, and brought back", async () => {
    const page = await open("/admin/upstreams");
    const hand = at(page);
    const row = page.getByRole("row").filter({ hasText: UPSTREAM });
    await hand.press("Drain", { row: UPSTREAM });
    await hand.press("Drain it");
    await row.getByText("drained").waitFor();
    expect(hand.clicks).toBeLessThanOrEqual(3);
    await hand.press("End the drain", { row: UPSTREAM });
    await row.getByText("drained").waitFor({ state: "detached" });
    await page.context().close();
  });

  test("a credential is rotated in four clicks", async () => {
    const secret = `rotated-${suffix}`;
    const page = await open("/admin/upstreams");
    const hand = at(page);
    vendor.accept(secret);
    await hand.press("Change", { row: UPSTREAM });
    await hand.type("API key", secret);
    await hand.press("Connect");
    await page.getByText("The list has 2 models.").waitFor();
    await hand.press("Save");
    await page.getByRole("heading", { name: `Change ${UPSTREAM}` }).waitFor({ state: "detached" });
    expect(hand.clicks).toBeLessThanOrEqual(4);
    await hand.press("Test", { row: UPSTREAM });
    await page.getByText("The upstream answers.").waitFor();
    expect(vendor.seen.at(-1)).toBe(secret);
    await page.context().close();
  });

  test("a price is changed in five clicks, with its effect shown before", async () => {
    const page = await open("/admin/models");
    const hand = at(page);
    const price = `4.${suffix.length}`;
    await hand.press("Change", { row: MODEL });
    await hand.type("Input, USD per million tokens", price);
    await page.getByText(new RegExp(`becomes .*${price}`)).waitFor();
    await hand.press("Save");
    await page.getByRole("row").filter({ hasText: MODEL }).getByText(price).first().waitFor();
    expect(hand.clicks).toBeLessThanOrEqual(5);
    await page.context().close();
  });

  test("a second account with a budget and a member in twelve clicks", async () => {
    const id = `clicks-${suffix}`.slice(0, 40);
    const page = await open("/admin/accounts");
    const hand = at(page);
    await hand.press("Create an account");
    await hand.type("Id", id);
    await hand.type("Credit in USD", "5.00");
    await hand.type("Monthly budget, USD", "2.00");
    await hand.press("Create the account");
    await page.getByRole("heading", { name: "Budgets and limits" }).waitFor();
    await hand.press("Switch to account");
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    await hand.visit("Members");
    await hand.press("Invite somebody");
    await hand.type("Their e-mail address", "grace@example.com");
    await hand.press("Create the link");
    await page.getByText("the only time").waitFor();
    await hand.press("I have copied it");
    await page.getByRole("cell", { name: "grace@example.com" }).waitFor();
    expect(hand.clicks).toBeLessThanOrEqual(12);
    const { account } = await world.api<{ account: { settings: object } }>(`/api/v1/accounts/${id}`);
    expect(account.settings).toMatchObject({ budget_month_nanos: "2000000000" });
    const { invitations } = await world.api<{ invitations: object[] }>(`/api/v1/accounts/${id}/invitations`);
    expect(invitations).toHaveLength(1);
    await page.context().close();
  });

  test("a second factor in six clicks", async () => {
    const { token } = await world.api<{ token: string }>("/api/v1/accounts/clicks/invitations", { role: "member" });
    const page = await world.openFresh(`/invitation#${token}`, window);
    const hand = at(page);
    await hand.type("E-mail", `${suffix}@example.com`);
    await hand.type("Password", PASSWORD);
    await hand.press("Join");
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    const before = hand.clicks;
    await hand.take("Your account, theme and sign-out", "Your account");
    await hand.press("Set up an authenticator app");
    const secret = await page.getByRole("region", { name: "the secret" }).textContent();
    await hand.type("Code that the app shows", authenticator(secret ?? "")());
    await hand.press("Turn on the app");
    await page.getByRole("region", { name: "the recovery codes" }).waitFor();
    await hand.press("I have saved them");
    await page.getByText("You have 10 unused recovery codes").waitFor();
    expect(hand.clicks - before).toBeLessThanOrEqual(6);
    await page.context().close();
  });
});
