/** Sign-in at an issuer in a real browser: there and back, and what the pages say where it does not go well. */
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, inject, test } from "vitest";
import { FIRST } from "../../support/browser.js";
import { type IssuerGateway, issuerSettings, startIssuerGateway } from "../../support/issuer-gateway.js";
import { violationsOf } from "./axe.js";
import { contextOf } from "./world.js";

let world: IssuerGateway;
let browser: Browser;
const complaints: string[] = [];

beforeAll(async () => {
  // Another site than the gateway's, as issuers are.
  world = await startIssuerGateway("localhost");
  browser = await chromium.connect(inject("shared").browser);
});
afterEach(() => {
  world.corp.override = undefined;
});
afterAll(async () => {
  await browser.close();
  await world.close();
  const own = complaints.filter((complaint) => complaint.startsWith(world.gateway.url));
  expect(own).toEqual([]);
});

async function openPage(path: string): Promise<Page> {
  const page = await (await contextOf(browser, complaints, {})).newPage();
  await page.goto(`${world.gateway.url}/console${path}`);
  return page;
}

/** What a person does on the issuer's pages. */
async function atIssuer(page: Page, login: string): Promise<void> {
  await page.locator("input[name=login]").fill(login);
  await page.locator("input[name=password]").fill("any");
  await page.locator("button[type=submit]").click();
  await page.getByRole("button", { name: "Continue" }).click();
}

test("somebody new comes back to the page that was asked for, signed in", async () => {
  world.open.people.set("lin", { sub: "lin", email: "lin@example.com", email_verified: true, name: "Lin" });
  const page = await openPage("/models?find=none");
  await page.getByRole("button", { name: "Sign in with Corp" }).waitFor();
  expect(await violationsOf(page)).toEqual([]);
  await page.getByRole("button", { name: "Sign in with open" }).click();
  await atIssuer(page, "lin");
  await page.getByRole("heading", { name: "Models", level: 1 }).waitFor();
  expect(new URL(page.url()).pathname).toBe("/console/models");
  expect(page.url()).not.toContain("code=");
  const cookies = (await page.context().cookies(world.gateway.url)).map(({ name, httpOnly }) => [name, httpOnly]);
  expect(cookies).toContainEqual(["tollgate", true]);
  expect(cookies.map(([name]) => name)).not.toContain("tollgate-sign-in");
  await page.context().close();
});

test("a known address shows its password once, and is asked at the issuer for a fresh proof", async () => {
  const page = await openPage("/");
  await page.getByRole("button", { name: "Sign in with Corp" }).click();
  await atIssuer(page, "ada");
  await page.getByText(`${FIRST.email} has a password here`).waitFor();
  expect(await violationsOf(page)).toEqual([]);
  await page.getByLabel("Password").fill("a wrong password");
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.getByText("Sign-in failed.").waitFor();
  await page.getByLabel("Password").fill(FIRST.password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.getByRole("heading", { name: "Overview" }).waitFor();

  const other = await openPage("/admin/people");
  await other.getByRole("button", { name: "Sign in with Corp" }).click();
  await atIssuer(other, "ada");
  await other.getByRole("button", { name: "Invite somebody" }).click();
  await other.getByRole("button", { name: "Create the link" }).click();
  await other.getByRole("button", { name: "Enter your password" }).click();
  await other.getByRole("button", { name: "Sign in again with Corp" }).click();
  await other.getByRole("button", { name: "Invite somebody" }).click();
  await other.getByRole("button", { name: "Create the link" }).click();
  await other.getByText("This is the only time the link is shown").waitFor();
  for (const one of [page, other]) await one.context().close();
});

test("somebody whom nobody invited reads why, and joins by the link of an invitation", async () => {
  world.corp.people.set("kim", { sub: "kim", email: "kim@example.com", email_verified: true, name: "Kim" });
  const page = await openPage("/");
  await page.getByRole("button", { name: "Sign in with Corp" }).click();
  await atIssuer(page, "kim");
  await page.getByText("there is no invitation for kim@example.com").waitFor();
  await page.getByRole("link", { name: "Back to sign-in" }).click();
  await page.getByRole("button", { name: "Sign in with Corp" }).waitFor();
  const { body } = await world.operator.call("POST", "/accounts/acme/invitations", { role: "admin" });
  await page.goto(`${world.gateway.url}/console/invitation#${String(body["token"])}`);
  await page.getByRole("button", { name: "Join with Corp" }).click();
  // The issuer knows the browser by now.
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  await page.getByRole("link", { name: "Members", exact: true }).click();
  await page.getByRole("cell", { name: "kim@example.com", exact: true }).waitFor();
  await page.context().close();
});

test("what goes wrong is told in words, and passwords go on", async () => {
  const page = await openPage("/sign-in/corp?code=any&state=any");
  await page.getByText("it was not started in this browser").waitFor();
  await page.context().close();
  world.corp.override = (_request, response) => response.writeHead(500).end();
  // What the issuer said of itself before is forgotten with the settings.
  world.gateway.writeSettings(`${issuerSettings(world.corp, world.open)}# again\n`);
  const begin = async (): Promise<number> => (await world.browser().call("POST", "/oidc/corp:begin", {})).status;
  await expect.poll(begin).toBe(502);
  const away = await openPage("/");
  await away.getByRole("button", { name: "Sign in with Corp" }).click();
  await away.getByText("Corp does not respond correctly").waitFor();
  await away.getByLabel("E-mail").fill(FIRST.email);
  await away.getByLabel("Password").fill(FIRST.password);
  await away.getByRole("button", { name: "Sign in", exact: true }).click();
  await away.getByRole("heading", { name: "Overview" }).waitFor();
  await away.context().close();
});
