/** What pages of the console ask for themselves is no traffic: only what others call is among the requests. */
import { rmSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Browser, firstOperator } from "../../support/browser.js";
import { type GatewayProcess, OPERATOR_KEY, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";

let gateway: GatewayProcess;
let operator: Browser;

beforeAll(async () => {
  gateway = await startGateway({});
  operator = await firstOperator(gateway);
});
afterAll(async () => {
  await gateway.stop();
  rmSync(gateway.dataDirectory, { recursive: true });
});

test("a call that fails is a record of its key, and none of the console", async () => {
  const path = "/keys/key_none";
  const byPage = await operator.call("GET", path);
  const authorization = `Bearer ${OPERATOR_KEY}`;
  const byKey = await fetch(`${gateway.url}/api/v1${path}`, { headers: { authorization } });
  expect([byPage.status, byKey.status]).toEqual([404, 404]);
  await expect.poll(idsThatFailed, { timeout: 30_000 }).toContain(byKey.headers.get("x-request-id"));
  expect(await idsThatFailed()).not.toContain(byPage.headers.get("x-request-id"));
});

async function idsThatFailed(): Promise<readonly string[]> {
  const { body } = await new Management(gateway).call("GET", "/requests?failed=true&min_http_status=400");
  return (body["requests"] as { readonly id: string }[]).map(({ id }) => id);
}
