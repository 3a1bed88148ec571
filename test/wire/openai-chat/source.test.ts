/** A stream's own bytes on the same wire: all of them, but for what the gateway owns. */
import { fc } from "../../support/seeds.js";
import { describe, expect, test } from "vitest";
import { wire } from "../../../src/wire/openai-chat/index.js";
import { escapedBreaks } from "../../support/escaped-breaks.js";
import { FACTS, jsonText } from "./bodies.js";
import { chunk, readStream, sse } from "./reading.js";

const ASKED = { ...FACTS, includeUsage: true };
const STOP = chunk({}, { finish_reason: "stop" });
const USAGE = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 };

describe("the source's own bytes", () => {
  test.each([
    { name: "the chunk of usage goes", from: sse(STOP, { choices: [], usage: USAGE }, "[DONE]"), to: sse(STOP) },
    {
      name: "the end is held back, and nothing follows it",
      from: sse(STOP, "[DONE]", chunk({ content: "late" })),
      to: sse(STOP),
    },
    { name: "comments pass", from: `: OPENROUTER\n\n${sse(STOP)}: x\n\n`, to: `: OPENROUTER\n\n${sse(STOP)}: x\n\n` },
    { name: "a null goes, last", from: 'data: {"choices":[],"usage":null}\n\n', to: 'data: {"choices":[]}\n\n' },
    {
      name: "a null goes, between",
      from: 'data: {"a":1,"usage":null,"choices":[]}\n\n',
      to: 'data: {"a":1,"choices":[]}\n\n',
    },
    { name: "a null goes, first", from: 'data: {"usage":null,"choices":[]}\n\n', to: 'data: {"choices":[]}\n\n' },
    { name: "a null goes, alone", from: 'data: {"usage":null}\n\n', to: "data: {}\n\n" },
    {
      name: "a null goes, spaced",
      from: 'data: { "choices" : [] , "usage" : null }\r\n\r\n',
      to: 'data: { "choices" : [] }\r\n\r\n',
    },
    {
      name: "a null goes, escaped",
      from: 'data: {"\\u0075sage":null,"choices":[]}\n\n',
      to: 'data: {"choices":[]}\n\n',
    },
    {
      name: "a null goes, in lines",
      from: 'data: {"choices":[],\ndata: "usage":null}\n\n',
      to: 'data: {"choices":[]}\n\n',
    },
    {
      name: "a null deeper down stays",
      from: 'data: {"x":{"usage":null},"choices":[],"usage":null}\n\n',
      to: 'data: {"x":{"usage":null},"choices":[]}\n\n',
    },
    {
      name: "the word in a text stays",
      from: 'data: {"x":"\\"usage\\":null,","choices":[],"usage":null}\n\n',
      to: 'data: {"x":"\\"usage\\":null,","choices":[]}\n\n',
    },
    {
      name: "usage beside choices stays",
      from: sse(chunk({}, {}, { usage: USAGE })),
      to: sse(chunk({}, {}, { usage: USAGE })),
    },
    {
      name: "a chunk of filters stays",
      from: sse({ choices: [], prompt_filter_results: [] }),
      to: sse({ choices: [], prompt_filter_results: [] }),
    },
  ])("$name", ({ from, to }) => {
    for (const cuts of [[], [12], Array.from({ length: from.length }, (_, at) => at)])
      expect(readStream(Buffer.from(from), FACTS, "source", cuts).source).toBe(to);
  });

  test("a client that asked for usage gets every byte but the end", () => {
    const text = sse(chunk({ content: "a" }, {}, { usage: null }), STOP, { choices: [], usage: USAGE });
    expect(readStream(Buffer.from(`${text}data: [DONE]\n\n`), ASKED, "source").source).toBe(text);
  });

  test("an answer that came whole is told as a stream, with its usage", () => {
    const answer = {
      id: "c-1",
      created: 1,
      model: "up",
      choices: [{ message: { content: "Hi" }, finish_reason: "stop" }],
      usage: USAGE,
    };
    const read = readStream(Buffer.from(JSON.stringify(answer)), ASKED, "source");
    const again = readStream(Buffer.from(read.source), ASKED, "source");
    expect(again.report).toMatchObject({ text: "Hi", usage: { inputTokens: 5n }, complete: true });
    expect(read.source).not.toContain("[DONE]");
  });

  test("one read of whole events is handed on without a copy", () => {
    const bytes = Buffer.from(sse(chunk({ content: "a" }), chunk({ content: "b" })));
    const { source } = wire.decodeStream(FACTS, "source").push(bytes);
    expect(source.buffer).toBe(bytes.buffer);
    expect(source.equals(bytes)).toBe(true);
  });

  test("only comments are not visible", () => {
    const decoder = wire.decodeStream(FACTS, "source");
    expect(decoder.push(Buffer.from(": ping\n\n")).visible).toBe(false);
    expect(decoder.push(Buffer.from(sse(STOP))).visible).toBe(true);
    expect(decoder.end().visible).toBe(false);
  });

  test("unknown fields, at any place, pass byte for byte", () => {
    const field = fc
      .tuple(fc.stringMatching(/^[a-z]{1,6}$/), jsonText)
      .map(([key, value]) => `"x-${key}":${value.replaceAll(/[\r\n]/g, " ")}`);
    const event = fc
      .tuple(fc.array(field, { maxLength: 2 }), fc.array(field, { maxLength: 2 }), fc.array(field, { maxLength: 2 }))
      .map(
        ([top, choice, delta]) =>
          `data: {${[...top, `"choices": [{${[...choice, `"index":0,"delta":{${[...delta, '"content":"a"'].join(" ,")}}`].join(", ")}}]`].join(",")}}`,
      );
    fc.assert(
      fc.property(
        fc.array(event, { minLength: 1, maxLength: 4 }),
        fc.constantFrom("\n", "\r\n"),
        fc.nat(),
        (events, end, cut) => {
          const text = events.map((line) => line + end + end).join("");
          const bytes = Buffer.from(text);
          const read = readStream(bytes, FACTS, "source", [cut % bytes.length]);
          expect(read.source).toBe(Buffer.from(escapedBreaks(text)).toString("latin1"));
          expect(read.report.text).toBe("a".repeat(events.length));
        },
      ),
    );
  });
});
