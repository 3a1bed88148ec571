/** The text of an answer while it comes. */
import { fc } from "../../support/seeds.js";
import { expect, test } from "vitest";
import { GrowingText } from "../../../src/wire/answer/growing-text.js";

/** Half a sign is the same as any other half: no tokenizer and no file can tell them apart. */
const readable = (text: string): string => Buffer.from(text).toString();

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
        expect(readable(grown.toString())).toBe(readable(text.slice(dropped)));
        expect(grown.keptLength).toBe(text.length - dropped);
        expect(grown.keptBytes).toBe(Buffer.byteLength(text.slice(dropped)));
        for (const place of [dropped, (dropped + text.length) >> 1, text.length])
          expect(readable(grown.from(place))).toBe(readable(text.slice(place)));
      }
    }),
  );
});

test("joins a sign whose halves came apart, also behind what was dropped", () => {
  const [first = "", second = ""] = "😀".split("");
  const grown = new GrowingText();
  for (const piece of ["so ", first, "", second, "!", first]) grown.add(piece);
  expect([grown.toString(), grown.keptBytes]).toEqual([`so 😀!${first}`, 11]);
  grown.drop(5);
  for (const piece of [second, first, second]) grown.add(piece);
  expect([grown.toString(), grown.length]).toEqual(["!😀😀", 10]);
});

test("reads the end of a text of ten thousand pieces", () => {
  const grown = new GrowingText();
  for (let place = 0; place < 10_000; place++) grown.add(` word${place % 10}`);
  expect([grown.keptLength, grown.keptBytes]).toEqual([60_000, 60_000]);
  expect(grown.from(59_990)).toBe("ord8 word9");
});
