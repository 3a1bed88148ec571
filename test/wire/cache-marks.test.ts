/** Marks of the cache, wherever a client puts them: each reaches an upstream that has a place for it, or is named. */
import { fc } from "../support/seeds.js";
import { expect, test } from "vitest";
import { mistral } from "../../src/families/mistral.js";
import { openrouter } from "../../src/families/openrouter.js";
import { wire as anthropic } from "../../src/wire/anthropic/index.js";
import { createWire as createConverse } from "../../src/wire/bedrock-converse/index.js";
import { wire as gemini } from "../../src/wire/gemini/index.js";
import { openAiChatDialect } from "../../src/wire/openai-chat/facts-dialect.js";
import { wire as chat } from "../../src/wire/openai-chat/index.js";
import { wire as responses } from "../../src/wire/openai-responses/index.js";
import type { Dialect, UpstreamWire, Wire } from "../../src/wire/wire.js";
import { mistralProblem } from "../support/mistral-rules.js";
import { bySweep } from "../support/sweep.js";

type Json = Readonly<Record<string, unknown>>;
const MARK = { cache_control: { type: "ephemeral" } };
const LONG = { cache_control: { type: "ephemeral", ttl: "1h" } };
const OWN_WORD = { prompt_cache_breakpoint: { mode: "explicit" } };

const mark = fc.constantFrom<Json>({}, MARK, LONG, OWN_WORD);
const claudesMark = fc.constantFrom<Json>({}, MARK, LONG);
const few = fc.array(mark, { minLength: 1, maxLength: 3 });

interface Marked {
  readonly body: Json;
  /** How many of its marks stand in messages, and on tools. */
  readonly parts: number;
  readonly tools: number;
}

const isSet = (one: Json): number => Math.min(1, Object.keys(one).length);
const count = (marks: readonly Json[]): number => marks.reduce<number>((sum, one) => sum + isSet(one), 0);
const texts = (marks: readonly Json[], type = "text"): Json[] => marks.map((one) => ({ type, text: "words", ...one }));
const SCHEMA = { type: "object", properties: { cache_control: { type: "string" } } };

const CHAT = fc
  .record({ system: few, user: few, result: few, call: mark, message: mark, tool: mark, inner: mark, all: claudesMark })
  .map(({ system, user, result, call, message, tool, inner, all }): Marked => {
    const f = { name: "f", arguments: '{"cache_control":"x"}' };
    return {
      body: {
        model: "m",
        ...all,
        tools: [
          { type: "function", function: { name: "f", parameters: SCHEMA }, ...tool },
          { type: "function", function: { name: "g", parameters: SCHEMA, ...inner } },
        ],
        messages: [
          { role: "system", content: texts(system) },
          { role: "user", content: texts(user) },
          { role: "assistant", content: null, tool_calls: [{ id: "c", type: "function", function: f }], ...call },
          { role: "tool", tool_call_id: "c", content: texts(result) },
          { role: "user", content: "words", ...message },
          { role: "user", content: "words" },
        ],
      },
      // A result has one mark for all that is in it.
      parts: count([...system, ...user, call, message, all]) + Math.min(1, count(result)),
      tools: count([tool, inner]),
    };
  });

const RESPONSES = fc.record({ user: few, last: few }).map(({ user, last }): Marked => {
  const message = (marks: readonly Json[]): Json => ({ role: "user", content: texts(marks, "input_text") });
  return { body: { model: "m", input: [message(user), message(last)] }, parts: count([...user, ...last]), tools: 0 };
});

const MESSAGES = fc
  .record({ user: fc.array(claudesMark, { minLength: 1, maxLength: 2 }), inner: claudesMark, tool: claudesMark })
  .map(({ user, inner, tool }): Marked => {
    const call = { type: "tool_use", id: "c", name: "f", input: {} };
    const result = { type: "tool_result", tool_use_id: "c", content: texts([inner]) };
    return {
      body: {
        model: "m",
        max_tokens: 9,
        tools: [{ name: "f", input_schema: SCHEMA, ...tool }],
        messages: [
          { role: "user", content: texts(user) },
          { role: "assistant", content: [call] },
          { role: "user", content: [result] },
        ],
      },
      parts: count([...user, inner]),
      tools: count([tool]),
    };
  });

