/** Aliases, and the prices of caches: made, changed and deleted by mouse and by keyboard. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type FakeVendor, startFakeVendor } from "../../support/fake-vendor.js";
import { violationsOf } from "./axe.js";
import { HANDS } from "./hand.js";
import { joinWorld, type World } from "./world.js";

const KEY = "fake-credential-of-alias-forms";
let world: World;
let vendor: FakeVendor;

beforeAll(async () => {
  vendor = await startFakeVendor(KEY);
  world = await joinWorld("alias-forms", 0);
  const upstream = { family: "openai-compatible", api_key: KEY, base_url: vendor.url };
  const priced = { price: { input: "1", output: "2", cache_write_1h: "4" }, output_tokens_max: 1000 };
  const model = (name: string) => ({
    set: { name, model: { targets: [{ upstream: "aliased", model: "own" }], ...priced } },
  });
  const changes = [{ set: { name: "aliased", upstream } }, model("made/one"), model("made/two")];
  await world.api("/api/v1/settings/objects:apply", { changes });
});
afterAll(async () => {
  // Other files of this gateway take its first model, whose vendor must be there.
  for (const path of ["model/made/one", "model/made/two", "upstream/aliased"])
    await world.api(`/api/v1/settings/objects/${path}`, undefined, "DELETE");
  await world.close();
  await vendor.close();
});

describe.each(HANDS)("$name:", ({ name, window, at }) => {
  const alias = `quick-${name.replaceAll(/[^a-z]+/g, "-")}`;
  const closed = (page: Page, title: string): Promise<void> =>
    page.getByRole("heading", { name: title }).waitFor({ state: "detached" });

  test("an alias is made in five clicks, leads to another model, and is deleted", async () => {
    const page = await world.open("/admin/models", window);
    const hand = at(page);
    await hand.press("Add an alias");
    await hand.type("Alias", alias);
    await hand.choose("Model", "made/one");
    expect(await violationsOf(page)).toEqual([]);
    await hand.press("Save");
    await closed(page, "Add an alias");
    expect(hand.clicks).toBeLessThanOrEqual(5);
    const modelOf = async (): Promise<string> =>
      (await world.api<{ object: { alias: { model: string } } }>(`/api/v1/settings/objects/alias/${alias}`)).object
        .alias.model;
    expect(await modelOf()).toBe("made/one");
    await hand.press("Change", { row: alias });
    await hand.choose("Model", "made/two");
    await hand.press("Save");
    await closed(page, `Change ${alias}`);
    expect(await modelOf()).toBe("made/two");
    await hand.press("Delete", { row: alias });
    await page.getByText("Clients can no longer request it.").waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByRole("row", { name: new RegExp(`^${alias}`, "u") }).waitFor({ state: "detached" });
    await expect(world.api(`/api/v1/settings/objects/alias/${alias}`)).rejects.toThrow("There is no alias");
    await page.context().close();
  });

  test("the price of a cache read is set, and the others stay", async () => {
    const page = await world.open("/admin/models", window);
    const hand = at(page);
    await hand.press("Change", { row: "made/one" });
    await hand.press("Prices of prompt caches");
    await hand.type("Cache read, USD per million tokens", "0.1");
    expect(await violationsOf(page)).toEqual([]);
    await hand.press("Save");
    await closed(page, "Change made/one");
    const { object } = await world.api<{ object: { model: { price: object } } }>(
      "/api/v1/settings/objects/model/made/one",
    );
    expect(object.model.price).toMatchObject({ input: "1", cache_read: "0.1", cache_write_1h: "4" });
    await page.context().close();
  });
});
