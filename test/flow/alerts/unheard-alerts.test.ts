/** An alert that nobody would be told of is named when the gateway starts. */
import { rmSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { startGateway } from "../../support/gateway-process.js";

const PATIENT = { timeout: 60_000, interval: 50 };
const SETTINGS = `
accounts: { acme: { credit: "1.00" } }
alerts:
  low: { kind: balance_low, account: acme, amount: "5.00", emails: [ops@example.com] }
  slow: { kind: proof_failed }
`;

test.each([
  { name: "none has a receiver where no mail is sent", env: {}, told: ["low", "slow"] },
  {
    name: "one without an address has none where mail is sent",
    env: { TOLLGATE_SMTP_URL: "smtp://127.0.0.1:9", TOLLGATE_MAIL_FROM: "gate@example.com" },
    told: ["slow"],
  },
])("$name", async ({ env, told }) => {
  const gateway = await startGateway({ settings: SETTINGS, env });
  onTestFinished(async () => {
    await gateway.stop();
    rmSync(gateway.dataDirectory, { recursive: true });
  });
  const named = (): string[] =>
    gateway.log
      .map((line) => JSON.parse(line) as { readonly msg: string; readonly alert?: string })
      .filter(({ msg }) => msg.startsWith("this alert has no recipient"))
      .map(({ alert = "" }) => alert.replace(/^file:/, ""));
  await expect.poll(() => named().sort(), PATIENT).toEqual(told);
});
