/** What must hold of many nodes on one backend, each claim by a scenario that prints its figures. */
import { describe, expect, test } from "vitest";
import { postgresMissing } from "../support/postgres.js";
import { percentile, tallyOf } from "./load.js";
import { SCENARIOS } from "./scenarios/index.js";
import { mostIn, mostWithin, overLimit } from "./scenarios/limit.js";

const NAMES = new Set((process.env["TOLLGATE_CLUSTER"] ?? "").split(","));
const COUNT = Number(process.env["TOLLGATE_CLUSTER_COUNT"] ?? 0);
const IS_FULL = process.env["TOLLGATE_CLUSTER_FULL"] === "1";
const PROBLEMS_MAX = 20;

describe("what the scenarios measure with", () => {
  test.each([
    { momentsMs: [], want: 0 },
    { momentsMs: [0, 59_999, 60_000, 60_001], want: 3 },
    { momentsMs: [0, 1, 2, 100_000], want: 3 },
    { momentsMs: [0, 60_000, 120_000], want: 1 },
  ])("the most of $momentsMs in one window are $want", ({ momentsMs, want }) => {
    expect(mostIn(60_000, momentsMs)).toBe(want);
  });

  test("the most calls in one window are those that began and ended in it", () => {
    const calls = [0, 30_000, 59_000, 60_500].map((startMs) => ({ startMs, endMs: startMs + 1_000 }));
    expect(mostWithin(60_000, calls)).toBe(3);
    expect(mostWithin(60_000, [])).toBe(0);
  });

  test("a limit of 4 on two nodes is 4 by Redis and 2 by each node alone, and all beyond is over it", () => {
    const calls = (count: number, node: number, isDegraded: boolean) =>
      Array.from({ length: count }, (_, turn) => ({ startMs: turn, endMs: turn + 1, node, isDegraded }));
    const within = [...calls(2, 0, false), ...calls(2, 1, false), ...calls(2, 0, true), ...calls(2, 1, true)];
    expect(overLimit(within, 4, 2)).toEqual([]);
    expect(overLimit([...within, ...calls(1, 0, false)], 4, 2)).toEqual(["1 over the 4 of Redis in one window"]);
    expect(overLimit([...within, ...calls(3, 1, true)], 4, 2)).toEqual(["3 over the 2 of node 1 alone in one window"]);
  });

  test("outcomes are counted by status and code, and shares of numbers are found", () => {
    const refused = { status: 503, code: "ledger_unavailable" };
    expect(tallyOf([{ status: 200, code: "" }, refused, refused])).toBe("200: 1, 503 ledger_unavailable: 2");
    expect(percentile([3, 1, 2], 0.5)).toBe(2);
  });
});

test("every scenario that is asked for is there", () => {
  const known = new Set(["", "all", ...SCENARIOS.map(({ name }) => name)]);
  expect([...NAMES].filter((name) => !known.has(name))).toEqual([]);
});

const asked = SCENARIOS.filter(({ name }) => NAMES.has(name) || NAMES.has("all"));
test.each(asked)("$name: $claim", async (scenario) => {
  expect(postgresMissing).toBeUndefined();
  const problems: string[] = [];
  const say = (line: string): void => console.info(`${scenario.name}: ${line}`);
  const fail = (problem: string): void => {
    say(`DOES NOT HOLD: ${problem}`);
    problems.push(problem);
  };
  await scenario.run(COUNT || (IS_FULL ? scenario.full : scenario.small), { say, fail });
  expect(problems.slice(0, PROBLEMS_MAX)).toEqual([]);
});
