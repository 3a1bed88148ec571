/** What the tests of a copy do without a mutant: which mutants each file reaches, and how long it takes. */
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Evaluator } from "./evaluator.mjs";

/**
 * @typedef {{ seconds: number; longestMs: number }} Took
 *
 * @typedef {{
 *   reaching: Map<number, Set<string>>;
 *   took: Map<string, Took>;
 *   excluded: { file: string; why: string }[];
 * }} Measured
 */

/** Without a mutant a file has as long as the whole suite may take. */
const FILE_MS_MAX = 1_200_000;

/**
 * Runs these files, each in a process of its own, so that each of them reaches what a module does as it loads. One that
 * fails says nothing of a mutant, and is excluded.
 *
 * @param {string} copy
 * @param {readonly string[]} files
 * @param {number} workers
 * @returns {Promise<Measured>}
 */
export async function measure(copy, files, workers) {
  const path = join(copy, ".mutants-reached");
  rmSync(path, { force: true });
  const env = { TOLLGATE_MUTANT_REACHED: path };
  const evaluator = new Evaluator({ copy, workers, isIsolated: true, bail: false, env });
  const result = await evaluator.run(0, files, () => FILE_MS_MAX).finally(() => evaluator.close());
  if (result.hung !== undefined) throw new Error(`without a mutant ${result.hung} does not end`);
  if (result.errors.length > 0) throw new Error(`without a mutant the tests fail: ${result.errors.join("; ")}`);
  const excluded = result.files
    .filter(({ failed }) => failed.length > 0)
    .map(({ file, failed }) => ({ file, why: failed.join("; ") }));
  const passed = result.files.filter(({ failed }) => failed.length === 0);
  return {
    reaching: readReached(path, new Set(passed.map(({ file }) => file))),
    took: new Map(passed.map(({ file, seconds, longestMs }) => [file, { seconds, longestMs }])),
    excluded,
  };
}

/** @param {string} path @param {ReadonlySet<string>} passed */
function readReached(path, passed) {
  /** @type {Map<number, Set<string>>} */
  const reaching = new Map();
  const text = existsSync(path) ? readFileSync(path, "utf8") : "";
  for (const line of text.split("\n")) {
    const [id = "", file = ""] = line.split("\t");
    if (!passed.has(file)) continue;
    const files = reaching.get(Number(id)) ?? new Set();
    reaching.set(Number(id), files.add(file));
  }
  return reaching;
}
