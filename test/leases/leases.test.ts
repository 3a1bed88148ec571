/**
 * The protocol of leases, searched breadth first: every world that so many steps can reach holds, and each mistake in
 * the protocol is found. `npm run leases:check` goes deeper, with more accidents, and beside that as far as it goes.
 */
import { describe, expect, test } from "vitest";
import type { World } from "./model-world.js";
import { MUTATIONS } from "./mutations.js";
import { REAL, SCENARIOS, startOf } from "./scenarios.js";
import { after, exhaust, search } from "./search.js";
import { bySweep } from "../support/sweep.js";

const IS_LARGE = process.env["TOLLGATE_LEASES"] === "large";
const DEPTH_MAX = Number(
  process.env["TOLLGATE_LEASES_DEPTH"] ?? (IS_LARGE ? 6 : bySweep({ short: 3, long: 5, all: 5 })),
);
/** Whether a search for a mistake goes the whole way to it, or begins after its first steps. */
const IS_WHOLE_WAY = IS_LARGE || bySweep({ short: false, long: true, all: true });
/** How many worlds the large check sees of a beginning without a bound on the steps. */
const WORLDS_MAX = 500_000;
const TIMEOUT_MS = IS_LARGE ? 7_200_000 : 120_000;

describe("every way through", () => {
  test.each(SCENARIOS)("$name", { timeout: TIMEOUT_MS }, (scenario) => {
    const { problem, steps, worlds } = search(startOf(scenario, IS_LARGE), REAL, { depthMax: DEPTH_MAX });
    if (IS_LARGE) process.stdout.write(`every world of ${DEPTH_MAX} steps, ${worlds}: ${scenario.name}\n`);
    expect(problem, steps.join("\n")).toBeUndefined();
    expect(worlds).toBeGreaterThan(100);
  });
});

if (IS_LARGE) {
  describe("however many steps", () => {
    test.each(SCENARIOS)("$name", { timeout: TIMEOUT_MS }, (scenario) => {
      const { problem, steps, worlds, isWhole } = exhaust(startOf(scenario, false), REAL, WORLDS_MAX);
      const what = isWhole ? "every world that there is" : "some worlds, deep first";
      process.stdout.write(`${what}, ${worlds}: ${scenario.name}\n`);
      expect(problem, steps.join("\n")).toBeUndefined();
    });
  });
}

describe("every way on, where a mistake would show soon", () => {
  test.each(MUTATIONS.filter(({ after: first = [] }) => first.length > 0))(
    "$name",
    ({ scenario, after: first = [] }) => {
      const start = after(beginningOf(scenario), first, REAL);
      const { problem, steps, worlds } = search(start, REAL, { depthMax: 3 });
      expect(problem, steps.join("\n")).toBeUndefined();
      expect(worlds).toBeGreaterThan(50);
    },
  );
});

describe("a mistake is found:", () => {
  test.each(MUTATIONS)("$name", { timeout: TIMEOUT_MS }, ({ scenario, after: first = [], protocol, finds }) => {
    const start = after(beginningOf(scenario), IS_WHOLE_WAY ? [] : first, protocol);
    const { problem, worlds } = search(start, protocol, { worldsMax: 20_000 });
    expect(problem, `after ${worlds} worlds`).toMatch(finds);
  });
});

function beginningOf(name: string): World {
  const scenario = SCENARIOS.find((one) => one.name === name);
  if (scenario === undefined) throw new Error(`no scenario is called ${name}`);
  return startOf(scenario, false);
}
