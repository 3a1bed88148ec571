/** One node's root secret is rotated: with both in force its keys are taken over, and its witness takes the new one. */
import { startFakeVendor } from "../../support/fake-vendor.js";
import { Webhook as Verifier } from "standardwebhooks";
import { expect, test } from "vitest";
import { stepAt } from "../../../src/identity/totp.js";
import { SEALED, type Sealed } from "../../../src/serve/root-secrets.js";
import { authenticator } from "../../support/authenticator.js";
import { Browser, FIRST, firstOperator } from "../../support/browser.js";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";
import { startReceiver } from "../../support/webhook-receiver.js";

const NEW = "the new root secret of this test, long enough";
const PATIENT = { timeout: 60_000, interval: 50 };

interface Kept {
  /** Has something kept that is sealed by a key of the root secret, and says how it is seen to be readable later. */
  (gateway: GatewayProcess, operator: Browser): Promise<(gateway: GatewayProcess) => Promise<void>>;
}

/** Whatever is sealed has its row here. */
const KEPT: Readonly<Record<Sealed, Kept>> = {
  secondFactors: async (_gateway, operator) => {
    const { body } = await operator.call("POST", "/session/second-factor", {});
    const next = authenticator(String(body["secret"]));
    expect((await operator.call("POST", "/session/second-factor:confirm", { code: next() })).status).toBe(200);
    let shownAt = 0;
    return async (later) => {
      // Each code is good once, and no more than one is taken ahead of its time.
      await expect.poll(() => stepAt(Date.now()), PATIENT).toBeGreaterThan(shownAt);
      shownAt = stepAt(Date.now());
      const signIn = { email: FIRST.email, password: FIRST.password, code: next() };
      expect((await new Browser(later).call("POST", "/sessions", signIn)).status).toBe(200);
    };
  },
  webhooks: async (gateway) => {
    const receiver = await startReceiver();
    const settings = { name: "the books", url: receiver.url };
    const { body } = await new Management(gateway).call("POST", "/webhooks", { account_id: "acme", settings });
    const { id } = body["webhook"] as { id: string };
    return async (later) => {
      const before = receiver.received.length;
      const verifier = new Verifier(String(body["secret"]));
      expect((await new Management(later).call("POST", `/webhooks/${id}:test`, {})).status).toBe(200);
      await expect.poll(() => receiver.received.length, PATIENT).toBeGreaterThan(before);
      const { body: sent = "", headers = {} } = receiver.received.at(-1) ?? {};
      expect(() => verifier.verify(sent, headers as Record<string, string>)).not.toThrow();
    };
  },
  content: async (gateway) => {
    const management = new Management(gateway);
    await management.call("PATCH", "/accounts/acme", { settings: { content: { kept: true } } });
    const { secret } = await management.makeKey("acme");
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "sim-free", messages: [{ role: "user", content: "a word of mine" }] }),
    });
    expect([answer.status, await answer.text()]).toMatchObject([200, expect.anything()]);
    const id = answer.headers.get("x-request-id") ?? "";
    const read = (of: GatewayProcess): Promise<string> =>
      new Management(of).call("POST", `/requests/${id}:readContent`, {}).then(({ body }) => JSON.stringify(body));
    await expect.poll(() => read(gateway), PATIENT).toContain("a word of mine");
    return async (later) => expect(await read(later)).toContain("a word of mine");
  },
  settings: async (gateway) => {
    const vendor = await startFakeVendor("fake-credential-that-is-kept");
    const upstream = { family: "openai-compatible", api_key: "fake-credential-that-is-kept", base_url: vendor.url };
    const model = { targets: [{ upstream: "vendor", model: "gpt-4o-mini" }], price: { free: true } };
    const changes = [{ set: { name: "vendor", upstream } }, { set: { name: "kept", model } }];
    const applied = await new Management(gateway).call("POST", "/settings/objects:apply", { changes });
    expect(applied, JSON.stringify(applied.body)).toMatchObject({ status: 200 });
    return async (later) => {
      const tested = await new Management(later).call("POST", "/upstreams/vendor:test", {});
      expect(tested.body).toMatchObject({ result: "well" });
      await vendor.close();
    };
  },
};

test.each(Object.keys(SEALED) as Sealed[])("what is sealed is sealed anew: %s", async (what) => {
  const settings = `
upstreams:
  local: { family: sim }
models:
  sim-free: { targets: [{ upstream: local, model: sim-1 }], price: free }
accounts:
  acme: {}
`;
  const OLD = "the old root secret of this test, long enough";
  const common = { TOLLGATE_WEBHOOK_NETWORKS: "127.0.0.0/8" };
  const first = await startGateway({ settings, env: { ...common, TOLLGATE_SECRET: OLD } });
  const { dataDirectory } = first;
  const check = await KEPT[what](first, await firstOperator(first, first));
  expect(await first.stop()).toBe(0);
  const env = { ...common, TOLLGATE_SECRET: NEW, TOLLGATE_SECRET_PREVIOUS: OLD };
  const both = await startGateway({ settings, dataDirectory, env });
  await check(both);
  const rotated = (): boolean =>
    both.log.some((line) => line.includes("TOLLGATE_SECRET changed") || line.includes("unset it after a day"));
  await expect.poll(rotated, PATIENT).toBe(true);
  if (what === "webhooks")
    await expect
      .poll(() => both.log.some((line) => line.includes("secrets of webhooks are encrypted")), PATIENT)
      .toBe(true);
  expect(await both.stop()).toBe(0);
  const last = await startGateway({ settings, dataDirectory, env: { ...common, TOLLGATE_SECRET: NEW } });
  await check(last);
  expect(await last.stop()).toBe(0);
});
