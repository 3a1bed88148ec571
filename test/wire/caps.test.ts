/** What a body may hold at most: each wire refuses more by name, and reads no further than it must to say so. */
import { describe, expect, test } from "vitest";
import { GatewayError } from "../../src/base/errors.js";
import { wire as anthropic } from "../../src/wire/anthropic/index.js";
import { wire as gemini } from "../../src/wire/gemini/index.js";
import { wire as chat } from "../../src/wire/openai-chat/index.js";
import { wire as completions } from "../../src/wire/openai-completions/index.js";
import { wire as embeddings } from "../../src/wire/openai-embeddings/index.js";
import { wire as responses } from "../../src/wire/openai-responses/index.js";
import type { ClientWire, EmbeddingWire } from "../../src/wire/wire.js";
import { WORST_CASES } from "../bench/worst-cases.mjs";
import { bySweep } from "../support/sweep.js";

type Reader = Pick<ClientWire | EmbeddingWire, "name" | "readRequest">;
const READERS: readonly Reader[] = [chat, responses, anthropic, gemini, completions, embeddings];
const HEADERS = { "x-tollgate-path-model": "m" };

function refusalOf(wire: Reader, body: Buffer | string): GatewayError | undefined {
  try {
    wire.readRequest({ wire: wire.name, body: Buffer.from(body), headers: HEADERS });
    return undefined;
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
}

const list = (piece: string, count: number): string => Array.from({ length: count }, () => piece).join(",");
const hi = '"model":"m","messages":[{"role":"user","content":"hi"}]';
const members = (count: number): string => Array.from({ length: count }, (_, index) => `"m${index}":0`).join(",");

describe("a body holds at most", () => {
  test.each([
    { what: "20,000 messages", wire: chat, most: 20_000, of: (count: number) => messages(count), problem: "20000" },
    {
      what: "20,000 items",
      wire: responses,
      most: 20_000,
      of: (count: number) => `{"model":"m","input":[${list('{"role":"user","content":"a"}', count)}]}`,
      problem: "20000",
    },
    {
      what: "20,000 messages of Anthropic's",
      wire: anthropic,
      most: 20_000,
      of: (count: number) =>
        `{"model":"m","max_tokens":9,"messages":[${list('{"role":"user","content":"a"}', count)}]}`,
      problem: "20000",
    },
    {
      what: "20,000 contents",
      wire: gemini,
      most: 20_000,
      of: (count: number) => `{"contents":[${list('{"parts":[]}', count)}]}`,
      problem: "20000",
    },
    {
      what: "2,000 tools",
      wire: chat,
      most: 2_000,
      of: (count: number) => `{${hi},"tools":[${list('{"type":"function","function":{"name":"f"}}', count)}]}`,
      problem: "2000",
    },
    {
      what: "1,000 members",
      wire: chat,
      most: 998,
      of: (count: number) => `{${hi},${members(count)}}`,
      problem: "1000 members",
    },
    {
      what: "100,000 values",
      wire: chat,
      most: 99_900,
      of: (count: number) => `{${hi},"x":[${list("0", count)}]}`,
      problem: "100000 values",
    },
    {
      what: "64 levels",
      wire: chat,
      most: 63,
      of: (count: number) => `{${hi},"x":${"[".repeat(count)}${"]".repeat(count)}}`,
      problem: "64 levels",
      more: 1,
    },
  ])("$what, and a refusal says so", ({ wire, most, of, problem, more = 200 }) => {
    expect(refusalOf(wire, of(most))).toBeUndefined();
    const refusal = refusalOf(wire, of(most + more));
    expect(refusal?.http).toBe(400);
    expect(refusal?.message).toContain(problem);
  });
});

test.each([chat, anthropic])("a body with many mistakes is refused for the first one alone: $name", (wire) => {
  expect(refusalOf(wire, messagesOf("0", 90_000))?.metadata["param"]).toBe("messages[0]");
});

/** As long as a body may be: one shape in thirty, in ten, or all of them. */
const LONGEST_BYTES = 32 * 1024 * 1024;
const EVERY = bySweep({ short: 30, long: 10, all: 1 });
const sized = (bytes: number) => WORST_CASES.map(({ name, wire, body }) => ({ name, wire, body, bytes }));
const SIZES = [...sized(300_000), ...sized(LONGEST_BYTES).filter((_, place) => place % EVERY === 0)];

test.each(SIZES)("$name of $bytes bytes is read or refused, never anything else", ({ wire, body, bytes }) => {
  const reader = READERS.find(({ name }) => name === wire);
  expect(reader).toBeDefined();
  const refusal = reader === undefined ? undefined : refusalOf(reader, body("m", bytes));
  expect(refusal?.http ?? 400).toBe(400);
});

function messages(count: number): string {
  return messagesOf('{"role":"user","content":"a"}', count);
}

function messagesOf(message: string, count: number): string {
  return `{"model":"m","max_tokens":9,"messages":[${list(message, count)}]}`;
}
