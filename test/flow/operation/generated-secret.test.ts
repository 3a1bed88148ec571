/** The root secret that a node made for its data directory gives way to one that is set. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tollgate } from "../../support/command.js";
import { type GatewayProcess, OPERATOR_KEY, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";

const NEW = "the new root secret of this test, long enough";
const PATIENT = { timeout: 60_000, interval: 50 };

async function statusOf(gateway: GatewayProcess, key: string): Promise<number> {
  return (await fetch(`${gateway.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } })).status;
}

test("a secret that was generated is replaced by one that is set, and keys go over as they are used", async () => {
  const settings =
    "accounts:\n  acme: {}\nkeys:\n  - { account: acme, name: ci, secret: sk-seeded-0123456789abcdef }\n";
  const first = await startGateway({ settings });
  const { dataDirectory } = first;
  const { secret: made } = await new Management(first).makeKey("acme");
  const keys = [made, OPERATOR_KEY, "sk-seeded-0123456789abcdef"];
  expect(await first.stop()).toBe(0);
  const previous = readFileSync(join(dataDirectory, "secret"), "utf8").trim();

  const refused = await tollgate(["serve"], { TOLLGATE_DATA: dataDirectory, TOLLGATE_SECRET: NEW });
  expect(refused.code).toBe(8);
  expect(refused.stderr).toContain("the root secret is not the one that was used here");

  const env = { TOLLGATE_SECRET: NEW, TOLLGATE_SECRET_PREVIOUS: previous };
  const both = await startGateway({ settings, dataDirectory, env });
  expect(both.log.some((line) => line.includes("this difference is ignored"))).toBe(false);
  for (const key of keys) expect(await statusOf(both, key), key).toBe(200);
  const list = await new Management(both).call("GET", "/keys");
  expect(list.body["keys"]).toHaveLength(3);
  // It looks at its start, before the keys are used or while they are.
  const said = /were not used since TOLLGATE_SECRET changed|no key needs TOLLGATE_SECRET_PREVIOUS/;
  await expect.poll(() => both.log.some((line) => said.test(line)), PATIENT).toBe(true);
  expect(await both.stop()).toBe(0);

  const last = await startGateway({ settings, dataDirectory, env: { TOLLGATE_SECRET: NEW } });
  for (const key of keys) expect(await statusOf(last, key)).toBe(200);
  await new Management(last).verify();
  expect(await last.stop()).toBe(0);
});
