/** Names that a decoder takes for one another fold alike, however few of them need to be folded. */
import { expect, test } from "vitest";
import { foldedName } from "../../../src/wire/request/folded-name.js";
import { fc } from "../../support/seeds.js";

const letters = "abcxyz019_k".split("");

test("a plain name folds as it does in capitals, and with what stands behind a zero", () => {
  const names = fc.array(fc.constantFrom(...letters)).map((signs) => signs.join(""));
  fc.assert(
    fc.property(names, (name) => {
      expect(foldedName(name)).toBe(foldedName(name.toUpperCase()));
      expect(foldedName(name)).toBe(foldedName(`${name}\0else`));
      expect(foldedName(name)).toBe(name.split("_").join(""));
    }),
  );
});

test.each(["IMAGE_URL", "image-url", "imageUrl", "\u212A", "ima\uFF47eurl", "image_url\0x"])("%j is folded", (name) => {
  expect(["imageurl", "k"]).toContain(foldedName(name));
});
