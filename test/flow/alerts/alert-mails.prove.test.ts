/** Mails of alerts: a tenant has them sent to nobody but its own members. */
import { expect, onTestFinished, test } from "vitest";
import { startGateway } from "../../support/gateway-process.js";
import { startMailbox } from "../../support/mailbox.js";
import { Management } from "../../support/management.js";

const WAIT = { timeout: 60_000, interval: 50 };
const LOW = { kind: "balance_low", amount: "5.00 USD" };

test("an account's alert tells its members alone, whoever asks", async () => {
  const mailbox = await startMailbox();
  const gateway = await startGateway({
    env: { TOLLGATE_SMTP_URL: mailbox.url, TOLLGATE_MAIL_FROM: "tollgate@example.com" },
  });
  onTestFinished(async () => void (await gateway.stop()));
  const operator = new Management(gateway);
  await operator.account("acme", 1_000_000n);
  await operator.account("other", 1_000_000_000_000n);
  const member = async (email: string, account_id: string): Promise<string> => {
    const made = await operator.call("POST", "/users", { email, account_id });
    expect(made.status).toBe(200);
    return String((made.body["user"] as { id: string }).id);
  };
  const opsId = await member("ops@example.com", "acme");
  await member("victim@example.com", "other");
  const tenant = new Management(gateway, (await operator.makeKey("acme", { scopes: ["alerts", "usage"] })).secret);

  const named = (emails: readonly string[]): object => ({ settings: { ...LOW, emails } });
  for (const emails of [
    ["stranger@example.com"],
    ["victim@example.com"],
    ["ops@example.com", "ops@example.com.evil"],
  ]) {
    const refused = await tenant.call("POST", "/alerts", named(emails));
    expect([refused.status, JSON.stringify(refused.body)]).toEqual([400, expect.stringContaining("members")]);
    // Not for the account by an operator either: it has alerts of its own.
    const forAccount = await operator.call("POST", "/alerts", { account_id: "acme", ...named(emails) });
    expect(forAccount.status).toBe(400);
  }
  const made = await tenant.call("POST", "/alerts", named(["Ops@Example.com"]));
  expect(made.status).toBe(200);
  const { id } = made.body["alert"] as { id: string };
  const changed = await tenant.call("PATCH", `/alerts/${id}`, { settings: { emails: ["x@example.com"] } });
  expect(changed.status).toBe(400);

  await expect.poll(() => mailbox.mails.length, WAIT).toBeGreaterThan(0);
  const [delivery] = (await tenant.call("GET", "/deliveries")).body["deliveries"] as { id: string }[];
  const resend = async (): Promise<void> => {
    const sent = await tenant.call("POST", `/deliveries/${delivery?.id}:resend`, {});
    expect(sent.status).toBe(200);
  };
  const shown = async (): Promise<{ readonly state: string }> =>
    (await tenant.call("GET", `/deliveries/${delivery?.id}`)).body["delivery"] as { state: string };
  // An operator's own alert tells whom the operator says.
  const own = { settings: { ...LOW, watched_account_id: "acme", emails: ["pager@example.com"] } };
  expect((await operator.call("POST", "/alerts", own)).status).toBe(200);
  await expect.poll(() => mailbox.mails.some((text) => text.includes("pager@example.com")), WAIT).toBe(true);

  // Whoever left hears of nothing more.
  expect((await operator.call("DELETE", `/accounts/acme/members/${opsId}`)).status).toBe(200);
  const before = mailbox.mails.length;
  await resend();
  await expect.poll(async () => (await shown()).state, WAIT).toBe("failed");
  expect(mailbox.mails).toHaveLength(before);
});
