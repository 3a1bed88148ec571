/** Quantities of units: in order, each once, within bounds; sums are exact, and the stored text gives them back. */
import { fc } from "../support/seeds.js";
import { expect, test } from "vitest";
import type { Meter } from "../../src/api/index.js";
import {
  addedMeters,
  areMeters,
  boundedMeters,
  metersBeyond,
  metersCell,
  metersIn,
  metersText,
  metersWords,
  NO_METERS,
  QUANTITY_MAX,
} from "../../src/api/meters.js";

const any: fc.Arbitrary<Meter> = fc.record({
  unit: fc.constantFrom("picture", "search_unit", "second"),
  variant: fc.constantFrom("", "high", "low"),
  quantity: fc.bigInt(1n, 10n ** 9n),
});
const meters = fc.array(any, { maxLength: 8 }).map((list) => addedMeters(NO_METERS, list));

test("the stored text gives the same meters", () => {
  fc.assert(
    fc.property(meters, (list) => {
      expect(metersIn(metersText(list))).toEqual(list);
    }),
  );
});

test("sums are the same in any order, in order, and what was added can be taken off", () => {
  fc.assert(
    fc.property(meters, meters, (one, other) => {
      const sum = addedMeters(one, other);
      expect(sum).toEqual(addedMeters(other, one));
      expect(areMeters(sum)).toBe(true);
      expect(metersBeyond(sum, other)).toEqual(one);
    }),
  );
});

test("whatever an upstream says becomes meters that the ledger takes", () => {
  const wild = fc.record({
    unit: fc.oneof(fc.constantFrom("picture", "search_unit"), fc.string()),
    variant: fc.oneof(fc.constant(""), fc.string()),
    quantity: fc.bigInt(-10n, 2n * QUANTITY_MAX),
  });
  fc.assert(
    fc.property(fc.array(wild, { maxLength: 40 }), (list) => {
      expect(areMeters(boundedMeters(list))).toBe(true);
    }),
  );
});

test.each(["", "x", "{}", '[["search_unit","",-1.5]]', "[[1,2,3]]", null, undefined])(
  "a text that holds no meters, %j, gives none",
  (text) => expect(metersIn(text)).toEqual([]),
);

test("they are written for people and for tables", () => {
  const list = [
    { unit: "picture", variant: "high", quantity: 1n },
    { unit: "search_unit", variant: "", quantity: 2n },
  ];
  expect(metersWords(list)).toBe("1 picture (high), 2 search units");
  expect(metersCell(list)).toBe("picture/high=1 search_unit=2");
});
