/** A command asks again where a person types an amount that is ten times the last of its kind, or more. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, expect, test } from "vitest";
import { budgetsOf, type TypedAmount, withAmounts } from "../../src/cli/large-amounts.js";
import { parseUsd } from "../../src/base/money.js";

const directory = mkdtempSync(join(tmpdir(), "amounts-"));
const path = join(directory, "tollgate", "last-amounts.json");
afterAll(() => rmSync(directory, { recursive: true }));

let asked: string[] = [];
let done = 0;
beforeEach(() => {
  rmSync(join(directory, "tollgate"), { recursive: true, force: true });
  asked = [];
  done = 0;
});
const usd = (text: string): bigint => parseUsd(text) ?? 0n;
const credit = (text: string): TypedAmount => ({ kind: "credit", nanos: usd(text) });
const type = (amounts: readonly TypedAmount[], answer = "n", isInteractive = true) =>
  withAmounts(
    () => amounts,
    async () => void (done += 1),
    { isInteractive, path, ask: async (question) => (asked.push(question), answer) },
  );

test("the first amount of a kind is not asked about, and neither is one below ten times the last", async () => {
  await type([credit("5.00")]);
  await type([credit("49.99")]);
  await type([{ kind: "debit", nanos: usd("5000") }]);
  expect({ asked, done }).toEqual({ asked: [], done: 3 });
});

test("ten times the last is asked about, and done where it is meant", async () => {
  await type([credit("50.00")]);
  await expect(type([credit("5000.00")])).rejects.toThrow("nothing was done");
  expect(asked).toEqual([expect.stringMatching(/^5000\.00 USD is at least ten times 50\.00 USD/)]);
  expect(done).toBe(1);
  // What was not done is not the last amount.
  await expect(type([credit("500.00")], "")).rejects.toThrow("nothing was done");
  await type([credit("500.00")], "Yes ");
  await type([credit("4999.00")]);
  expect({ asked: asked.length, done }).toEqual({ asked: 3, done: 3 });
});

test("what holds now comes before what was typed last", async () => {
  const wide = { budgetWeekNanos: 0n, budgetQuarterNanos: 0n };
  const rest = { budgetMonthNanos: 0n, budgetTotalNanos: 0n, requestCostMaxNanos: 0n };
  const now = { budgetDayNanos: usd("100"), ...rest, ...wide };
  await type(budgetsOf("key", { budgetDay: usd("1") }, undefined));
  await type(budgetsOf("key", { budgetDay: usd("500") }, now));
  await type(budgetsOf("key", { budgetDay: usd("1000") }, now), "y");
  expect(asked).toHaveLength(1);
});

test("a script is asked nothing, and what it gives is not kept", async () => {
  await type([credit("1.00")]);
  await type([credit("1000.00")], "n", false);
  expect({ asked, done }).toEqual({ asked: [], done: 2 });
  expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({ credit: "1000000000" });
});

test("a file that holds something else counts as none, and a failed command keeps nothing", async () => {
  await type([credit("1.00")]);
  writeFileSync(path, '{"credit":"many"}');
  await type([credit("1000.00")]);
  const failing = withAmounts(
    () => [credit("2000.00")],
    () => Promise.reject(new Error("refused")),
    { isInteractive: true, path, ask: async () => "y" },
  );
  await expect(failing).rejects.toThrow("refused");
  expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({ credit: "1000000000000" });
});
