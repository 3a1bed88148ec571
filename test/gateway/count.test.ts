/** What a note counts piece by piece is what the whole text counts. */
import fc from "fast-check";
import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { expect, test } from "vitest";
import { wordEnd } from "../../src/gateway/count.js";

test.each([
  ["cuts before the last word", "one two three", 0, 7],
  ["cuts where the text ends, without blanks", "试验试验试验", 0, 6],
  ["cuts not before a number", "part 12", 0, 7],
  ["cuts not before what was noted", "one two three", 8, 13],
])("%s", (_name, text, start, end) => {
  expect(wordEnd(text, start)).toBe(end);
});

test("the counts of the pieces are the count of the whole", () => {
  const word = fc.oneof(fc.lorem(), fc.string(), fc.constantFrom("  ", "\n\n", "don't", "café", "x = {'a': 12};"));
  const seed = 20_261_121;
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 60 }), fc.integer({ min: 20, max: 90 }), (words, step) => {
      const text = words.join(" ");
      let [start, tokens] = [0, 0];
      // The text grows by steps, as a stream does, and each step notes what is whole by then.
      for (let length = step; length < text.length; length += step) {
        const end = wordEnd(text.slice(0, length), start);
        // Where no word ends, the cut may cross a token.
        if (end === length) continue;
        tokens += encode(text.slice(start, end)).length;
        start = end;
      }
      tokens += encode(text.slice(start)).length;
      expect(tokens).toBe(encode(text).length);
    }),
    { numRuns: 2_000, seed },
  );
});
