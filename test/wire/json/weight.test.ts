/** What is too much for the event loop: long bodies, and those of many values, however their texts are spelled. */
import { fc } from "../../support/seeds.js";
import { expect, test } from "vitest";
import { isLongBody, LONG_BODY_BYTES } from "../../../src/wire/json/weight.js";

/** Longer than what is never looked at. */
const SPACE = " ".repeat(17_000);
const MANY = `[${"0,".repeat(2_048)}0]`;
const FEW = `[${"0,".repeat(2_047)}0]`;

test("marks in texts are none, whatever the text and wherever it ends", () => {
  const pieces = fc.constantFrom("[", "{", ",", '"', "\\", "a".repeat(100), "\u00e9", "\n", "\u0001", '\\"');
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 300 }), fc.nat(300), (text, pad) => {
      const said = JSON.stringify("x".repeat(pad) + text.join(""));
      const body = (values: string): Buffer => Buffer.from(`${SPACE}${said}${values}${said}`);
      expect(isLongBody(body(FEW.slice(1)))).toBe(false);
      expect(isLongBody(body(MANY))).toBe(true);
    }),
  );
});

test.each([
  { name: "a short body of many values", body: MANY, long: false },
  { name: "a text of all that is allowed", body: `"${"[{,".repeat(80_000)}"`, long: false },
  { name: "a longer one", body: `"${"x".repeat(LONG_BODY_BYTES)}"`, long: true },
  { name: "an open text", body: `${SPACE}"${"[".repeat(100_000)}`, long: false },
  { name: "one that ends in an escape", body: `${SPACE}"${"\\".repeat(1_001)}`, long: false },
])("$name is long: $long", ({ body, long }) => {
  expect(isLongBody(Buffer.from(body))).toBe(long);
});
