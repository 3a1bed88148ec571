/** Ids of keys sort by time, and are as random as their bytes. */
import { expect, test } from "vitest";
import { makeKeyId } from "../../src/keys/key-id.js";
import { seededBytes, START_MS } from "./key-world.js";

test("ids sort by the time at which they were made", () => {
  const bytes = seededBytes("ids");
  const ids = [0, 1, 999, 1_000, START_MS, START_MS + 1, START_MS * 2].map((ms) => makeKeyId(ms, bytes));
  expect([...ids].sort()).toEqual(ids);
  expect(new Set(Array.from({ length: 1_000 }, () => makeKeyId(START_MS, bytes))).size).toBe(1_000);
  // Each byte gives one of 32 characters.
  const random = (count: number): Uint8Array => Uint8Array.from({ length: count }, (_, index) => 24 + index);
  expect(makeKeyId(2 ** 40, random)).toBe("key_0100000000rstvwxyz01234567");
});
