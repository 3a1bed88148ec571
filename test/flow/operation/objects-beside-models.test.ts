/** Issuers, payments and metrics as objects of the database: in force at once, and their secrets sealed. */
import { rmSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Browser } from "../../support/browser.js";
import { FakeStripe, SECRET_KEY, WEBHOOK_SECRET } from "../../support/fake-stripe.js";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.js";
import { CLIENT, startIssuer, type TestIssuer } from "../../support/issuer.js";
import { signInAt } from "../../support/issuer-gateway.js";
import { Management } from "../../support/management.js";
import { readMetrics } from "../../support/metrics-reading.js";

const PATIENT = { timeout: 60_000, interval: 100 };
const SERIES = 'tollgate_account_available_usd{account="acme"}';

let issuer: TestIssuer;
let stripe: FakeStripe;
let gateway: GatewayProcess;
let management: Management;

beforeAll(async () => {
  [issuer, stripe] = [await startIssuer(), await FakeStripe.start()];
  const env = { TOLLGATE_SECRET_SOURCES: "env:STRIPE_", STRIPE_KEY: SECRET_KEY };
  gateway = await startGateway({ settings: "metrics: { accounts: [other] }\n", env });
  issuer.serve([gateway.url], ["corp"]);
  management = new Management(gateway);
  for (const id of ["acme", "other"]) await management.account(id, 5_000_000_000n);
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all([issuer.close(), stripe.close()]);
  rmSync(gateway.dataDirectory, { recursive: true });
});

async function make(object: object): Promise<void> {
  const made = await management.call("POST", "/settings/objects", { object });
  expect(made.status, JSON.stringify(made.body)).toBe(200);
}

async function objectOf(kind: string, name: string): Promise<Readonly<Record<string, unknown>>> {
  const { body } = await management.call("GET", `/settings/objects/${kind}/${name}`);
  return body["object"] as Readonly<Record<string, unknown>>;
}

const titles = async (): Promise<unknown> => (await management.call("GET", "/sign-in")).body["issuers"];

test("people sign in at an issuer as soon as it is made, and no more once it is deleted", async () => {
  const client = { issuer: issuer.url, client_id: CLIENT.id, client_secret: CLIENT.secret };
  await make({ name: "corp", issuer: { ...client, new_people: { account: "acme", role: "viewer" } } });
  expect(await titles()).toEqual([{ name: "corp", title: "corp" }]);
  const answer = await signInAt(issuer, new Browser(gateway), "ada");
  expect(answer.body, JSON.stringify(answer.body)).toMatchObject({ user: { email: "ada@example.com" } });
  const shown = await objectOf("issuer", "corp");
  expect(shown).toMatchObject({ source: "database", secrets_set: ["client_secret"] });
  const title = { object: { kind: "issuer", name: "corp", issuer: { title: "Corp" } }, update_mask: "title" };
  const renamed = await management.call("PATCH", "/settings/objects/issuer/corp", { ...title, etag: shown["etag"] });
  expect(renamed.status, JSON.stringify(renamed.body)).toBe(200);
  expect(await titles()).toEqual([{ name: "corp", title: "Corp" }]);
  // Another address must not get the secret of this one.
  const moved = await management.call("POST", "/settings/objects:apply", {
    changes: [{ set: { name: "corp", issuer: { issuer: "https://elsewhere.example.com/", client_id: CLIENT.id } } }],
  });
  expect(JSON.stringify(moved.body)).toContain("must be given again");
  expect((await management.call("DELETE", "/settings/objects/issuer/corp")).status).toBe(200);
  expect(await titles()).toEqual([]);
});

test("an account is paid into by card as soon as the payments are made, by a key that is a reference", async () => {
  const pay = async () => management.call("POST", "/accounts/acme/payments", { amount: "10.00" });
  expect(JSON.stringify((await pay()).body)).toContain("card_payments_off");
  const payments = {
    secret_key: "env:STRIPE_KEY",
    webhook_secret: WEBHOOK_SECRET,
    console_url: "https://gateway.example.com/console",
    amounts: ["10"],
    api_base: stripe.url,
  };
  await make({ name: "stripe", payments });
  const paid = await pay();
  expect(paid.status, JSON.stringify(paid.body)).toBe(200);
  const shown = await objectOf("payments", "stripe");
  expect(shown).toMatchObject({
    secrets_set: ["secret_key", "webhook_secret"],
    payments: { secret_key: "env:STRIPE_KEY", webhook_secret: "", console_url: payments.console_url },
  });
  const { body } = await management.call("GET", "/settings/revisions");
  expect(JSON.stringify(body)).not.toContain(WEBHOOK_SECRET);
  for (const [name, change, want] of [
    ["stripe", { amount_max: "7" }, /must each be from amount_min to amount_max/],
    ["paypal", {}, /is not known here/],
  ] as const) {
    const changes = [{ set: { name, payments: { ...payments, ...change } } }];
    const refused = await management.call("POST", "/settings/objects:apply", { changes });
    expect(refused.status).toBe(400);
    expect(JSON.stringify(refused.body)).toMatch(want);
  }
});

test("an object of the metrics is refused beside the file's, and in force once it moved", async () => {
  const value = async (): Promise<number | undefined> => (await readMetrics(gateway)).value(SERIES);
  const metrics = { accounts: ["acme"] };
  const taken = await management.call("POST", "/settings/objects", { object: { name: "metrics", metrics } });
  expect(JSON.stringify(taken.body)).toContain("in tollgate.yaml:1");
  const named = await management.call("POST", "/settings/objects", { object: { name: "models", metrics } });
  expect(JSON.stringify(named.body)).toContain("must be metrics");
  const move = { kind: "metrics", name: "metrics", to: "database" };
  const moved = await management.call("POST", "/settings/objects:move", move);
  expect(moved.status, JSON.stringify(moved.body)).toBe(200);
  expect(await value()).toBeUndefined();
  const changes = [{ set: { name: "metrics", metrics } }];
  expect((await management.call("POST", "/settings/objects:apply", { changes })).status).toBe(200);
  await expect.poll(value, PATIENT).toBeGreaterThan(1);
});
