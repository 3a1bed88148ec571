/** From turns to a result: medians, ratios to the base of the same round, and which goals hold. */
import { median } from "./latency.mjs";

/** @typedef {import("./scenarios.mjs").Scenario} Scenario */

/**
 * @typedef {object} Row
 * @property {string} subject
 * @property {Record<string, number>} medians `ratio` among them.
 * @property {[number, number]} ratioRange Least and most of the rounds.
 * @property {Record<string, number>[]} turns
 */

/**
 * @typedef {object} Result
 * @property {string} scenario
 * @property {string} title
 * @property {string} base
 * @property {string} ratioOf
 * @property {Row[]} rows
 * @property {{ text: string, value: number, holds: boolean }[]} goals
 */

/**
 * @param {Scenario} scenario
 * @param {Map<string, Record<string, number>[]>} turns
 * @returns {Result}
 */
export function resultOf(scenario, turns) {
  const ratioOf = scenario.ratioOf ?? "cpuUs";
  const base = turns.get(scenario.base) ?? [];
  const rows = Array.from(turns, ([subject, of]) => rowOf(subject, of, base, ratioOf));
  const judged = rows.find((row) => row.subject === scenario.judged);
  const goals = judged === undefined ? [] : scenario.goals.map((goal) => judge(goal, judged, scenario));
  return { scenario: scenario.name, title: scenario.title, base: scenario.base, ratioOf, rows, goals };
}

/**
 * @param {string} subject
 * @param {Record<string, number>[]} turns
 * @param {Record<string, number>[]} base
 * @param {string} ratioOf
 * @returns {Row}
 */
function rowOf(subject, turns, base, ratioOf) {
  const numbers = turns.map((turn) =>
    Object.fromEntries(Object.entries(turn).filter(([, value]) => typeof value === "number")),
  );
  /** @type {Record<string, number>} */
  const medians = {};
  for (const name of Object.keys(numbers[0] ?? {}))
    medians[name] = median(numbers.map((turn) => turn[name] ?? Number.NaN));
  // Both sides of a ratio are of one round: what the machine did to one, it did to the other.
  const ratios = numbers
    .map((turn, round) => (turn[ratioOf] ?? Number.NaN) / (base[round]?.[ratioOf] ?? Number.NaN))
    .filter((ratio) => Number.isFinite(ratio));
  medians["ratio"] = median(ratios);
  return { subject, medians, ratioRange: [Math.min(...ratios), Math.max(...ratios)], turns: numbers };
}

/**
 * @param {import("./scenarios.mjs").Goal} goal
 * @param {Row} row
 * @param {Scenario} scenario
 */
function judge({ metric, atMost, atLeast }, row, scenario) {
  const value = row.medians[metric] ?? Number.NaN;
  const name = metric === "ratio" ? `${scenario.ratioOf ?? "cpuUs"} to ${scenario.base}` : metric;
  const bound = atMost === undefined ? `at least ${atLeast}` : `at most ${atMost}`;
  // A value that was not measured meets nothing.
  const holds = atMost === undefined ? value >= (atLeast ?? Infinity) : value <= atMost;
  return { text: `${row.subject}: ${name} ${bound}`, value, holds };
}
