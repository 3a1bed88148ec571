/** What a checkpoint notes is never more than was generated. */
import fc from "fast-check";
import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { expect, test } from "vitest";
import { tokensAtLeast } from "../../src/gateway/count.js";

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
