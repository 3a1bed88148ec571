/** The forms of models and upstreams in detail: targets, capabilities, published prices, and new names. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type FakeVendor, startFakeVendor } from "../../support/fake-vendor.js";
import { violationsOf } from "./axe.js";
import { here, press, tabTo } from "./by-keyboard.js";
import { joinWorld, type World } from "./world.js";

const KEY = "fake-credential-of-model-forms";
const NARROW = { viewport: { width: 360, height: 800 }, colorScheme: "dark" } as const;
let world: World;
let vendor: FakeVendor;

interface Target {
  readonly upstream: string;
  readonly model: string;
  readonly priority: number;
  readonly weight: string;
  readonly cost: { readonly input: string } | null;
}

interface ModelObject {
  readonly targets: readonly Target[];
  readonly price: { readonly input: string } | null;
  readonly facts: Readonly<Record<string, unknown>> | null;
}

beforeAll(async () => {
  vendor = await startFakeVendor(KEY);
  world = await joinWorld("model-forms", 0);
  const upstream = (name: string, family: string) => ({
    set: { name, upstream: { family, api_key: KEY, base_url: vendor.url } },
  });
  const priced = { price: { input: "1", output: "2" }, output_tokens_max: 1000 };
  const model = (name: string, on: string) => ({
    set: { name, model: { targets: [{ upstream: on, model: "gpt-4o-mini" }], ...priced } },
  });
  await world.api("/api/v1/settings/objects:apply", {
    changes: [
      upstream("forms-a", "openai"),
      upstream("forms-b", "openai-compatible"),
      ...["dragged", "typed", "listed"].map((name) => model(`forms/${name}`, "forms-a")),
    ],
  });
});
afterAll(async () => {
  await world.close();
  await vendor.close();
});

const rowOf = (page: Page, name: string) => page.getByRole("row", { name: new RegExp(`^forms/${name} `, "u") });
const stored = async (name: string): Promise<ModelObject> =>
  (await world.api<{ object: { model: ModelObject } }>(`/api/v1/settings/objects/model/forms/${name}`)).object.model;
const closed = (page: Page, title: string): Promise<void> =>
  page.getByRole("heading", { name: title }).waitFor({ state: "detached" });
const orderOf = ({ targets }: ModelObject): readonly string[] =>
  targets.map(({ upstream, model, priority }) => `${upstream} ${model} ${priority}`);

test("targets are added, dragged in their order and priced with the mouse", async () => {
  const page = await world.open("/admin/models");
  await rowOf(page, "dragged").getByRole("button", { name: "Change" }).click();
  await page.getByRole("button", { name: "Add a target" }).click();
  await page.getByRole("grid", { name: "Targets" }).waitFor();
  await page.getByLabel("Upstream", { exact: true }).selectOption("forms-b");
  await page.getByLabel("Name at the upstream").fill("own");
  await page.getByText("What you pay there").click();
  await page.getByLabel("What you pay there").selectOption("own");
  await page.getByLabel("Your input cost").fill("0.5");
  await page.getByLabel("Your output cost").fill("0.75");
  await page.getByRole("grid").getByText("Tried as number 2").waitFor();
  expect(await violationsOf(page)).toEqual([]);
  await world.keepPicture(page, "model-form-targets");
  const grid = page.getByRole("grid", { name: "Targets" });
  await grid.getByRole("row", { name: /forms-b, own/ }).dragTo(grid.getByRole("row", { name: /forms-a/ }), {
    sourcePosition: { x: 12, y: 12 },
    targetPosition: { x: 60, y: 2 },
  });
  await page.getByText("forms-b, own is alone in level 1 of 2.").waitFor();
  await page.getByRole("button", { name: "Save" }).click();
  await closed(page, "Change forms/dragged");
  const model = await stored("dragged");
  expect(orderOf(model)).toEqual(["forms-b own 0", "forms-a gpt-4o-mini 2"]);
  expect(model.targets[0]?.cost).toMatchObject({ input: "0.5" });
  await page.context().close();
});

test("targets are ordered, weighed and removed without a mouse on a narrow screen", async () => {
  const page = await world.open("/admin/models", NARROW);
  const row = rowOf(page, "typed");
  await row.getByRole("button", { name: "Change" }).focus();
  await page.keyboard.press("Enter");
  await press(page, "Add a target");
  await page.getByRole("grid", { name: "Targets" }).waitFor();
  await tabTo(page, "Upstream");
  await page.keyboard.type("forms-b");
  await tabTo(page, "Name at the upstream");
  await page.keyboard.type("own");
  await page.keyboard.press("Shift+Tab");
  for (let stop = 0; stop < 20 && !(await here(page)).name.startsWith("Up forms-b, own"); stop++) {
    await page.keyboard.press("Shift+Tab");
  }
  await page.keyboard.press("Enter");
  await page.getByText("forms-b, own shares level 1 of 1 with 1 target.").waitFor();
  // The focus stays on the button, which makes the next step.
  await expect.poll(async () => (await here(page)).name).toBe("Up forms-b, own");
  await tabTo(page, "Weight");
  await page.keyboard.type("3");
  await page.getByText("75% of the requests").waitFor();
  expect(await violationsOf(page)).toEqual([]);
  expect(await widerBy(page)).toBe(0);
  await world.keepPicture(page, "model-form-targets-narrow");
  await press(page, "Save");
  await closed(page, "Change forms/typed");
  const model = await stored("typed");
  expect(orderOf(model)).toEqual(["forms-a gpt-4o-mini 0", "forms-b own 0"]);
  expect(model.targets[1]?.weight).toBe("3");

  await row.getByRole("button", { name: "Change" }).focus();
  await page.keyboard.press("Enter");
  // Tab goes through the buttons of a row, and the arrow keys from row to row.
  await tabTo(page, "forms-a, gpt-4o-mini");
  await page.keyboard.press("ArrowDown");
  await press(page, "Remove forms-b, own");
  await page.getByText("forms-b, own was removed.").waitFor();
  await press(page, "Save");
  await closed(page, "Change forms/typed");
  expect(orderOf(await stored("typed"))).toEqual(["forms-a gpt-4o-mini 0"]);
  await page.context().close();
});

test("a capability is set, and is as known again", async () => {
  const page = await world.open("/admin/models", NARROW);
  const row = rowOf(page, "typed");
  const change = async (choice: string, efforts: string): Promise<void> => {
    await row.getByRole("button", { name: "Change" }).click();
    await page.getByText("Capabilities").click();
    await page.getByLabel("Accepts images").selectOption(choice);
    await page.getByLabel("Reasoning efforts").fill(efforts);
    await page.getByText("No price changes.").waitFor();
    expect(await violationsOf(page)).toEqual([]);
    expect(await widerBy(page)).toBe(0);
    await page.getByRole("button", { name: "Save" }).click();
    await closed(page, "Change forms/typed");
  };
  await change("no", "low, high");
  expect((await stored("typed")).facts).toMatchObject({ images: false, efforts: ["low", "high"] });
  await change("", "");
  expect((await stored("typed")).facts ?? {}).toEqual({});
  await page.context().close();
});

test("a price of one's own has the published price beside it, and makes place for it in three clicks", async () => {
  const page = await world.open("/admin/models");
  const row = rowOf(page, "listed");
  await row.getByText("set here").waitFor();
  await row.getByText("Published price: $0.15 in, $0.60 out").waitFor();
  await row.getByText(/forms-a, gpt-4o-mini, list genai-prices [\d.]+ of \w+ \d+, 20\d\d/).waitFor();
  await row.getByRole("button", { name: "Use published" }).click();
  await page.getByText(/forms\/listed: \$1.00 in.* becomes \$0.15 in/).waitFor();
  await page.getByRole("button", { name: "Save" }).click();
  await closed(page, "Change forms/listed");
  await row.getByText("published", { exact: true }).waitFor();
  expect((await stored("listed")).price ?? null).toBeNull();
  // In the form it is one more click.
  await row.getByRole("button", { name: "Change" }).click();
  await page.getByLabel("Price", { exact: true }).selectOption("own");
  const form = page.getByRole("alertdialog");
  await form.getByText("Published price: $0.15 in").waitFor();
  await form.getByRole("button", { name: "Use the published price" }).click();
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.context().close();
});

test("a model that has no price is named before it is saved", async () => {
  const page = await world.open("/admin/models?form=model");
  await page.getByLabel("Name", { exact: true }).fill("forms/unknown");
  await page.getByLabel("Upstream", { exact: true }).selectOption("forms-b");
  await page.getByText("This node would not serve the model: it has no price that is publicly known").waitFor();
  await page.getByText("The published list does not have the first target").waitFor();
  await page.getByLabel("Name", { exact: true }).fill("sim-1");
  await page.getByText("exists already").first().waitFor();
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.context().close();
});

test("a model that is saved without a price is shown with its reason, on Health too, and is deleted", async () => {
  const page = await world.open("/admin/models?form=model");
  await page.getByLabel("Name", { exact: true }).fill("forms/unpriced");
  await page.getByLabel("Upstream", { exact: true }).selectOption("forms-b");
  await page.getByText("This node would not serve the model").waitFor();
  await page.getByRole("button", { name: "Save" }).click();
  const row = page.getByRole("row", { name: /^forms\/unpriced .*no price that is publicly known/ });
  await row.waitFor();
  expect(await violationsOf(page)).toEqual([]);
  await world.go(page, "/admin");
  await page.getByText("The model forms/unpriced is not in use").waitFor();
  await world.go(page, "/admin/models");
  await row.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await row.waitFor({ state: "detached" });
  await page.context().close();
});

test("an upstream and a model get other names in one step each, without a mouse on a narrow screen", async () => {
  const page = await world.open("/admin/upstreams", NARROW);
  const upstream = page.getByRole("row", { name: /^forms-a / });
  await upstream.getByRole("button", { name: "Rename" }).focus();
  await page.keyboard.press("Enter");
  await page.getByText("These models refer to it: forms/dragged, forms/listed, forms/typed.").waitFor();
  await tabTo(page, "New name");
  await page.keyboard.press("Control+A");
  await page.keyboard.type("forms-eu");
  expect(await violationsOf(page)).toEqual([]);
  await page.keyboard.press("Enter");
  await closed(page, "Rename forms-a");
  await page.getByRole("row", { name: /^forms-eu / }).waitFor();
  expect(await upstream.count()).toBe(0);
  expect(orderOf(await stored("typed"))).toEqual(["forms-eu gpt-4o-mini 0"]);
  const { object } = await world.api<{ object: { secrets_set: readonly string[] } }>(
    "/api/v1/settings/objects/upstream/forms-eu",
  );
  expect(object.secrets_set).toEqual(["api_key"]);

  await world.go(page, "/admin/models");
  await rowOf(page, "typed").getByRole("button", { name: "Rename" }).focus();
  await page.keyboard.press("Enter");
  await tabTo(page, "New name");
  await page.keyboard.press("Control+A");
  await page.keyboard.type("forms/renamed");
  await page.keyboard.press("Enter");
  await closed(page, "Rename forms/typed");
  await rowOf(page, "renamed").waitFor();
  expect(orderOf(await stored("renamed"))).toEqual(["forms-eu gpt-4o-mini 0"]);
  await page.context().close();
});

async function widerBy(page: Page): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
}
