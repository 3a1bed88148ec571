/** The text of an answer while it comes. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { GrowingText } from "../../../src/wire/answer/growing-text.js";

test("is the text that was added, from every place behind what was dropped", () => {
  const step = fc.record({ piece: fc.string({ unit: "binary", maxLength: 20 }), drops: fc.nat(1_000) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 50 }), (steps) => {
      const grown = new GrowingText();
      let [text, dropped] = ["", 0];
      for (const { piece, drops } of steps) {
        grown.add(piece);
        text += piece;
        if (drops % 3 === 0) {
          dropped = Math.max(dropped, drops % (text.length + 1));
          grown.drop(dropped);
        }
        expect(grown.length).toBe(text.length);
        expect(grown.toString()).toBe(text.slice(dropped));
        expect(grown.keptLength).toBe(text.length - dropped);
        for (const place of [dropped, (dropped + text.length) >> 1, text.length])
          expect(grown.from(place)).toBe(text.slice(place));
      }
    }),
  );
});
