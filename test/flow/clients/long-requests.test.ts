/** Long requests of every form, end to end: what is checked before they are read, and that they are answered. */
import type { Client } from "@grpc/grpc-js";
import { Metadata } from "@grpc/grpc-js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { chat, postChat } from "../../support/chat-call.js";
import { clientOf, type DynamicUnary } from "../../support/dynamic-client.js";
import { OPERATOR_KEY } from "../../support/gateway-process.js";
import { RawClient, rawPost } from "../../support/raw-http.js";
import { startWorld, type World } from "../../support/world.js";

const MIB = 1024 * 1024;

let world: World;
beforeAll(async () => {
  world = await startWorld();
  await world.management.account("long", 100_000_000_000n);
});
afterAll(() => world.close());

function port(): number {
  return Number(new URL(world.front.url).port);
}

test.each([
  { name: "an Idempotency-Key", headers: { "idempotency-key": "another" } },
  { name: "the count of a retry", headers: { "x-stainless-retry-count": "1" } },
])("with $name too, a key over its limit is refused before its body comes", async ({ headers }) => {
  const { secret } = await world.management.makeKey("long", { requests_per_minute: 1 });
  const body = chat("Hello");
  const keyed = { "idempotency-key": `kept ${secret.slice(-8)}` };
  expect((await postChat(world.front, secret, body, { headers: keyed })).status).toBe(200);
  const client = await RawClient.open(port());
  const length = { "content-length": String(30 * MIB), authorization: `Bearer ${secret}` };
  client.write(rawPost("/v1/chat/completions", "", { ...length, ...headers }));
  await expect.poll(() => client.text).toMatch(/HTTP\/1.1 429/);
  client.socket.destroy();
  // What is kept takes nothing of the limit, and comes again.
  const again = await postChat(world.front, secret, body, { headers: keyed });
  expect([again.status, again.headers.get("idempotent-replayed")]).toEqual([200, "true"]);
});

test.each([
  { name: "with an Idempotency-Key", headers: { "idempotency-key": "long" }, replayed: "true" },
  { name: "chunked", headers: {}, replayed: null },
])("a body of 3 MiB is answered $name", async ({ headers, replayed }) => {
  const { secret } = await world.management.makeKey("long");
  const body = chat("Hello", { metadata: { note: "x".repeat(10) }, user: "y".repeat(10), x: "z".repeat(3 * MIB) });
  const bytes = Buffer.from(JSON.stringify(body));
  const post = (): Promise<Response> =>
    replayed === null
      ? fetch(`${world.front.url}/v1/chat/completions`, {
          method: "POST",
          headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
          body: new Blob([bytes]).stream(),
          duplex: "half",
        })
      : postChat(world.front, secret, bytes.toString(), { headers });
  const first = await post();
  expect(first.status, await first.clone().text()).toBe(200);
  const second = await post();
  expect([second.status, second.headers.get("idempotent-replayed")]).toEqual([200, replayed]);
  expect(world.upstream.requests.at(-1)?.raw.includes("z".repeat(3 * MIB))).toBe(true);
});

test.each(["/keys", "/accounts"])("a management body above 256 KiB is refused before it is read: %s", async (path) => {
  const client = await RawClient.open(port());
  const authorization = `Bearer ${OPERATOR_KEY}`;
  client.write(rawPost(`/api/v1${path}`, "", { authorization, "content-length": String(MIB) }));
  await expect.poll(() => client.text).toMatch(/HTTP\/1.1 413 [^]*262144/);
  client.socket.destroy();
  const estimate = JSON.stringify({
    generation: { prompt: { messages: Array.from({ length: 100_000 }, () => ({})) } },
  });
  const init = { method: "POST", headers: { authorization, "content-type": "application/json" }, body: estimate };
  expect((await fetch(`${world.front.url}/api/v1/estimate`, init)).status).toBe(413);
});

test.each([
  { name: "one long text", parts: [{ text: { text: "word ".repeat(100_000) } }] },
  { name: "many parts", parts: Array.from({ length: 20_000 }, (_, index) => ({ text: { text: `part ${index}` } })) },
])("a long typed prompt over gRPC is answered and charged: $name", async ({ parts }) => {
  const { secret } = await world.management.makeKey("long");
  const client: Client = clientOf("tollgate.v1.InferenceService", world.core.grpc);
  const metadata = new Metadata();
  metadata.set("authorization", `Bearer ${secret}`);
  const method: DynamicUnary = Reflect.get(client, "Generate");
  const request = { generation: { model: "other-1", prompt: { messages: [{ role: "ROLE_USER", parts }] } } };
  const answer = await new Promise((resolve, reject) => {
    method.call(client, request, metadata, {}, (error, told) => (error === null ? resolve(told) : reject(error)));
  });
  client.close();
  expect(answer).toHaveProperty("answer");
  const sent = world.upstream.requests.at(-1)?.raw.toString() ?? "";
  expect(sent).toContain(parts.at(-1)?.text.text.slice(0, 1_000));
});
