/** The text of an answer while it comes. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { GrowingText } from "../../src/wire/growing-text.js";

test("is the text that was added, from every place that nobody settled", () => {
  const step = fc.record({ piece: fc.string({ unit: "binary", maxLength: 20 }), settles: fc.nat(1_000) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 50 }), (steps) => {
      const grown = new GrowingText();
      let [text, settled] = ["", 0];
      for (const { piece, settles } of steps) {
        grown.add(piece);
        text += piece;
        if (settles % 3 === 0) {
          settled = Math.max(settled, settles % (text.length + 1));
          grown.settle(settled);
        }
        expect(grown.length).toBe(text.length);
        expect(grown.toString()).toBe(text);
        for (const place of [settled, (settled + text.length) >> 1, text.length])
          expect(grown.from(place)).toBe(text.slice(place));
      }
    }),
  );
});
