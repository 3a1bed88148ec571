/** What a target failed on is remembered for a while, and excuses only what failed often. */
import { expect, test } from "vitest";
import { RequestFaults } from "../../src/routing/request-faults.js";

const at = (nowMs: number, token: number) => ({ nowMs, token, accountId: "alice" });

test("failures of a minute ago and before are counted no more", () => {
  const faults = new RequestFaults();
  faults.failed("x", at(0, 1));
  faults.failed("x", at(59_000, 2));
  expect(faults.timesOf("x")).toBe(2);
  faults.failed("x", at(119_000, 3));
  expect(faults.timesOf("x")).toBe(1);
});

test("a target that served nothing for a minute serves no others, whatever it served since the first failure", () => {
  const faults = new RequestFaults();
  faults.failed("x", at(0, 1));
  faults.served(at(1_000, 2));
  expect(faults.servesOthersThan("x", 30_000)).toBe(true);
  for (let second = 10; second <= 70; second += 10) faults.failed("x", at(second * 1_000, 2 + second));
  expect(faults.servesOthersThan("x", 70_000)).toBe(false);
});
