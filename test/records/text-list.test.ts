/** Packed texts are found and read as those of a list, whatever stands in them. */
import { fc } from "../support/seeds.js";
import { expect, test } from "vitest";
import { ListedTexts, PackedTexts } from "../../src/records/text-list.js";

/** Few letters, so that pieces occur often and across two texts; characters of each length, and halves of some. */
const text = fc.string({ unit: fc.constantFrom("a", "b", "é", "€", "😀", "\n"), maxLength: 6 });
const texts = fc.uniqueArray(text, { maxLength: 30 }).map((some) => [""].concat(some.filter((one) => one !== "")));

test("say what a list of the same says", () => {
  fc.assert(
    fc.property(texts, text, (some, piece) => {
      const [listed, packed] = [new ListedTexts(some), PackedTexts.of(new ListedTexts(some))];
      expect(packed.count).toBe(listed.count);
      expect(Array.from({ length: packed.count + 2 }, (_, at) => packed.at(at))).toEqual([...some, "", ""]);
      expect(some.map((one) => packed.placeOf(one))).toEqual([...some.keys()]);
      expect(packed.placeOf(piece)).toBe(some.indexOf(piece));
      expect([...packed.placesWith(piece)]).toEqual([...listed.placesWith(piece)]);
    }),
  );
});

test("half a character stays in its text, and its neighbours as they are", () => {
  const packed = PackedTexts.of(new ListedTexts(["", "one \ud83d", "\ude00 two", "three"]));
  expect([1, 2, 3].map((at) => packed.at(at))).toEqual(["one \ufffd", "\ufffd two", "three"]);
  expect(packed.placeOf("three")).toBe(3);
});
