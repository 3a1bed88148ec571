/** An operator sees a failing upstream, reads what it said, and drains it; links keep their time zone. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { MOUSE } from "./hand.js";
import { generate, joinWorld, type World } from "./world.js";

const UPSTREAM = "slow-vendor";
const MODEL = "slow/model";
const SENTENCE = "The model is overloaded, please retry after the maintenance window";
let world: World;
let vendor: Server;

beforeAll(async () => {
  world = await joinWorld("traffic", 6);
  vendor = createServer((_, response) => {
    response.writeHead(500, { "content-type": "application/json" });
    response.end(JSON.stringify({ error: { message: SENTENCE, type: "server_error" } }));
  });
  await new Promise<void>((resolve) => vendor.listen(0, "127.0.0.1", resolve));
  // The edge: a server on a port of TCP has such an address.
  const { port } = vendor.address() as AddressInfo;
  const upstream = { family: "openai-compatible", api_key: "fake", base_url: `http://127.0.0.1:${port}/v1` };
  const model = { targets: [{ upstream: UPSTREAM, model: "own" }], price: { input: "1", output: "2" } };
  const changes = [
    { set: { name: UPSTREAM, upstream } },
    { set: { name: MODEL, model: { ...model, output_tokens_max: 9 } } },
  ];
  await world.api("/api/v1/settings/objects:apply", { changes });
  const { secret = "" } = world.keys[0] ?? {};
  // Another node uses the model within two seconds.
  await vi.waitFor(
    async () => {
      const { status } = await generate(world.url, secret, MODEL, "hello");
      if (status < 500) throw new Error(`the vendor was not asked: ${status}`);
    },
    { timeout: 60_000, interval: 250 },
  );
});
afterAll(async () => {
  for (const path of [`model/${MODEL}`, `upstream/${UPSTREAM}`])
    await world.api(`/api/v1/settings/objects/${path}`, undefined, "DELETE");
  await world.close();
  vendor.close();
});

test("a failing upstream is seen, its own words are read, and it is drained in four clicks", async () => {
  const page = await world.open("/admin");
  const hand = MOUSE.at(page);
  await hand.press("Traffic");
  await page.getByRole("row").filter({ hasText: UPSTREAM }).getByText("100%").waitFor();
  await hand.press(UPSTREAM, { row: UPSTREAM });
  await page.getByText(SENTENCE).first().waitFor();
  await hand.press("Drain");
  await hand.press("Drain it");
  await page.getByText("Drained by an operator").waitFor();
  expect(hand.clicks).toBeLessThanOrEqual(4);
  await hand.press("End the drain");
  await page.getByText("Drain ended by an operator").waitFor();
  await page.context().close();
});

test("traffic by account has names, and leads to just its requests", async () => {
  const page = await world.open("/admin/traffic?by=account&last=1h");
  const row = page.getByRole("row").filter({ hasText: "Acme Robotics" }).first();
  await row.getByRole("cell").nth(1).getByRole("link").click();
  await page.getByRole("heading", { name: "All requests" }).waitFor();
  expect(new URL(page.url()).searchParams.get("account_id")).not.toBe("");
  await page.getByRole("region", { name: "Requests" }).getByRole("link").first().waitFor();
  await page.context().close();
});

test("the palette finds accounts, people and upstreams by name", async () => {
  const page = await world.open("/admin");
  await page.locator("h1").waitFor();
  for (const [typed, found] of [
    ["slow-ven", UPSTREAM],
    ["Robotics", "Acme Robotics"],
    ["Lovelace", "Ada Lovelace"],
  ] as const) {
    await page.keyboard.press("Control+k");
    await page.getByPlaceholder("A page, a key, a model").fill(typed);
    await page.getByRole("menuitem").filter({ hasText: found }).first().waitFor();
    // The first clears what was typed.
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
  }
  await page.context().close();
});

test("a link has its period and time zone, and shows the same to a reader elsewhere", async () => {
  const path = "/usage?from=2026-01-01T00:00Z&to=2099-01-01T00:00Z&zone=Europe/Berlin&by=day";
  const rows: string[] = [];
  for (const timezoneId of ["America/New_York", "Asia/Tokyo"]) {
    const page = await world.open(path, { timezoneId });
    const table = page.getByRole("region", { name: "Usage" });
    await table.getByText("Total").waitFor();
    rows.push(await table.innerText());
    expect(await page.locator("summary").filter({ hasText: "Europe/Berlin" }).count()).toBe(1);
    await page.context().close();
  }
  expect(rows[0]).toBe(rows[1]);
});

test("a model's spend in a week against the week before, in four clicks, and a series is switched off", async () => {
  const page = await world.open("/");
  const hand = MOUSE.at(page);
  await hand.press("Usage");
  await hand.press("7 days");
  await hand.press("Compare with the period before");
  await page.getByRole("columnheader", { name: "Cost before" }).waitFor();
  await page.getByRole("row").filter({ hasText: "sim-1" }).getByText("new").first().waitFor();
  expect(hand.clicks).toBeLessThanOrEqual(4);
  const legend = page.getByRole("button", { name: "sim-1", pressed: true });
  await legend.click();
  await page.getByRole("button", { name: "sim-1", pressed: false }).waitFor();
  await page.context().close();
});
