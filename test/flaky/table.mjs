/** What failed in several runs, as one table. */

const ERROR_LENGTH_MAX = 200;
/** One test can fail in several ways. */
const ERRORS_MAX = 3;
const INDENT = " ".repeat("failed in   ".length);
/** Escape sequences of a terminal, which vitest writes into messages. */
// oxlint-disable-next-line no-control-regex
const ESCAPES = /\u001B\[[\d;]*m/g;

/**
 * @typedef {object} Run
 * @property {number} seed
 * @property {readonly { name: string, error: string }[]} failed
 */

/**
 * Each test that failed, most often first: in how many runs, with which seeds, and the first line of its errors.
 * @param {readonly Run[]} runs
 * @returns {string[]} Lines; none where nothing failed.
 */
export function tableOf(runs) {
  /** @type {Map<string, { seeds: Set<number>, errors: Set<string> }>} */
  const rows = new Map();
  for (const { seed, failed } of runs)
    for (const { name, error } of failed) {
      const row = rows.get(name) ?? { seeds: new Set(), errors: new Set() };
      rows.set(name, row);
      row.seeds.add(seed);
      row.errors.add(firstLine(error));
    }
  if (rows.size === 0) return [];
  const lines = ["failed in   test"];
  for (const [name, { seeds, errors }] of [...rows].toSorted(([, a], [, b]) => b.seeds.size - a.seeds.size)) {
    lines.push(`${`${seeds.size} of ${runs.length}`.padEnd(INDENT.length)}${name}`);
    const more = [`seed ${[...seeds].join(", ")}`, ...[...errors].slice(0, ERRORS_MAX)];
    lines.push(...more.map((line) => `${INDENT}${line}`));
  }
  return lines;
}

/** @param {string} error */
function firstLine(error) {
  const lines = error.replaceAll(ESCAPES, "").split("\n");
  return (lines.find((line) => line.trim() !== "") ?? "").trim().slice(0, ERROR_LENGTH_MAX);
}
