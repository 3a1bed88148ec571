/** What the family says of itself, and what of a request's own headers it passes on. */
import { describe, expect, test } from "vitest";
import { anthropic } from "../../src/families/anthropic.js";
import type { SourceBody, WireRequest } from "../../src/wire/wire.js";

const FACTS = {
  model: "m",
  stream: false,
  includeUsage: true,
  candidateCount: 1,
  outputTokensMax: 9,
  textBytes: 0,
  imageCount: 0,
  fileCount: 0,
  audioCount: 0,
};

function request(wire: string, headers: SourceBody["headers"]): WireRequest {
  const body = Buffer.from('{"model":"m","max_tokens":9,"stream":true,"messages":[{"role":"user","content":"hi"}]}');
  return { facts: FACTS, source: { wire, body, headers }, prompt: () => expect.unreachable() };
}

test("it is served where its clients expect it, with the key in its own header", () => {
  expect(anthropic).toMatchObject({
    keyVariable: "ANTHROPIC_API_KEY",
    baseUrl: "https://api.anthropic.com",
    needsKey: true,
    abortStopsBilling: true,
    pricedAs: "anthropic",
  });
  expect(anthropic.headers("k")).toEqual({
    "content-type": "application/json",
    "x-api-key": "k",
    "anthropic-version": "2023-06-01",
  });
});

test("its list of models", () => {
  const data = [
    { type: "model", id: "claude-opus-5", created_at: "2026-05-01T00:00:00Z" },
    { id: "claude-x", created_at: "sometime" },
  ];
  expect(anthropic.readModels(Buffer.from(JSON.stringify({ data, has_more: false })))).toEqual([
    { id: "claude-opus-5", owner: "anthropic", createdSeconds: 1_777_593_600 },
    { id: "claude-x", owner: "anthropic", createdSeconds: undefined },
  ]);
});

describe("headers of a request", () => {
  const told = { "anthropic-version": "2026-10-21", "anthropic-beta": "a-1, b-2" };
  test.each([
    { name: "a client of the wire: as it said them", wire: "anthropic", headers: told, want: told },
    { name: "nothing said", wire: "anthropic", headers: {}, want: {} },
    { name: "a client of another wire", wire: "openai-chat", headers: told, want: {} },
    { name: "others are not passed on", wire: "anthropic", headers: { "x-other": "1" }, want: {} },
    { name: "what ends a header", wire: "anthropic", headers: { "anthropic-beta": "a\r\nx: 1" }, want: {} },
  ])("$name", ({ wire, headers, want }) => {
    expect(anthropic.requestHeaders?.(request(wire, headers))).toEqual(want);
  });
});

describe("its own counting", () => {
  test("asks with what is read alone", () => {
    const body = anthropic.counter?.encode(request("anthropic", {}), "up", {}).toString();
    expect(body).toBe('{"model":"up","messages":[{"role":"user","content":"hi"}]}');
  });

  test.each(["{}", "<html>", '{"input_tokens":-1}', '{"input_tokens":"7"}'])("refuses %s for an answer", (body) => {
    expect(() => anthropic.counter?.read(Buffer.from(body))).toThrow();
  });

  test("reads the count", () => {
    expect(anthropic.counter?.read(Buffer.from('{"input_tokens":7}'))).toBe(7);
  });
});
