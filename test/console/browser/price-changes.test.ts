/** Changes of published prices: an operator sees what a snapshot proposes, and decides on each. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { SNAPSHOT_KEY, snapshotOf, startPublisher } from "../../support/price-snapshots.js";
import { violationsOf } from "./axe.js";
import { joinWorld, type World } from "./world.js";

let world: World;
let publisher: Awaited<ReturnType<typeof startPublisher>>;

beforeAll(async () => {
  publisher = await startPublisher();
  world = await joinWorld("price-changes", 0);
  const prices = { refresh: "propose", url: publisher.url, keys: [SNAPSHOT_KEY] };
  await world.api("/api/v1/settings/objects:apply", { changes: [{ set: { name: "prices", prices } }] });
});
afterAll(async () => {
  // Other tests have the same gateway.
  await world.api("/api/v1/settings/objects:apply", { changes: [{ delete: { kind: "prices", name: "prices" } }] });
  await world.close();
  await publisher.close();
});

test("a snapshot is read, one change of it accepted and another rejected", async () => {
  publisher.published.text = await snapshotOf(1, [
    { id: "gpt-4.1", prices: { input_mtok: 200 }, others: { input_mtok: 2 } },
    { id: "gpt-4o-mini", prices: { input_mtok: 0.2 }, others: { input_mtok: 0.2 } },
  ]);
  const page = await world.open("/admin/models");
  await page.getByText("No change waits for a decision.").waitFor();
  await page.getByRole("button", { name: "Read the snapshot now" }).click();
  const row = (model: string) => page.getByRole("row").filter({ hasText: model });
  await row("openai/gpt-4.1").getByText("input_mtok: 2 → 200").waitFor();
  await row("openai/gpt-4.1").getByText("input_mtok more than doubles").waitFor();
  expect(await violationsOf(page)).toEqual([]);
  await row("openai/gpt-4.1").getByRole("button", { name: "Reject" }).click();
  await row("openai/gpt-4.1").waitFor({ state: "detached" });
  await row("openai/gpt-4o-mini").getByRole("button", { name: "Accept" }).click();
  await page.getByText("In force: price snapshot 1").waitFor();
  await page.getByText("No change waits for a decision.").waitFor();
  await page.context().close();
});
