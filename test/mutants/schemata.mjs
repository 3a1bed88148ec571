/**
 * Mutant schemata: one text of a source file that holds many mutants of it. Which one runs is decided as it runs, so
 * that all mutants need the program compiled once.
 */

/** The name of the function that says whether a mutant is the one that runs. */
export const IS_MUTANT = "isMutant__";

/**
 * @typedef {import("./operators.mjs").Change} Change
 *
 * @typedef {Change & { id: number }} NumberedChange
 */

/** An element stands around the expression that it is. */
const OUTER_FIRST = ["property", "element", "statement", "expression"];

/**
 * The text with all these mutants in it. `importPath` is the module of the switch, as this file imports it.
 *
 * @param {string} text
 * @param {readonly NumberedChange[]} changes
 * @param {string} importPath
 */
export function schemataOf(text, changes, importPath) {
  const nested = changes.toSorted(
    (one, other) =>
      one.start - other.start ||
      other.end - one.end ||
      OUTER_FIRST.indexOf(one.kind) - OUTER_FIRST.indexOf(other.kind) ||
      one.id - other.id,
  );
  const head = `import { isMutant as ${IS_MUTANT} } from ${JSON.stringify(importPath)};`;
  // On the line of the opening comment, so that each line keeps its number.
  return `${head} ${within(text, 0, text.length, nested)}`;
}

/**
 * @param {string} text
 * @param {number} start
 * @param {number} end
 * @param {readonly NumberedChange[]} changes Those inside, the outer ones first.
 * @returns {string}
 */
function within(text, start, end, changes) {
  let written = "";
  let at = start;
  for (let index = 0; index < changes.length;) {
    const outer = changes[index];
    if (outer === undefined) break;
    let next = index + 1;
    while (next < changes.length && (changes[next]?.start ?? end) < outer.end) next++;
    written += text.slice(at, outer.start);
    written += switched(outer, within(text, outer.start, outer.end, changes.slice(index + 1, next)));
    at = outer.end;
    index = next;
  }
  return written + text.slice(at, end);
}

/** @param {NumberedChange} change @param {string} original */
function switched({ id, kind, text }, original) {
  const isOn = `${IS_MUTANT}(${id})`;
  switch (kind) {
    case "expression":
      return `(${isOn} ? (${text}) : (${original}))`;
    case "statement":
      return `{ if (${isOn}) { ${text} } else { ${original} } }`;
    case "element":
      return `...(${isOn} ? [] : [${original}])`;
    case "property":
      return `...(${isOn} ? {} : { ${original} })`;
    default:
      throw new Error(`no way to switch a ${String(kind)}`);
  }
}
