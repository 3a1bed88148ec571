/** Requests of one conversation have one opening, whatever their client changes from turn to turn. */
import { describe, expect, test } from "vitest";
import { JsonCursor } from "../../../src/wire/json/cursor.js";
import { readMembers } from "../../../src/wire/json/splice.js";
import { openingOf } from "../../../src/wire/request/opening.js";

function openingIn(body: object): string {
  const bytes = Buffer.from(JSON.stringify(body));
  return openingOf(bytes, readMembers(new JsonCursor(bytes)));
}

const LONG = "word ".repeat(10_000);
const MARK = { cache_control: { type: "ephemeral", ttl: "1h" } };
const text = (said: string, more: object = {}): object => ({ type: "text", text: said, ...more });
const billing = (cch: string): object => text(`x-anthropic-billing-header: cc_version=2; cch=${cch};`);
const answer = { role: "assistant", content: "Hello" };
const more = { role: "user", content: "And now?" };

describe("the same conversation", () => {
  test.each([
    {
      name: "a chat goes on",
      first: {
        messages: [
          { role: "system", content: "S" },
          { role: "user", content: "Hi" },
        ],
      },
      later: { messages: [{ role: "system", content: "S" }, { role: "user", content: "Hi" }, answer, more] },
    },
    {
      name: "the mark of a cache moves, and a text becomes a part",
      first: { system: "S", messages: [{ role: "user", content: [text("Hi", MARK)] }] },
      later: { system: [text("S", MARK)], messages: [{ role: "user", content: "Hi" }, answer, more] },
    },
    {
      name: "Claude Code counts its requests in the system prompt",
      first: { system: [billing("a1"), text("S")], messages: [{ role: "user", content: "Hi" }] },
      later: { system: [billing("b2"), text("S")], messages: [{ role: "user", content: "Hi" }, answer, more] },
    },
    {
      name: "a long first message",
      first: { messages: [{ role: "user", content: [text("A", MARK), text(LONG)] }] },
      later: { messages: [{ role: "user", content: [text("A"), text(LONG, MARK)] }, answer, more] },
    },
    {
      name: "Responses",
      first: { instructions: "S", input: [{ role: "user", content: [{ type: "input_text", text: "Hi" }] }] },
      later: { instructions: "S", input: [{ role: "user", content: "Hi" }, { type: "reasoning", id: "r" }, more] },
    },
    {
      name: "Gemini",
      first: { systemInstruction: { parts: [{ text: "S" }] }, contents: [{ parts: [{ text: "Hi" }] }] },
      later: {
        systemInstruction: { parts: [{ text: "S" }] },
        contents: [{ parts: [{ text: "Hi" }] }, { role: "model" }],
      },
    },
  ])("$name", ({ first, later }) => {
    expect(openingIn(first)).toMatch(/^[\w-]{43}$/);
    expect(openingIn(later)).toBe(openingIn(first));
  });
});

test.each([
  { name: "system prompt", change: { system: "T" } },
  { name: "tools", change: { tools: [{ name: "other", input_schema: {} }] } },
  { name: "first message", change: { messages: [{ role: "user", content: "Hi there" }] } },
  { name: "length of the first message", change: { messages: [{ role: "user", content: "Hi" + LONG }] } },
])("another $name is another conversation", ({ change }) => {
  const body = { system: "S", tools: [{ name: "t", input_schema: {} }], messages: [{ role: "user", content: "Hi" }] };
  expect(openingIn({ ...body, ...change })).not.toBe(openingIn(body));
});

test("text moves no further than its part", () => {
  const [one, other] = [
    { system: "a", messages: [{ role: "user", content: "b" }] },
    { system: "ab", messages: [{ role: "user", content: "" }] },
  ];
  expect(openingIn(one)).not.toBe(openingIn(other));
});

test.each([
  { name: "no message", body: { system: "S", messages: [] } },
  { name: "no user", body: { messages: [{ role: "assistant", content: "Hi" }] } },
  { name: "no turns", body: { prompt: "Hi" } },
  { name: "turns that are none", body: { messages: 7 } },
])("$name: no opening", ({ body }) => {
  expect(openingIn(body)).toBe("");
});

test("a text that is cut behind a backslash is read once, and not from each quote in it", () => {
  // Of a part 32,768 bytes are read, so that the cut parts a backslash from its quote. Read again and again, these
  // take minutes.
  const content = '"'.repeat(40_000);
  const messages = Array.from({ length: 200 }, () => ({ role: "system", content: [content, `x${content}`] }));
  expect(openingIn({ messages: [...messages, { role: "user", content: "Hi" }] })).not.toBe("");
});
