/**
 * Every change of alerts, webhooks and people is done once over a real gateway, and its record is found by its method.
 * Those of accounts, keys, requests and upstreams are walked in test/rpc/call/audit.test.ts.
 */
import { rmSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { methods } from "../../../src/api/descriptors.js";
import { isChange } from "../../../src/rpc/call/call-log.js";
import { authenticator } from "../../support/authenticator.js";
import { Browser, type BrowserAnswer, FIRST, firstOperator } from "../../support/browser.js";
import { FakeStripe, type SignedEvent } from "../../support/fake-stripe.js";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.js";
import { CLIENT, startIssuer, type TestIssuer } from "../../support/issuer.js";
import { signInAt } from "../../support/issuer-gateway.js";
import { Management } from "../../support/management.js";
import { SoftAuthenticator } from "../../support/soft-authenticator.js";

const PASSWORD = "another long enough password";
const NEW_PASSWORD = "one more long enough password";
const AWAY = { family: "vllm", base_url: "http://127.0.0.1:9/v1" };
const PUBLIC_URL = "https://llm.example.com";
const HOOK = { name: "", url: "https://hooks.example/in", paused: false };

let issuer: TestIssuer;
let gateway: GatewayProcess;
let stripe: FakeStripe;
let operator: Browser;
/** Somebody of the account, and what was made on the way, by what it is. */
let member: Browser;
const made: Record<string, string> = {};

beforeAll(async () => {
  stripe = await FakeStripe.start();
  issuer = await startIssuer();
  const corp = `issuer: "${issuer.url}", client_id: ${CLIENT.id}, client_secret: "${CLIENT.secret}"`;
  const own = `upstreams: { local: { family: sim } }\nidentity: { oidc: { corp: { ${corp} } } }`;
  const settings = `${own}\n${stripe.settings()}`;
  gateway = await startGateway({ settings, env: { TOLLGATE_PUBLIC_URL: PUBLIC_URL } });
  issuer.serve([gateway.url]);
  await new Management(gateway).account("acme", 1n);
  operator = await firstOperator(gateway);
  member = new Browser(gateway);
});
afterAll(async () => {
  await gateway.stop();
  await stripe.close();
  await issuer.close();
  rmSync(gateway.dataDirectory, { recursive: true });
});

/** Keeps what an answer made, by a path such as `webhook.id`. */
async function keep(name: string, path: string, answering: Promise<BrowserAnswer>): Promise<BrowserAnswer> {
  const answer = await answering;
  let found: unknown = answer.body;
  for (const part of path.split(".")) found = (found as Readonly<Record<string, unknown>>)[part];
  made[name] = String(found);
  return answer;
}

const ask = (method: string, path: string, body: object = {}): Promise<BrowserAnswer> =>
  operator.call(method, path, method === "DELETE" ? undefined : body);
/** Begins a payment, which somebody pays. */
async function paid(): Promise<SignedEvent> {
  await keep(
    "paid",
    "payment.stripe_session_id",
    ask("POST", "/accounts/acme/payments", { amount_nanos: "10000000000" }),
  );
  return stripe.pay(made["paid"] ?? "");
}

const by = (email: string): object => ({ email, name: "", password: PASSWORD });

/** In this order; the first operator was made when the gateway started. */
const STEPS: readonly (readonly [string, () => Promise<BrowserAnswer>])[] = [
  [
    "AlertService.CreateAlert",
    () => keep("alert", "alert.id", ask("POST", "/alerts", { settings: { kind: "reload_refused" } })),
  ],
  ["AlertService.UpdateAlert", () => ask("PATCH", `/alerts/${made["alert"]}`, { settings: { name: "told" } })],
  ["AlertService.DeleteAlert", () => ask("DELETE", `/alerts/${made["alert"]}`)],
  ["WebhookService.CreateWebhook", () => keep("hook", "webhook.id", ask("POST", "/webhooks", { settings: HOOK }))],
  ["WebhookService.UpdateWebhook", () => ask("PATCH", `/webhooks/${made["hook"]}`, { settings: { name: "told" } })],
  ["WebhookService.RotateWebhookSecret", () => ask("POST", `/webhooks/${made["hook"]}:rotate`)],
  ["WebhookService.TestWebhook", () => keep("sent", "delivery.id", ask("POST", `/webhooks/${made["hook"]}:test`))],
  ["WebhookService.ResendDelivery", () => ask("POST", `/deliveries/${made["sent"]}:resend`)],
  ["WebhookService.DeleteWebhook", () => ask("DELETE", `/webhooks/${made["hook"]}`)],
  ["IdentityService.SignIn", () => new Browser(gateway).signIn(FIRST.email, FIRST.password)],
  [
    "IdentityService.FinishOidcSignIn",
    () => signInAt(issuer, new Browser(gateway), "ada", { finish: { password: FIRST.password } }),
  ],
  [
    "IdentityService.CreateInvitation",
    () => keep("invitation", "invitation.id", ask("POST", "/accounts/acme/invitations", { role: "viewer" })),
  ],
  ["IdentityService.RevokeInvitation", () => ask("DELETE", `/accounts/acme/invitations/${made["invitation"]}`)],
  [
    "IdentityService.AcceptInvitation",
    async () => {
      await keep("token", "token", ask("POST", "/accounts/acme/invitations", { role: "viewer" }));
      const wish = { token: made["token"], ...by("mia@example.com") };
      return keep("member", "user.id", member.call("POST", "/invitations:accept", wish));
    },
  ],
  [
    "IdentityService.ChangePassword",
    () => member.call("POST", "/session:changePassword", { password: PASSWORD, new_password: NEW_PASSWORD }),
  ],
  [
    "IdentityService.ProveSession",
    async () => {
      // Another password ends the sessions that were there.
      await member.signIn("mia@example.com", NEW_PASSWORD);
      return member.call("POST", "/session:prove", { password: NEW_PASSWORD });
    },
  ],
  [
    "IdentityService.CreateSecondFactor",
    () => keep("factor", "secret", member.call("POST", "/session/second-factor", {})),
  ],
  [
    "IdentityService.ConfirmSecondFactor",
    () => member.call("POST", "/session/second-factor:confirm", { code: authenticator(made["factor"] ?? "")() }),
  ],
  ["IdentityService.CreateRecoveryCodes", () => member.call("POST", "/session/second-factor/recovery-codes", {})],
  ["IdentityService.DeleteSecondFactor", () => member.call("DELETE", "/session/second-factor")],
  [
    "IdentityService.CreatePasskey",
    async () => {
      await keep("options", "options", member.call("POST", "/session/passkeys:begin", {}));
      const credential = new SoftAuthenticator(PUBLIC_URL).create(made["options"] ?? "");
      return keep("passkey", "passkey.id", member.call("POST", "/session/passkeys", { name: "Phone", credential }));
    },
  ],
  [
    "IdentityService.UpdatePasskey",
    () => member.call("PATCH", `/session/passkeys/${made["passkey"]}`, { name: "Old phone" }),
  ],
  ["IdentityService.DeletePasskey", () => member.call("DELETE", `/session/passkeys/${made["passkey"]}`)],
  ["IdentityService.ChangeName", () => member.call("POST", "/session:changeName", { name: "Mia" })],
  [
    "IdentityService.UpdateAccountSecurity",
    () => ask("PATCH", "/accounts/acme/security", { requires_second_factor: false }),
  ],
  ["IdentityService.CreateUser", () => ask("POST", "/users", { email: "max@example.com", name: "Max" })],
  [
    "IdentityService.EndSession",
    async () => {
      const other = new Browser(gateway);
      await keep("session", "session.id", other.signIn("mia@example.com", NEW_PASSWORD));
      return member.call("DELETE", `/sessions/${made["session"]}`);
    },
  ],
  ["IdentityService.EndSessions", () => member.call("POST", "/sessions:end", {})],
  [
    "IdentityService.EndUserSessions",
    async () => {
      await new Browser(gateway).signIn("mia@example.com", NEW_PASSWORD);
      return ask("POST", `/users/${made["member"]}:signOut`);
    },
  ],
  ["IdentityService.ResetUser", () => keep("reset", "token", ask("POST", `/users/${made["member"]}:reset`))],
  [
    "IdentityService.SetPassword",
    () => member.call("POST", "/passwords", { token: made["reset"], password: NEW_PASSWORD }),
  ],
  [
    "IdentityService.SignOut",
    async () => {
      await member.signIn("mia@example.com", NEW_PASSWORD);
      return member.call("DELETE", "/sessions/current");
    },
  ],
  ["IdentityService.UpdateMember", () => ask("PATCH", `/accounts/acme/members/${made["member"]}`, { role: "member" })],
  [
    "IdentityService.UpdateMemberLimits",
    () => ask("PATCH", `/accounts/acme/members/${made["member"]}/limits`, { settings: { concurrency: "3" } }),
  ],
  [
    "IdentityService.EndMemberSessions",
    async () => {
      await new Browser(gateway).signIn("mia@example.com", NEW_PASSWORD);
      return ask("POST", `/accounts/acme/members/${made["member"]}:signOut`);
    },
  ],
  [
    "PaymentService.CreateTopUpCodes",
    () => keep("batch", "batch_id", ask("POST", "/top-up-codes", { count: 1, amount_nanos: "1000000000" })),
  ],
  [
    "SettingsService.MoveObject",
    () => ask("POST", "/settings/objects:move", { kind: "upstream", name: "local", to: "database" }),
  ],
  [
    "SettingsService.UpdateSettings",
    async () => {
      await keep("file", "file.etag", operator.call("GET", "/settings"));
      const content = `upstreams: {}\n${stripe.settings()}`;
      return ask("POST", "/settings:update", { content, etag: made["file"] });
    },
  ],
  [
    "SettingsService.TestObject",
    () => ask("POST", "/settings/objects:test", { object: { name: "away", upstream: AWAY } }),
  ],
  [
    "SettingsService.CreateObject",
    () => ask("POST", "/settings/objects", { object: { name: "away", upstream: AWAY } }),
  ],
  [
    "SettingsService.UpdateObject",
    () => ask("PATCH", "/settings/objects/upstream/away", { object: { upstream: { unknown_members: "refuse" } } }),
  ],
  [
    "SettingsService.ApplyObjects",
    () => ask("POST", "/settings/objects:apply", { changes: [{ set: { name: "more", upstream: AWAY } }] }),
  ],
  ["SettingsService.DeleteObject", () => ask("DELETE", "/settings/objects/upstream/more")],
  ["SettingsService.RestoreRevision", () => ask("POST", "/settings/revisions/1:restore")],
  ["PaymentService.VoidTopUpCodes", () => ask("POST", "/top-up-codes:void", { batch_id: made["batch"] })],
  [
    "PaymentService.RedeemTopUpCode",
    async () => {
      await keep("code", "codes.0", ask("POST", "/top-up-codes", { count: 1, amount_nanos: "1000000000" }));
      return ask("POST", "/accounts/acme/top-up-codes:redeem", { code: made["code"] });
    },
  ],
  ["PaymentService.CreateCheckout", () => ask("POST", "/accounts/acme/payments", { amount_nanos: "10000000000" })],
  [
    "PaymentService.ReconcilePayments",
    async () => {
      await paid();
      return ask("POST", "/payments:reconcile", { days: 1 });
    },
  ],
  [
    "PaymentService.HandleStripeEvent",
    async () => {
      const { payload: body, signature } = await paid();
      const headers = { "content-type": "application/json", "stripe-signature": signature };
      const { status } = await fetch(`${gateway.url}/api/v1/stripe-events`, { method: "POST", headers, body });
      return { status, body: {}, reason: null, setCookie: null, headers: new Headers() };
    },
  ],
  ["IdentityService.RemoveMember", () => ask("DELETE", `/accounts/acme/members/${made["member"]}`)],
  ["IdentityService.InviteUser", () => ask("POST", "/users:invite", { installation_role: "auditor" })],
  ["IdentityService.UpdateUser", () => ask("PATCH", `/users/${made["member"]}`, { installation_role: "auditor" })],
  ["IdentityService.RemoveUser", () => ask("DELETE", `/users/${made["member"]}`)],
];

/** How many records there are of what was done with a method. */
async function recordsOf(method: string): Promise<number> {
  const query = new URLSearchParams({ method, result: "done" });
  const { body } = await new Management(gateway).call("GET", `/audit_events?${query}`);
  return (body["audit_events"] as unknown[]).length;
}

describe.each(STEPS)("%s", (method, step) => {
  test("leaves its record", async () => {
    const before = await recordsOf(method);
    const { status, body } = await step();
    expect(status, JSON.stringify(body)).toBe(200);
    expect(await recordsOf(method)).toBeGreaterThan(before);
  });
});

test("every change of these services is among them", async () => {
  expect(await recordsOf("IdentityService.CreateFirstOperator")).toBe(1);
  const walked = new Set(["IdentityService.CreateFirstOperator", ...STEPS.map(([method]) => method)]);
  const changes = methods()
    .filter(isChange)
    .map(({ path }) => path.replace("/tollgate.v1.", "").replace("/", "."));
  // A check changes nothing, nor does a sign-in before its end, whose record test/flow/people/oidc.test.ts finds.
  const elsewhere = [
    /^(?:Account|Key|Usage|Upstream)Service\./,
    // Walked in test/flow/operation/prices.test.ts, with a snapshot to decide on.
    /^PriceService\./,
    /^SettingsService\.Check(?:Settings|Objects)$/,
    /^IdentityService\.Begin(?:OidcSignIn|Passkey(?:SignIn|Proof)?)$/,
  ];
  expect(changes.filter((name) => !elsewhere.some((form) => form.test(name)) && !walked.has(name))).toEqual([]);
});
