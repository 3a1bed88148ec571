/** Bytes that are kept until all are there: the same bytes, in few pieces however small they came. */
import { expect, test } from "vitest";
import { GatheredBytes } from "../../../src/base/bytes/gathered-bytes.js";
import { randomOf } from "../../support/random.js";

test("pieces of any lengths come out as they went in", () => {
  const random = randomOf(20_261);
  for (let round = 0; round < 200; round++) {
    const gathered = new GatheredBytes();
    const pieces = Array.from({ length: Math.floor(random() * 40) }, (_, index) =>
      Buffer.alloc(Math.floor(random() ** 4 * 20_000), index + 1),
    );
    for (const piece of pieces) gathered.add(piece);
    const all = Buffer.concat(pieces);
    expect(gathered.length).toBe(all.length);
    expect(Buffer.concat(gathered.pieces()).equals(all)).toBe(true);
    expect(gathered.take().equals(all)).toBe(true);
    expect([gathered.length, gathered.pieces().length]).toEqual([0, 0]);
    gathered.add(Buffer.from("anew"));
    expect(gathered.joined().toString()).toBe("anew");
  }
});

test("one byte at a time takes no piece for each", () => {
  const gathered = new GatheredBytes();
  for (let at = 0; at < 1_000_000; at++) gathered.add(Buffer.from([at % 251]));
  expect(gathered.pieces().length).toBeLessThan(100);
  expect(gathered.joined()[999_999]).toBe(999_999 % 251);
});

test("what comes in one piece is not copied", () => {
  const gathered = new GatheredBytes();
  const piece = Buffer.from("short");
  gathered.add(piece);
  expect(gathered.take()).toBe(piece);
});
