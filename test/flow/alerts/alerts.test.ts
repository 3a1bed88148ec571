/** Alerts through the real gateway: events over HTTP, a webhook, mail, and a crash in the middle. */
import { expect, onTestFinished, test } from "vitest";
import { tollgate } from "../../support/command.js";
import { type GatewayProcess, OPERATOR_KEY, startGateway } from "../../support/gateway-process.js";
import { startMailbox } from "../../support/mailbox.js";
import { Management } from "../../support/management.js";
import { startReceiver } from "../../support/webhook-receiver.js";

const ENV = { TOLLGATE_WEBHOOK_NETWORKS: "127.0.0.0/8", TOLLGATE_SECRET: "a root secret of this test, long enough" };

/** The ids of events as a watcher reads them, until there are so many. */
async function watched(gateway: GatewayProcess, count: number, lastId = ""): Promise<string[]> {
  const aborting = new AbortController();
  const headers = { authorization: `Bearer ${OPERATOR_KEY}`, ...(lastId === "" ? {} : { "last-event-id": lastId }) };
  const response = await fetch(`${gateway.url}/api/v1/events:watch`, { headers, signal: aborting.signal });
  expect(response.headers.get("content-type")).toContain("text/event-stream");
  let text = "";
  const ids = (): string[] => [...text.matchAll(/^id: (\S+)\ndata: /gm)].map(([, id = ""]) => id);
  for await (const chunk of response.body ?? []) {
    text += Buffer.from(chunk).toString("utf8");
    if (ids().length >= count) break;
  }
  aborting.abort();
  return ids();
}

test("a low balance is an event, a signed post and a mail, and a crash in the middle loses none", async () => {
  const mailbox = await startMailbox();
  const receiver = await startReceiver();
  receiver.answer((response) => response.writeHead(500).end("not now"));
  const env = { ...ENV, TOLLGATE_SMTP_URL: mailbox.url, TOLLGATE_MAIL_FROM: "tollgate@example.com" };
  const first = await startGateway({ env });
  let management = new Management(first);
  await management.account("acme", 1_000_000n);
  const ops = { email: "ops@example.com", account_id: "acme" };
  expect((await management.call("POST", "/users", ops)).status).toBe(200);
  const made = await management.call("POST", "/webhooks", { account_id: "acme", settings: { url: receiver.url } });
  expect(made.body).toMatchObject({ secret: expect.stringMatching(/^whsec_/), webhook: { account_id: "acme" } });
  const secret = String(made.body["secret"]);
  const alert = { kind: "balance_low", name: "low", amount: "5.00 USD", emails: ["ops@example.com"] };
  const wrong = await management.call("POST", "/alerts", { account_id: "acme", settings: { kind: "reload_refused" } });
  expect(wrong.status).toBe(400);
  expect((await management.call("POST", "/alerts", { account_id: "acme", settings: alert })).status).toBe(200);
  const [eventId = ""] = await watched(first, 1);
  await expect.poll(() => receiver.received.length).toBeGreaterThan(0);
  await expect.poll(() => mailbox.mails.length).toBeGreaterThan(0);
  expect(mailbox.mails[0]).toContain("balance_low.fired, account acme");
  // The post waits for its next attempt; what ran when the process died would wait for the end of its claim.
  await first.kill();

  receiver.answer((response) => response.writeHead(204).end());
  const before = receiver.received.length;
  const second = await startGateway({ env, dataDirectory: first.dataDirectory });
  onTestFinished(async () => void (await second.stop()));
  management = new Management(second);
  await expect.poll(() => receiver.received.length, { timeout: 90_000 }).toBeGreaterThan(before);
  expect(new Set(receiver.received.map(({ headers }) => headers["webhook-id"]))).toEqual(new Set([eventId]));
  const listed = await management.call("GET", "/events?account_id=acme");
  expect(listed.body["events"]).toMatchObject([{ id: eventId, type: "balance_low.fired", subject: "account acme" }]);

  // A watcher that comes back with the last id it had misses nothing and reads nothing twice.
  const [webhook] = (await management.call("GET", "/webhooks")).body["webhooks"] as { id: string }[];
  const watching = watched(second, 1, eventId);
  expect((await management.call("POST", `/webhooks/${webhook?.id}:test`, {})).status).toBe(200);
  const [testId = ""] = await watching;
  expect(testId).not.toBe(eventId);
  await expect.poll(() => receiver.received.at(-1)?.headers["webhook-id"]).toBe(testId);

  const connection = ["--gateway", second.grpc, "--key", OPERATOR_KEY];
  const shown = await tollgate(["alerts", "list", ...connection]);
  expect(shown.stdout).toMatch(/low +acme +balance_low +5\.00 +account acme/);
  expect((await tollgate(["events", "list", ...connection])).stdout).toContain(testId);
  const audit = JSON.stringify((await management.call("GET", "/audit_events")).body);
  expect(audit).toContain("webhooks/");
  for (const text of [audit, JSON.stringify(listed.body), second.log.join(), first.log.join()])
    expect(text).not.toContain(secret.slice("whsec_".length));
});

test("an account's alert watches no key but the account's own, and tells nothing of others", async () => {
  const gateway = await startGateway({ env: ENV });
  onTestFinished(async () => void (await gateway.stop()));
  const management = new Management(gateway);
  for (const id of ["acme", "other"]) await management.account(id, 0n);
  const [own, others] = [await management.makeKey("acme"), await management.makeKey("other")];
  const tenant = new Management(gateway, (await management.makeKey("acme", { scopes: ["usage", "alerts"] })).secret);
  const settings = (key: string): object => ({ kind: "budget_share", percent: 80, key_id: key });
  const ids = [others.id, "key_of_nobody"];
  for (const by of [tenant, management]) {
    const made = await by.call("POST", "/alerts", { account_id: "acme", settings: settings(own.id) });
    expect(made.status, JSON.stringify(made.body)).toBe(200);
    const { id } = made.body["alert"] as { id: string };
    const told: string[] = [];
    for (const key of ids) {
      const refused = [
        await by.call("POST", "/alerts", { account_id: "acme", settings: settings(key) }),
        await by.call("PATCH", `/alerts/${id}`, { settings: { key_id: key }, update_mask: "key_id" }),
      ];
      expect(refused.map(({ status }) => status)).toEqual([404, 404]);
      told.push(JSON.stringify(refused.map(({ body }) => body)).replaceAll(key, "KEY"));
    }
    expect(new Set(told).size).toBe(1);
  }
});
