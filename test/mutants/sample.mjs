/** Which mutants are tried: a sample that a seed decides, with as many of each folder as there can be. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { changesOf } from "./operators.mjs";

/**
 * `key` finds the same mutant in another state of the sources: it holds where lines were added elsewhere in the file.
 *
 * @typedef {import("./operators.mjs").Change & {
 *   id: number;
 *   key: string;
 *   folder: string;
 *   file: string;
 *   line: number;
 *   original: string;
 * }} Mutant
 */

const SHOWN_LENGTH_MAX = 100;

/**
 * All mutants of the folders of `src`, numbered from 1.
 *
 * @param {string} root
 * @param {readonly string[]} folders
 * @returns {Mutant[]}
 */
export function mutantsOf(root, folders) {
  const found = folders.flatMap((folder) => filesOf(root, folder).flatMap((file) => mutantsOfFile(root, folder, file)));
  return found.map((mutant, index) => Object.assign(mutant, { id: index + 1 }));
}

/** @param {string} root @param {string} folder */
function filesOf(root, folder) {
  return readdirSync(join(root, "src", folder), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts") && !path.endsWith(".d.ts"))
    .map((path) => join("src", folder, path))
    .toSorted();
}

/** @param {string} root @param {string} folder @param {string} file @returns {Mutant[]} */
function mutantsOfFile(root, folder, file) {
  const text = readFileSync(join(root, file), "utf8");
  /** @type {Map<string, number>} */
  const counts = new Map();
  return changesOf(file, text).map((change) => {
    const whole = text.slice(change.start, change.end);
    const name = [file, change.operator, oneLine(whole), oneLine(change.text)].join(" | ");
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    const line = text.slice(0, change.start).split("\n").length;
    return Object.assign(change, { id: 0, key: `${name} | ${count}`, folder, file, line, original: oneLine(whole) });
  });
}

/** @param {string} text */
function oneLine(text) {
  return text.replaceAll(/\s+/g, " ");
}

/** A text as a list shows it. @param {string} text */
export function shortened(text) {
  const line = oneLine(text);
  return line.length > SHOWN_LENGTH_MAX ? `${line.slice(0, SHOWN_LENGTH_MAX)}…` : line;
}

/**
 * So many of the mutants, each folder in turn: one that has fewer gives all it has. The choice depends on the seed and
 * the keys alone, so what is added to a file takes few others out of the sample.
 *
 * @param {readonly Mutant[]} mutants
 * @param {number} size
 * @param {number} seed
 * @returns {Mutant[]}
 */
export function sampleOf(mutants, size, seed) {
  const drawn = mutants
    .map((mutant) => ({ mutant, draw: drawOf(seed, mutant.key) }))
    .toSorted((one, other) => (one.draw < other.draw ? -1 : 1));
  const queues = grouped(drawn);
  /** @type {Mutant[]} */
  const chosen = [];
  for (let turn = 0; chosen.length < Math.min(size, mutants.length); turn++)
    for (const queue of queues.values()) {
      const next = queue[turn];
      if (next !== undefined && chosen.length < size) chosen.push(next);
    }
  return chosen.toSorted((one, other) => one.id - other.id);
}

/** @param {readonly { mutant: Mutant }[]} drawn */
function grouped(drawn) {
  /** @type {Map<string, Mutant[]>} */
  const queues = new Map();
  for (const { mutant } of drawn) queues.set(mutant.folder, [...(queues.get(mutant.folder) ?? []), mutant]);
  return queues;
}

/** @param {number} seed @param {string} key */
function drawOf(seed, key) {
  return createHash("sha256").update(`${seed} ${key}`).digest("hex");
}

/**
 * The mutants of an earlier run as they stand in the sources now, and the keys of those that are gone.
 *
 * @param {readonly Mutant[]} mutants
 * @param {readonly string[]} keys
 */
export function sameSample(mutants, keys) {
  const byKey = new Map(mutants.map((mutant) => [mutant.key, mutant]));
  return {
    sample: keys.flatMap((key) => byKey.get(key) ?? []),
    gone: keys.filter((key) => !byKey.has(key)),
  };
}
