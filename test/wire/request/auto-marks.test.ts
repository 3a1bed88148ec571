/** Marks of caches that the gateway sets, in a body of Anthropic's own and in one that is translated. */
import { expect, test } from "vitest";
import { wire as anthropic } from "../../../src/wire/anthropic/index.js";
import { wire as chat } from "../../../src/wire/openai-chat/index.js";
import { createWire } from "../../../src/wire/bedrock-converse/index.js";
import { hasCacheMarks } from "../../../src/wire/request/auto-marks.js";
import type { ClientWire, UpstreamWire } from "../../../src/wire/wire.js";

const bedrock = createWire(() => "id");
const MARK = { cache_control: { type: "ephemeral", ttl: "5m" } };
const LONG = "word ".repeat(1_000);
const FACTS = { cacheMarks: true, thinking: "budget", tools: true } as const;

function sent(from: ClientWire, to: UpstreamWire, asked: object, tokensMin = 512): Record<string, unknown> {
  const body = Buffer.from(JSON.stringify({ model: "m", max_tokens: 100, ...asked }));
  const request = from.readRequest({ wire: from.name, body, headers: {} });
  const owned = { model: "m", facts: FACTS, outputTokensMax: 100, stream: false, candidateCount: 1 };
  const write = (): string =>
    to.encodeRequest(request, { ...owned, cacheMarks: { ttlSeconds: 300, tokensMin } }, {}).toString();
  const written = write();
  expect(write()).toBe(written);
  return JSON.parse(written) as Record<string, unknown>;
}

const TURNS = [
  { role: "user", content: `first ${LONG}` },
  { role: "assistant", content: "an answer" },
  { role: "user", content: "second" },
  { role: "assistant", content: "another answer" },
  { role: "user", content: "third" },
];
const TOOL = { type: "function", function: { name: "look", parameters: { type: "object" } } };

test("a chat gets marks behind its instructions and behind the two newest turns of the user", () => {
  const messages = [{ role: "system", content: `Be brief. ${LONG}` }, ...TURNS];
  const {
    system,
    messages: said,
    tools,
  } = sent(chat, anthropic, { messages, tools: [TOOL] }) as never as {
    system: object[];
    messages: { content: object[] }[];
    tools: object[];
  };
  expect(system).toEqual([{ type: "text", text: `Be brief. ${LONG}`, ...MARK }]);
  expect(JSON.stringify(tools)).not.toContain("cache_control");
  expect(said.map(({ content }) => JSON.stringify(content).includes("cache_control"))).toEqual([
    false,
    false,
    true,
    false,
    true,
  ]);
});

test("without instructions the last tool is marked", () => {
  const long = { ...TOOL, function: { ...TOOL.function, description: LONG } };
  const { tools } = sent(chat, anthropic, { messages: TURNS, tools: [TOOL, long] }) as never as { tools: object[] };
  expect(tools.map((tool) => "cache_control" in tool)).toEqual([false, true]);
});

test("what is shorter than an upstream caches is not marked", () => {
  const messages = [{ role: "system", content: "Be brief." }, ...TURNS];
  const { system } = sent(chat, anthropic, { messages });
  expect(system).toEqual([{ type: "text", text: "Be brief." }]);
  expect(JSON.stringify(sent(chat, anthropic, { messages }, 4_096))).not.toContain("cache_control");
});

test("Bedrock gets a point of the cache behind the same blocks", () => {
  const { messages } = sent(chat, bedrock, { messages: TURNS }) as never as { messages: { content: object[] }[] };
  expect(messages.map(({ content }) => content.some((block) => "cachePoint" in block))).toEqual([
    false,
    false,
    true,
    false,
    true,
  ]);
});

test("a body of Anthropic's own keeps every byte beside the marks", () => {
  const asked = {
    system: [
      { type: "text", text: `Rules ${LONG}` },
      { type: "text", text: "x-anthropic-billing-header: cch=abc;" },
    ],
    tools: [{ name: "look", input_schema: { type: "object" }, unknown: 1.0 }],
    messages: [
      ...TURNS.slice(0, 4),
      {
        role: "user",
        content: [
          { type: "text", text: "third" },
          { type: "text", text: " " },
        ],
      },
    ],
    future: { a: [1] },
  };
  const written = sent(anthropic, anthropic, asked);
  const [rules, billing] = asked.system;
  expect(written).toEqual({
    model: "m",
    max_tokens: 100,
    ...asked,
    system: [{ ...rules, ...MARK }, billing],
    messages: [
      ...TURNS.slice(0, 2),
      { role: "user", content: [{ type: "text", text: "second", ...MARK }] },
      TURNS[3],
      {
        role: "user",
        content: [
          { type: "text", text: "third", ...MARK },
          { type: "text", text: " " },
        ],
      },
    ],
  });
});

test("thoughts are never marked", () => {
  const messages = [
    { role: "user", content: LONG },
    { role: "assistant", content: [{ type: "thinking", thinking: "Hm", signature: "c2ln" }] },
    { role: "user", content: [{ type: "thinking", thinking: "Hm", signature: "c2ln" }] },
  ];
  const { messages: said } = sent(anthropic, anthropic, { messages }) as never as { messages: { content: unknown }[] };
  expect(said.slice(1)).toEqual(messages.slice(1));
});

test.each([
  {
    name: "a mark",
    body: { messages: [{ role: "user", content: [{ type: "text", text: "a", ...MARK }] }] },
    want: true,
  },
  { name: "a mark of all", body: { ...MARK, messages: TURNS }, want: true },
  { name: "the word in a text", body: { messages: [{ role: "user", content: 'say "cache_control"' }] }, want: false },
])("$name is a client's mark: $want", ({ body, want }) => {
  const source = {
    wire: "anthropic",
    body: Buffer.from(JSON.stringify({ model: "m", max_tokens: 9, ...body })),
    headers: {},
  };
  expect(hasCacheMarks(anthropic.readRequest(source))).toBe(want);
});
