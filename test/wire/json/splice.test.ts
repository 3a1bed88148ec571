/** Edits of members change those members and no other byte. */
import { fc } from "../../support/seeds.js";
import { describe, expect, test } from "vitest";
import { JsonCursor } from "../../../src/wire/json/cursor.js";
import { readMembers, splice } from "../../../src/wire/json/splice.js";

function edited(text: string, edits: Record<string, string | undefined>): string {
  const bytes = Buffer.from(text);
  const cursor = new JsonCursor(bytes);
  const open = cursor.at;
  return splice(bytes, open, readMembers(cursor), new Map(Object.entries(edits))).toString();
}

describe("one edit", () => {
  test.each([
    { name: "replaces", text: '{ "a" : 1 , "b":2}', edits: { a: "9" }, want: '{ "a" : 9 , "b":2}' },
    { name: "removes the first", text: '{ "a" : 1 , "b":2 }', edits: { a: undefined }, want: '{ "b":2 }' },
    { name: "removes the last", text: '{"a":1 , "b":2 }', edits: { b: undefined }, want: '{"a":1 }' },
    { name: "removes the only one", text: '{ "a":1 }', edits: { a: undefined }, want: "{ }" },
    {
      name: "removes two at the end",
      text: '{"a":1,"b":2,"c":3}',
      edits: { b: undefined, c: undefined },
      want: '{"a":1}',
    },
    { name: "removes none that is not there", text: '{"a":1}', edits: { z: undefined }, want: '{"a":1}' },
    { name: "adds to some", text: '{"a":1\n}', edits: { b: "2" }, want: '{"a":1,"b":2\n}' },
    { name: "adds to none", text: " {} ", edits: { b: "2" }, want: ' {"b":2} ' },
    { name: "adds where the last goes", text: '{"a":1,"b":2}', edits: { b: undefined, c: "3" }, want: '{"a":1,"c":3}' },
    { name: "adds where all go", text: '{"a":1}', edits: { a: undefined, c: "3" }, want: '{"c":3}' },
    { name: "knows escaped keys", text: '{"\\u0061":1}', edits: { a: "2" }, want: '{"\\u0061":2}' },
  ])("$name", ({ text, edits, want }) => {
    expect(edited(text, edits)).toBe(want);
  });
});

test("any edits give what the same edits of the parsed object give, in the same order", () => {
  const keys = fc.constantFrom("a", "b", "c", "d", "é", 'q"');
  const value = fc.option(fc.jsonValue({ maxDepth: 2 }), { nil: undefined });
  fc.assert(
    fc.property(
      fc.dictionary(keys, fc.jsonValue({ maxDepth: 2 })),
      fc.dictionary(keys, value),
      fc.constantFrom(0, 1, 4),
      (object, edits, indent) => {
        fc.pre(!JSON.stringify([object, edits]).includes("__proto__"));
        const texts = Object.fromEntries(
          Object.entries(edits).map(([key, change]) => [
            key,
            change === undefined ? undefined : JSON.stringify(change),
          ]),
        );
        const want: Record<string, unknown> = { ...object };
        for (const [key, change] of Object.entries(edits)) {
          if (change === undefined) delete want[key];
          else want[key] = change;
        }
        const got = edited(JSON.stringify(object, null, indent), texts);
        expect(JSON.stringify(JSON.parse(got))).toBe(JSON.stringify(want));
      },
    ),
  );
});

test("no edit keeps every byte", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (object) => {
      const text = `\n${JSON.stringify(object, null, 3)} `;
      fc.pre(!text.includes("__proto__"));
      expect(edited(text, {})).toBe(text);
    }),
  );
});

test.each(['{"a":1,"a":2}', '{"model":1,"\\u006dodel":2}'])("a key that occurs twice is refused: %s", (text) => {
  expect(() => edited(text, {})).toThrow("occurs twice");
});
