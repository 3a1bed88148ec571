/** Names and numbers of bodies, which are read without a call out of the engine where they are plain. */
import { describe, expect, it } from "vitest";
import { JsonCursor } from "../../../src/wire/json/cursor.js";
import { nameIn } from "../../../src/wire/json/recent-names.js";

const named = (text: string): string => {
  const bytes = Buffer.from(`"${text}"`);
  return nameIn(bytes, 1, bytes.length - 1);
};

describe("the names of members", () => {
  it("are what their bytes say, whatever name came before in their place", () => {
    // All of one length, with the same first and last character: each takes the place of the one before.
    const names = Array.from({ length: 26 }, (_, at) => `m${String.fromCharCode(0x61 + at)}l`);
    for (const name of [...names, ...names.toReversed(), ...names]) expect(named(name)).toBe(name);
  });

  it("may be empty, long, or none of ASCII", () => {
    for (const name of [
      "",
      "é",
      "éa",
      "aé",
      "\u{1F600}",
      "\u{1F600}x",
      "ключ",
      "x".repeat(64),
      "x".repeat(65),
      "x".repeat(4096),
    ])
      for (let times = 0; times < 3; times++) expect(named(name)).toBe(name);
  });

  it("are no other name of as many bytes", () => {
    // Two bytes of one character, and two characters.
    expect([named("aéa"), named("abca"), named("aéa"), named("a\u00c3\u00a9a")]).toEqual([
      "aéa",
      "abca",
      "aéa",
      "aÃ©a",
    ]);
  });
});

describe("the numbers of a body", () => {
  it.each([
    "0",
    "-0",
    "7",
    "100000",
    "999999999999999",
    "9999999999999999",
    "12345678901234567890",
    "1.5",
    "-3",
    "1e3",
    "1e400",
    "0.1",
  ])("%s is read as JavaScript reads it", (text) => {
    const cursor = new JsonCursor(Buffer.from(text));
    expect(cursor.readNumber()).toBe(Number(text));
    cursor.finish();
  });
});
