/** What a gateway does without the descriptors of the protocol, which take memory: it starts, and models answer. */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { chat, postChat } from "../../support/chat-call.js";
import { type GatewayProcess, OPERATOR_KEY, startGateway } from "../../support/gateway-process.js";
import { otherBuild, type OtherBuild } from "../../support/other-build.js";

const SECRET = "sk-of-one-without-descriptors-0123456789";
const SETTINGS = `upstreams: { sim: { family: sim } }
models:
  small: { targets: [{ upstream: sim, model: sim-1 }], context_tokens: 9000, output_tokens_max: 50, price: free }
accounts: { acme: { credit: "10.00" } }
keys: [{ account: acme, name: ci, secret: "${SECRET}", scopes: [chat] }]
`;

let build: OtherBuild;
let gateway: GatewayProcess;

beforeAll(async () => {
  build = otherBuild("0.2.0");
  writeFileSync(join(build.directory, "gen/tollgate.binpb"), "");
  gateway = await startGateway({ settings: SETTINGS, build: build.directory });
  // Its own failure is no answer that a client is made for.
  gateway.expectOddAnswers();
});
afterAll(async () => {
  await gateway.stop();
  build.remove();
  rmSync(gateway.dataDirectory, { recursive: true });
});

test.each([
  { name: "a whole answer", body: chat("Hello", { model: "small" }) },
  { name: "a stream", body: chat("Hello", { model: "small", stream: true }) },
])("$name", async ({ body }) => {
  const response = await postChat(gateway, SECRET, body);
  expect(response.status).toBe(200);
  expect(await response.text()).toContain("choices");
});

test("a refusal: nobody's key", async () => {
  expect((await postChat(gateway, "sk-nobody", chat("Hello", { model: "small" }))).status).toBe(401);
});

test("management needs them, and says so", async () => {
  const response = await fetch(`${gateway.url}/api/v1/accounts`, {
    headers: { authorization: `Bearer ${OPERATOR_KEY}` },
  });
  expect(response.status).toBe(500);
  await gateway.logged("the descriptor set has no file tollgate/v1/account_service.proto");
});
