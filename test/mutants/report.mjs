/** What a run over mutants found, as lines for a person. */
import { shortened } from "./sample.mjs";

/**
 * @typedef {import("./run.mjs").Report} Report
 *
 * @typedef {import("./trial.mjs").Tried} Tried
 */

const COLUMNS = ["folder", "mutants", "killed", "by timeout", "survived", "unreached", "killed of 100"];

/** @param {Report} report @returns {string[]} */
export function reportLines(report) {
  const { mutants, excluded, isWhole, seconds, seed } = report;
  const survivors = mutants.filter((mutant) => !isKilled(mutant));
  return [
    "",
    ...table(mutants),
    "",
    ...survivors.flatMap(survivorLines),
    "",
    ...(report.allKillers ? [...loneLines(mutants), ""] : []),
    ...excluded.flatMap(({ file, why }) => [`NOT RUN: ${file} fails without a mutant: ${shortened(why)}`]),
    ...(isWhole ? [] : ["Survivors survived the tests that run them in process; --whole asks the others as well."]),
    `${mutants.length} mutants by seed ${seed} in ${seconds} s`,
  ];
}

/** @param {Tried} mutant */
export function isKilled({ verdict }) {
  return verdict === "killed" || verdict === "timeout";
}

/** @param {readonly Tried[]} mutants */
function table(mutants) {
  const folders = [...new Set(mutants.map(({ folder }) => folder))];
  const rows = folders.map((name) => ({ name, of: mutants.filter(({ folder }) => folder === name) }));
  if (rows.length > 1) rows.push({ name: "all", of: [...mutants] });
  const cells = rows.map(({ name, of }) => {
    const count = (/** @type {import("./trial.mjs").Verdict} */ wanted) =>
      of.filter(({ verdict }) => verdict === wanted).length;
    const share = Math.floor((100 * of.filter(isKilled).length) / of.length);
    const counts = [of.length, count("killed"), count("timeout"), count("survived"), count("unreached"), share];
    return [name].concat(counts.map(String));
  });
  const all = [COLUMNS, ...cells];
  const widths = COLUMNS.map((_, column) => Math.max(...all.map((row) => (row[column] ?? "").length)));
  return all.map((row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join("  "),
  );
}

/** @param {Tried} mutant */
function survivorLines({ file, line, operator, original, text, verdict, ran, reaching }) {
  const tests = verdict === "unreached" ? "no test reaches it" : `${ran} of ${reaching.length} test files ran`;
  const by = text === "" ? "nothing" : shortened(text);
  return [`survived: ${file}:${line} ${operator} (${tests})`, `  - ${shortened(original)}`, `  + ${by}`];
}

/**
 * What each test file kills, and what it alone kills.
 *
 * @param {readonly Tried[]} mutants
 * @returns {{ file: string; reached: number; killed: number; alone: number }[]} Those that kill nothing alone first.
 */
export function loneKillers(mutants) {
  /** @type {Map<string, { file: string; reached: number; killed: number; alone: number }>} */
  const counts = new Map();
  for (const { reaching, killers } of mutants) {
    const files = new Set(killers.map((killer) => killer.split(" > ")[0] ?? ""));
    for (const file of reaching) {
      const count = counts.get(file) ?? { file, reached: 0, killed: 0, alone: 0 };
      count.reached += 1;
      if (files.has(file)) count.killed += 1;
      if (files.has(file) && files.size === 1) count.alone += 1;
      counts.set(file, count);
    }
  }
  return [...counts.values()].toSorted((one, other) => one.alone - other.alone || one.file.localeCompare(other.file));
}

/** @param {readonly Tried[]} mutants */
function loneLines(mutants) {
  const lone = loneKillers(mutants).filter(({ alone }) => alone === 0);
  return lone.map(({ file, reached, killed }) => `never alone: ${file} kills ${killed} of ${reached} that it reaches`);
}

/**
 * Whether all mutants that an earlier run killed are killed now.
 *
 * @param {Report} before
 * @param {Report} now
 */
export function comparedLines(before, now) {
  const verdicts = new Map(now.mutants.map((mutant) => [mutant.key, mutant]));
  const lost = before.mutants.filter(isKilled).flatMap(({ key, killers }) => {
    const mutant = verdicts.get(key);
    return mutant === undefined || isKilled(mutant) ? [] : [{ mutant, killers }];
  });
  const gained = before.mutants.filter((mutant) => {
    const found = verdicts.get(mutant.key);
    return !isKilled(mutant) && found !== undefined && isKilled(found);
  });
  return {
    lines: [
      "",
      ...lost.flatMap(({ mutant, killers }) => [...survivorLines(mutant), `  was killed by ${killers[0] ?? "none"}`]),
      `compared with the run before: ${lost.length} killed then survive, ${gained.length} that survived are killed`,
      ...(now.gone.length > 0 ? [`${now.gone.length} mutants are gone: their sources are others now`] : []),
    ],
    isWorse: lost.length > 0,
  };
}