const CLIENTS: readonly { readonly wire: Wire; readonly marked: fc.Arbitrary<Marked> }[] = [
  { wire: chat, marked: CHAT },
  { wire: responses, marked: RESPONSES },
  { wire: anthropic, marked: MESSAGES },
];

function sent(client: Wire, body: Json, to: UpstreamWire, dialect: Dialect, cacheMarks = true) {
  const dropped: string[] = [];
  const owned = { model: "m", facts: { cacheMarks }, outputTokensMax: 9, stream: false, candidateCount: 1 };
  const source = { wire: client.name, body: Buffer.from(JSON.stringify(body)), headers: {} };
  const text = to.encodeRequest(client.readRequest(source), owned, dialect, dropped).toString();
  return { text, body: JSON.parse(text) as Json, dropped };
}

const marksIn = (text: string, word: string): number => text.split(`"${word}":{`).length - 1;
/** Schemas of the tools have a property of that name. */
const NOT_MARKS = /"cache_control":\{"type":"string"\}/g;
const RUNS = { numRuns: bySweep({ short: 60, long: 300, all: 300 }) };

const pairs = <Target extends { readonly wire: UpstreamWire }>(targets: readonly Target[]) =>
  CLIENTS.flatMap((client) =>
    targets
      .filter(({ wire }) => wire.name !== client.wire.name)
      .map((target) => ({ client, target, from: client.wire.name, to: target.wire.name })),
  );

test.each(
  pairs([
    { wire: anthropic as UpstreamWire, word: "cache_control" },
    { wire: createConverse(() => "id"), word: "cachePoint" },
  ]),
)("all of them reach Claude, four at most and none within a result: $from to $to", ({ client, target }) => {
  fc.assert(
    fc.property(client.marked, ({ body, parts, tools }) => {
      const { text, body: told, dropped } = sent(client.wire, body, target.wire, {});
      expect(marksIn(text.replaceAll(NOT_MARKS, ""), target.word)).toBe(Math.min(4, parts + tools));
      expect(dropped).not.toContain("cache_control");
      const blocks = (told["messages"] as { content: Json[] }[]).flatMap(({ content }) => content);
      const results = blocks.flatMap(({ type, content, toolResult }) =>
        type === "tool_result" ? [content] : toolResult === undefined ? [] : [(toolResult as Json)["content"]],
      );
      expect(marksIn(JSON.stringify(results), target.word)).toBe(0);
    }),
    RUNS,
  );
});

test.each(
  pairs([
    { wire: gemini as UpstreamWire, dialect: {}, takesParts: false, word: "" },
    { wire: createConverse(() => "id"), dialect: {}, takesParts: false, word: "" },
    { wire: responses, dialect: {}, takesParts: true, word: "prompt_cache_breakpoint" },
    { wire: chat, dialect: openAiChatDialect, takesParts: false, word: "" },
    { wire: chat, dialect: openrouter.dialect, takesParts: true, word: "cache_control" },
  ]),
)("where one has no place it is named: $from to $to", ({ client, target }) => {
  fc.assert(
    fc.property(client.marked, ({ body, parts, tools }) => {
      const { text, dropped } = sent(client.wire, body, target.wire, { ...target.dialect }, false);
      const isLost = tools > 0 || (parts > 0 && !target.takesParts);
      expect(dropped.includes("cache_control")).toBe(isLost);
      if (!target.takesParts) expect(text.replaceAll(NOT_MARKS, "")).not.toMatch(/"(cache_control|cachePoint)":\{/);
      else if (client.wire === responses) expect(marksIn(text, target.word)).toBe(parts);
    }),
    RUNS,
  );
});

test("Mistral, which refuses what it does not know, gets none from a chat client, who is told", () => {
  fc.assert(
    fc.property(CHAT, ({ body, parts, tools }) => {
      const { text, body: told, dropped } = sent(chat, body, chat, { ...mistral.dialect });
      expect(text.replaceAll(NOT_MARKS, "")).not.toMatch(/"(cache_control|prompt_cache_breakpoint)":\{/);
      expect(dropped.includes("cache_control")).toBe(parts + tools > 0 && hasMark(body));
      expect(mistralProblem(told)).toBeUndefined();
      expect(text).toContain(JSON.stringify(SCHEMA));
    }),
    RUNS,
  );
});

const hasMark = (body: Json): boolean =>
  /"(cache_control|prompt_cache_breakpoint)":\{/.test(JSON.stringify(body).replaceAll(NOT_MARKS, ""));
