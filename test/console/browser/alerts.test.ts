/** Alerts and webhooks in the console: made, fired, delivered, sent again, changed and removed. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { joinWorld, SCRIPT_NAME, type World } from "./world.js";

let world: World;
let endpoint: Server;
let address = "";
let status = 204;
const posts: string[] = [];

beforeAll(async () => {
  world = await joinWorld("alerts", 3);
  endpoint = createServer((request, response) => {
    posts.push(String(request.headers["webhook-id"]));
    response.writeHead(status).end(status === 204 ? undefined : SCRIPT_NAME);
  });
  await new Promise<void>((resolve) => endpoint.listen(0, "127.0.0.1", resolve));
  address = `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}/hook`;
});
afterAll(async () => {
  await world.close();
  endpoint.closeAllConnections();
  endpoint.close();
});

test("a webhook is added with its secret shown once, tested, and a delivery is looked at and sent again", async () => {
  const page = await world.open("/alerts?show=webhooks");
  await page.getByRole("button", { name: "Add a webhook" }).click();
  await page.getByLabel("Name").fill("the books");
  await page.getByLabel("URL").fill(address);
  await page.getByRole("button", { name: "Add the webhook" }).click();
  await page.getByText("the only time").waitFor();
  const secret = await page.locator("[role=alertdialog] pre").textContent();
  expect(secret).toMatch(/^whsec_/);
  await page.getByRole("button", { name: "I have copied it" }).click();
  await expect.poll(() => page.content()).not.toContain(secret);

  status = 500;
  await page.getByRole("button", { name: "Send test event" }).click();
  await page.getByText("Test event queued").waitFor();
  await expect.poll(() => posts.length).toBe(1);
  await page.getByRole("link", { name: "Deliveries" }).click();
  await page.getByText("waiting", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Details" }).click();
  await page.getByRole("cell", { name: "500", exact: true }).waitFor();
  status = 204;
  await page.getByRole("button", { name: "Send again" }).click();
  await expect.poll(() => posts.length).toBe(2);
  expect(posts[1]).toBe(posts[0]);
  await page.getByRole("button", { name: "Close" }).click();
  await page.getByText("delivered", { exact: true }).waitFor();

  await page.getByRole("link", { name: "Webhooks" }).click();
  await page.getByRole("button", { name: "Pause" }).click();
  await page.getByText("paused", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Resume" }).click();
  await page.getByRole("button", { name: "Pause" }).waitFor();
  await page.context().close();
});

test("an alert is made, tells at once of a low balance, is changed and removed", async () => {
  const page = await world.open("/alerts");
  await page.getByRole("button", { name: "Create an alert" }).click();
  await page.getByLabel("Name").fill(SCRIPT_NAME);
  await page.getByLabel("Amount in USD").fill("much");
  await page.getByText("Enter an amount such as 12.50").waitFor();
  await expect.poll(() => page.getByRole("button", { name: "Create the alert" }).isDisabled()).toBe(true);
  await page.getByLabel("Amount in USD").fill("1000");
  await page.getByRole("button", { name: "Create the alert" }).click();
  await page.getByText("balance below an amount: $1,000.00").waitFor();
  const firing = async (): Promise<number> => {
    const { alerts } = await world.api<{ alerts: { firing: string[] }[] }>("/api/v1/alerts?account_id=alerts");
    return alerts[0]?.firing.length ?? 0;
  };
  await expect.poll(firing, { timeout: 100_000, interval: 500 }).toBe(1);
  await page.reload();
  await page.getByText("firing:").waitFor();

  await page.getByRole("button", { name: "Change" }).click();
  await page.getByLabel("Condition").selectOption("error_share");
  await page.getByLabel("Percent").fill("20");
  await page.getByLabel("Models").fill("sim-*");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("share of failed requests: 20%, sim-*").waitFor();
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.getByText("No alerts yet").waitFor();
  await page.context().close();
});

test("what the gateway refuses is said with its request id", async () => {
  const page = await world.open("/alerts?show=webhooks");
  await page.getByRole("button", { name: "Add a webhook" }).click();
  await page.getByLabel("URL").fill("https://10.0.0.1/hook");
  await page.getByRole("button", { name: "Add the webhook" }).click();
  await page.getByText("The webhook was not added.").waitFor();
  expect(await page.getByRole("alert").textContent()).toMatch(/TOLLGATE_WEBHOOK_NETWORKS.*Request id: req_\w+/);
  await page.context().close();
});
