/** The bytes of requests in memory: no holder takes them all, and what was given back is there again. */
import { expect, test } from "vitest";
import { ByteBudget } from "../../../src/base/bytes/byte-budget.js";

const MIB = 1024 * 1024;

test("one holder gets a quarter, all together get all, and each refusal says when to come again", () => {
  const budget = new ByteBudget(400 * MIB);
  budget.take("a", 100 * MIB);
  const own = { reason: "ERROR_REASON_RATE_LIMITED", retryAfterMs: 1_000 };
  expect(() => budget.take("a", 1)).toThrow(expect.objectContaining(own));
  for (const holder of ["b", "c", "d"]) budget.take(holder, 100 * MIB);
  const all = { reason: "ERROR_REASON_OVERLOADED", retryAfterMs: 1_000 };
  expect(() => budget.take("e", 1)).toThrow(expect.objectContaining(all));
  budget.give("a", 100 * MIB);
  budget.take("e", 100 * MIB);
  expect(budget.used).toBe(400 * MIB);
});

test("the largest body always finds room where nothing else is", () => {
  new ByteBudget(64 * MIB).take("a", 40 * MIB);
});
