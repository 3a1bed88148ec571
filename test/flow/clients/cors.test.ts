/** A page of an origin that the settings name reads every kind of answer, with all of its headers. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";

const ORIGIN = "https://app.example.com";
let gateway: GatewayProcess;
let secret = "";
beforeAll(async () => {
  gateway = await startGateway({ env: { TOLLGATE_CORS_ORIGINS: `${ORIGIN},http://localhost:5173` } });
  const management = new Management(gateway);
  await management.account("acme", 1_000_000_000n);
  secret = (await management.makeKey("acme")).secret;
});
afterAll(() => gateway.stop());

function chat(content: string, more: object = {}): object {
  return { model: "sim-1", max_tokens: 50_000, messages: [{ role: "user", content }], ...more };
}

const CHAT = "/v1/chat/completions";
test.each([
  { name: "a whole answer", path: CHAT, body: chat("hi"), status: 200 },
  { name: "a long answer", path: CHAT, body: chat("x".repeat(200_000)), status: 200 },
  { name: "a stream", path: CHAT, body: chat("hi", { stream: true }), status: 200 },
  { name: "a refusal of the model", path: CHAT, body: chat("hi", { model: "gone" }), status: 404 },
  { name: "a refusal of the body", path: CHAT, body: {}, status: 400 },
  { name: "a refusal of the key", path: CHAT, body: chat("hi"), key: "sk-wrong", status: 401 },
  { name: "a count", path: "/v1/messages/count_tokens", body: chat("hi"), status: 200 },
  { name: "the models", path: "/v1/models", status: 200 },
  { name: "no stream", path: "/v1/streams/req_1", status: 404 },
])("$name", async ({ path, body, key, status }) => {
  const ask = (origin: string): Promise<Response> =>
    fetch(gateway.url + path, {
      method: body === undefined ? "GET" : "POST",
      headers: { origin, authorization: `Bearer ${key ?? secret}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const response = await ask(ORIGIN);
  const said = Object.fromEntries(response.headers);
  expect([response.status, said["access-control-allow-origin"], said["access-control-expose-headers"]]).toEqual([
    status,
    ORIGIN,
    "*",
  ]);
  expect(said["vary"]).toBe("origin");
  expect(said).toHaveProperty("x-request-id");
  expect(said).not.toHaveProperty("access-control-allow-credentials");
  await response.text();
  const other = await ask("https://evil.example");
  expect([other.status, other.headers.get("access-control-allow-origin")]).toEqual([status, null]);
  await other.text();
});
