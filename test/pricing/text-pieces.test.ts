/** What a note counts piece by piece is what the whole text counts. */
import { fc } from "../support/seeds.js";
import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { expect, test } from "vitest";
import { tokensAtLeast, wordEnd } from "../../src/pricing/text-pieces.js";

test.each([
  ["behind the last whole word", "one two three", 0, 7],
  ["before a sign, in a language without blanks", "今天天气很好，我们", 0, 6],
  ["before a number", "part 12", 0, 4],
  ["not inside what an apostrophe joins", "I don't", 0, 1],
  ["not before what was noted", "one two three", 8, undefined],
  ["nowhere in a word that may go on", "word", 0, undefined],
])("a text is cut %s", (_name, text, start, end) => {
  expect(wordEnd(text, start)).toBe(end);
});

test("the counts of the pieces are the count of the whole", () => {
  const word = fc.oneof(
    fc.lorem(),
    fc.string(),
    fc.constantFrom("  ", "\n\n", "don't", "café", "x = {'a': 12};", "你好，世界。", "привет", "I'll"),
  );
  const seed = 20_261_121;
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 60 }), fc.integer({ min: 20, max: 90 }), (words, step) => {
      const text = words.join(" ");
      let [start, tokens] = [0, 0];
      // The text grows by steps, as a stream does, and each step notes what is whole by then.
      for (let length = step; length < text.length; length += step) {
        const end = wordEnd(text.slice(0, length), start);
        if (end === undefined) continue;
        tokens += encode(text.slice(start, end)).length;
        start = end;
      }
      tokens += encode(text.slice(start)).length;
      expect(tokens).toBe(encode(text).length);
    }),
    { numRuns: 2_000, seed },
  );
});

test.each([
  ["", 0],
  ["Hello", 1],
  ["Hello, world! It's 2026.", 9],
  ["    indented\n\tcode()", 4],
])("notes at least some tokens of %j", (text, most) => {
  expect(tokensAtLeast(text)).toBeLessThanOrEqual(encode(text).length);
  expect(tokensAtLeast(text)).toBeLessThanOrEqual(most === 0 ? 0 : encode(text).length);
});

test("never notes more tokens than the tokenizer makes", () => {
  const word = fc.oneof(
    fc.lorem(),
    fc.string({ unit: "grapheme" }),
    fc.constantFrom("  ", "\n\n", "don't", "δοκιμή", "试验", "١٢٣٤"),
  );
  fc.assert(
    fc.property(fc.array(word, { maxLength: 40 }), (words) => {
      const text = words.join(" ");
      expect(tokensAtLeast(text)).toBeLessThanOrEqual(encode(text).length);
    }),
    { numRuns: 3_000 },
  );
});
