/** The pass over a body misses no member that may hold an address, however its name is written. */
import { expect, test } from "vitest";
import { JsonCursor } from "../../../src/wire/json/cursor.js";
import { holdsOf } from "../../../src/wire/request/address-names.js";
import { fc } from "../../support/seeds.js";

const ENDS = ["url", "urls", "uri", "uris", "image", "videos", "audio", "image_data", "word", "role", ""];
const SPELLINGS: readonly ((name: string) => string)[] = [
  (name) => name,
  (name) => name.toUpperCase(),
  (name) => name.split("").join("_"),
  (name) => `${name}-`,
  (name) => name.replaceAll("s", "\u017F"),
  (name) => name.replaceAll("i", "\uFF49"),
  (name) => `${name}\0else`,
];

test("whatever stands before the end of a name, and around its object", () => {
  const names = fc.tuple(fc.string({ unit: "grapheme", maxLength: 6 }), fc.constantFrom(...ENDS));
  let held = 0;
  fc.assert(
    fc.property(names, fc.constantFrom(...SPELLINGS), ([begin, end], spelled) => {
      const name = spelled(begin + end);
      if (name === "__proto__" || holdsOf(name) === "nothing") return;
      held++;
      const cursor = new JsonCursor(Buffer.from(JSON.stringify({ a: [{ [name]: "x" }] })));
      cursor.skip();
      expect(cursor.sawAddressName, JSON.stringify(name)).toBe(true);
    }),
    { numRuns: 2_000 },
  );
  expect(held).toBeGreaterThan(500);
});

test("an ordinary conversation has no such member", () => {
  const messages = [{ role: "user", content: "Look at https://example.com/a.png", name: "Ada" }];
  const cursor = new JsonCursor(Buffer.from(JSON.stringify({ model: "m", messages, max_tokens: 5, tools: [] })));
  cursor.skip();
  expect(cursor.sawAddressName).toBe(false);
});
