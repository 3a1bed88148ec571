/**
 * The protocol of leases, searched breadth first: every world that so many steps can reach holds, and each mistake in
 * the protocol is found. `npm run leases:check` goes deeper, with more accidents, and beside that as far as it goes.
 */
import { describe, expect, test } from "vitest";
import { MUTATIONS } from "./mutations.js";
import { REAL, SCENARIOS, startOf } from "./scenarios.js";
import { exhaust, search } from "./search.js";
import { bySweep } from "../support/sweep.js";

const IS_LARGE = process.env["TOLLGATE_LEASES"] === "large";
const DEPTH_MAX = Number(
  process.env["TOLLGATE_LEASES_DEPTH"] ?? (IS_LARGE ? 6 : bySweep({ short: 4, long: 5, all: 5 })),
);
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

describe("a mistake is found:", () => {
  test.each(MUTATIONS)("$name", { timeout: TIMEOUT_MS }, ({ scenario: name, protocol, finds }) => {
    const scenario = SCENARIOS.find((one) => one.name === name);
    if (scenario === undefined) throw new Error(`no scenario is called ${name}`);
    const { problem, worlds } = search(startOf(scenario, false), protocol, { worldsMax: 20_000 });
    expect(problem, `after ${worlds} worlds`).toMatch(finds);
  });
});
