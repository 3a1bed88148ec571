/** The one writer of events: whatever JSON it is handed, an event has its data on one line. */
import { fc } from "../../support/seeds.js";
import { describe, expect, test } from "vitest";
import { ListFraming } from "../../../src/formats/list-framing.js";
import { eventText, oneLine } from "../../../src/wire/events/writer.js";
import { SseFramer } from "../../../src/wire/events/framer.js";
import { jsonText } from "../openai-chat/bodies.js";

const LINE_ENDS = /[\n\r\u0085\u2028\u2029]/;

/** JSON with every sign that any reader takes for a line end, between tokens and in strings. */
const anyJson = fc
  .tuple(jsonText, fc.constantFrom("", "\n", "\r\n\t ", "\r"), fc.constantFrom("", "\u2028", "a\u2029\u0085"))
  .map(([json, space, sign]) => `[${space}${json}${space},${space}"${sign}"]`);

test("JSON on one line is the same value, whatever stood between its tokens", () => {
  fc.assert(
    fc.property(anyJson, (json) => {
      const line = oneLine(json);
      expect(line).not.toMatch(LINE_ENDS);
      expect(JSON.parse(line)).toEqual(JSON.parse(json));
    }),
  );
});

test("JSON that stands on one line is not changed", () => {
  const json = '{"a": [1.0,  "é\\n\\u2028"]}';
  expect(oneLine(json)).toBe(json);
});

test("an event is one line of data behind its name", () => {
  fc.assert(
    fc.property(anyJson, fc.constantFrom("", "done", "a\nb: c"), (json, name) => {
      const lines = eventText(name, json).split(/[\n\r\u0085\u2028\u2029]/);
      expect(lines.length).toBe(name === "" ? 3 : 4);
      expect(lines.at(-3)).toMatch(/^data: /);
      expect(lines.slice(-2)).toEqual(["", ""]);
    }),
  );
});

describe("an element of a list of JSON", () => {
  test.each([
    { name: "one line", stream: 'data: {"a":1}\n\n' },
    { name: "several lines", stream: 'data: {\ndata:   "a":\ndata: 1}\n\n' },
    { name: "several lines that end in CRLF", stream: 'data: {\r\ndata:   "a":\r\ndata: 1}\r\n\r\n' },
    { name: "several lines behind a byte order mark", stream: '\ufeffdata: {\ndata: "a":1}\n\n' },
  ])("from $name stands on one line", ({ stream }) => {
    const framing = new ListFraming();
    const told = Buffer.concat([
      framing.push(Buffer.from(stream + stream.replace("\ufeff", ""))),
      framing.end(),
    ]).toString();
    expect(told.split(/\r?\n/)).toHaveLength(3);
    expect(JSON.parse(told)).toEqual([{ a: 1 }, { a: 1 }]);
  });
});

test("a byte order mark before a stream is no part of its first event", () => {
  const raws: string[] = [];
  const framer = new SseFramer((_data, raw) => raws.push(raw.toString()));
  framer.push(Buffer.from("\ufeffdata: 1\n\ndata: 2\n\n"));
  expect(raws).toEqual(["data: 1\n\n", "data: 2\n\n"]);
});
