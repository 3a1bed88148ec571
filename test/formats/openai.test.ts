/** OpenAI's format through the front end: its address, its stream, its envelope. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Event, FinishReason, UsageSource } from "../../src/api/index.js";
import { GatewayError } from "../../src/base/errors.js";
import { openai } from "../../src/formats/openai.js";
import { KEY, startServer, type TestServer } from "../support/http-server.js";
import type { StreamScript } from "../support/scripted-channel.js";

const EVENTS: Event[] = [
  {
    kind: {
      $case: "start",
      value: { id: "chatcmpl-1", model: "sim-1", createTime: new Date(5_000), inputTokens: undefined },
    },
  },
  { kind: { $case: "text", value: { candidate: 0, text: "Hello" } } },
  {
    kind: {
      $case: "candidateEnd",
      value: { candidate: 0, reason: FinishReason.FINISH_REASON_END, stopString: undefined },
    },
  },
  {
    kind: {
      $case: "finish",
      value: { usage: undefined, usageSource: UsageSource.USAGE_SOURCE_COUNTED, costNanos: 1n },
    },
  },
];

let it: TestServer;
beforeAll(async () => {
  it = await startServer({ formats: [openai] });
});
afterAll(() => it.close());

function ask(script: StreamScript, stream: boolean): Promise<Response> {
  it.channel.streamScript = script;
  return fetch(`${it.url}/v1/chat/completions`, {
    method: "POST",
    headers: { ...KEY, "content-type": "application/json" },
    body: JSON.stringify({ model: "sim-1", messages: [{ role: "user", content: "Hi" }], stream }),
  });
}

test("an answer in events streams as chunks that end with the sentinel", async () => {
  const response = await ask((request, sink) => {
    expect(request.acceptWire).toBe("openai-chat");
    sink.head({ "tollgate-form": "stream" });
    sink.data({ events: EVENTS });
  }, true);
  const lines = (await response.text()).trimEnd().split("\n\n");
  expect(lines.pop()).toBe("data: [DONE]");
  const chunks = lines.map((line) => JSON.parse(line.slice("data: ".length)));
  expect(chunks.every((chunk) => chunk.object === "chat.completion.chunk" && chunk.id === "chatcmpl-1")).toBe(true);
  expect(chunks.map((chunk) => chunk.choices[0].delta.content ?? "").join("")).toBe("Hello");
  expect(chunks.at(-1).choices[0].finish_reason).toBe("stop");
});

test("an answer in events is folded into one completion", async () => {
  const response = await ask((_request, sink) => {
    sink.head({ "tollgate-form": "whole" });
    sink.data({ events: EVENTS });
  }, false);
  expect(await response.json()).toMatchObject({
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 5,
    choices: [{ index: 0, message: { role: "assistant", content: "Hello" }, finish_reason: "stop" }],
  });
});

test("a stream that is cut has an error chunk and no sentinel", async () => {
  const response = await ask((_request, sink) => {
    sink.head({ "tollgate-form": "stream" });
    sink.data({ source: Buffer.from('data: {"id":"1"}\n\n') });
    throw new GatewayError("ERROR_REASON_UPSTREAM_FAILED", { model: "sim-1" });
  }, true);
  const text = await response.text();
  expect(text).toContain('"code":"upstream_error"');
  expect(text).not.toContain("[DONE]");
});

test("a refusal has the envelope of four", async () => {
  const response = await ask(() => {
    throw new GatewayError("ERROR_REASON_MODEL_UNKNOWN", { model: "sim-9" });
  }, true);
  expect(response.status).toBe(404);
  expect(await response.json()).toEqual({
    error: {
      message: "The model 'sim-9' does not exist. GET /v1/models lists those that do.",
      type: "invalid_request_error",
      param: "model",
      code: "model_not_found",
    },
  });
});

test.each([
  { method: "POST", path: "/chat/completions", hint: "/v1/chat/completions" },
  { method: "POST", path: "/v1/v1/chat/completions", hint: "/v1/chat/completions" },
  { method: "POST", path: "/v1/chat/completions/", hint: "/v1/chat/completions" },
  { method: "GET", path: "/chat/completions", hint: "POST /v1/chat/completions" },
])("$method $path hints at $hint", async ({ method, path, hint }) => {
  const response = await fetch(it.url + path, { method });
  expect(response.status).toBe(404);
  expect(await response.text()).toContain(`Did you mean ${hint}?`);
});
