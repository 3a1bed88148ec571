/** Runs one scenario: starts its subjects, measures them, proves the ledger, and stops them, whatever happens. */
import { Charges, measureLoad, servesFormat } from "./measure-load.mjs";
import { measureSoak } from "./measure-soak.mjs";
import { measureSlow } from "./measure-slow.mjs";
import { measureStart } from "./measure-start.mjs";
import { measureWorst, measureWorstAnswers, startWorstUpstream, watchOptions } from "./measure-worst.mjs";
import { resultOf } from "./result.mjs";
import { startSubject } from "./subjects.mjs";

/** @typedef {import("./subjects.mjs").Subject} Subject */

/**
 * @param {import("./scenarios.mjs").Scenario} scenario
 * @param {import("./subjects.mjs").Bench} bench
 * @param {import("./measure-load.mjs").Tools} tools
 * @returns {Promise<{ result: import("./result.mjs").Result | undefined, skipped: string[] }>}
 */
export async function runScenario(scenario, bench, tools) {
  /** @type {Subject[]} */
  const subjects = [];
  const worst = scenario.attack === "answers" ? await startWorstUpstream() : undefined;
  /** @type {string[]} */
  const skipped = [];
  try {
    for (const name of scenario.subjects) {
      const subject = await startSubject(name, scenario.kind === "worst" ? watched(bench, worst?.port) : bench);
      // A peer that nobody asked for is nothing that is missing.
      if ("skipped" in subject) skipped.push(...(subject.skipped === "" ? [] : [`${name} (${subject.skipped})`]));
      else subjects.push(subject);
    }
    const judged = subjects.find(({ name }) => name === scenario.judged);
    if (scenario.format !== undefined && judged !== undefined && !(await servesFormat(scenario, judged)))
      return {
        result: undefined,
        skipped: [...skipped, `${scenario.name} (the gateway does not serve this format yet)`],
      };
    const turns =
      worst === undefined
        ? await measure(scenario, subjects, bench, tools)
        : await measureWorstAnswers(scenario, subjects, worst.port, bench.options.cases);
    return { result: resultOf(scenario, turns), skipped };
  } finally {
    await Promise.all(subjects.map((subject) => subject.stop()));
    await worst?.stop();
  }
}

/**
 * @param {import("./subjects.mjs").Bench} bench
 * @param {number | undefined} worstPort
 */
function watched(bench, worstPort) {
  const nodeOptions = [...bench.options.nodeOptions, ...watchOptions()];
  return { ...bench, ...(worstPort === undefined ? {} : { worstPort }), options: { ...bench.options, nodeOptions } };
}

/**
 * @param {import("./scenarios.mjs").Scenario} scenario
 * @param {Subject[]} subjects
 * @param {import("./subjects.mjs").Bench} bench
 * @param {import("./measure-load.mjs").Tools} tools
 */
async function measure(scenario, subjects, bench, tools) {
  if (scenario.kind === "start") {
    // These are started again and again; the first ones only showed which can be.
    const names = subjects.map(({ name }) => name);
    await Promise.all(subjects.splice(0).map((subject) => subject.stop()));
    return measureStart(scenario, names, bench);
  }
  // What an attacker is charged is not what is asked here.
  if (scenario.kind === "worst") {
    const { otherMockPort = bench.mockPort, options } = bench;
    return measureWorst(scenario, subjects, otherMockPort, options.cases);
  }
  if (scenario.kind === "slow") return measureSlow(scenario, subjects);
  const charges = new Charges();
  const run = scenario.kind === "soak" ? measureSoak : measureLoad;
  const turns = await run(scenario, subjects, charges, tools);
  for (const subject of subjects) {
    const wrong = await subject.prove(charges.of(subject));
    tools.problems.push(...wrong.map((problem) => `${scenario.name}, ${subject.name}: ${problem}`));
  }
  return turns;
}
