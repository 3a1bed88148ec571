/** Each format's clients are told the limits of their key under the names that they read, also in a refusal. */
import { afterEach, expect, test } from "vitest";
import { GatewayError } from "../../src/base/errors.js";
import { anthropic } from "../../src/formats/anthropic.js";
import { openai } from "../../src/formats/openai.js";
import { KEY, startServer, type TestServer } from "../support/http-server.js";

let server: TestServer;
afterEach(() => server.close());

test.each([
  { format: openai, told: null },
  { format: anthropic, told: "2026-11-21T12:00:06Z" },
])("$format.name", async ({ format, told }) => {
  const timeMs = (): number => Date.parse("2026-11-21T12:00:00Z");
  server = await startServer({ formats: [format], timeMs });
  server.channel.streamScript = (_request, sink) => {
    sink.head({ "x-request-id": "req_1", "x-ratelimit-limit-requests": "7", "x-ratelimit-reset-requests": "6s" });
    throw new GatewayError("ERROR_REASON_UPSTREAM_FAILED", { request_id: "req_1", model: "m" });
  };
  const path = format.routes.find(({ kind }) => kind === "generate")?.path ?? "";
  const response = await fetch(server.url + path, {
    method: "POST",
    headers: { ...KEY, "content-type": "application/json" },
    body: JSON.stringify({ model: "m", max_tokens: 5, messages: [{ role: "user", content: "Hi" }] }),
  });
  expect(response.status).toBe(502);
  expect(response.headers.get("x-ratelimit-limit-requests")).toBe("7");
  expect(response.headers.get("anthropic-ratelimit-requests-reset")).toBe(told);
  expect(response.headers.get("anthropic-ratelimit-requests-limit")).toBe(told && "7");
});
