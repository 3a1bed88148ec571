/** One run over a sample of mutants: which tests reach each of them, and which of those fail. */
import { measure } from "./baseline.mjs";
import { makeCopy, removeCopy } from "./copy.mjs";
import { mutantsOf, sameSample, sampleOf } from "./sample.mjs";
import { farTests, nearTests } from "./tests-of.mjs";
import { tryAll } from "./trial.mjs";

/**
 * @typedef {import("./trial.mjs").Tried} Tried
 *
 * @typedef {{
 *   seed: number;
 *   seconds: number;
 *   isWhole: boolean;
 *   allKillers: boolean;
 *   gone: string[];
 *   excluded: { file: string; why: string }[];
 *   mutants: Tried[];
 * }} Report `gone` are mutants of the run that is compared with, which the sources no longer have.
 *
 * @typedef {import("./trial.mjs").Options & {
 *   root: string;
 *   size: number;
 *   seed: number;
 *   folders: readonly string[];
 *   files: readonly string[];
 *   isWhole: boolean;
 *   keys?: readonly string[] | undefined;
 * }} Options `keys` are the mutants to try, in place of a sample.
 */

/** @param {Options} options @returns {Promise<Report>} */
export async function runMutants(options) {
  const { root, folders, say, seed, isWhole, allKillers } = options;
  const startedMs = performance.now();
  const all = mutantsOf(root, folders);
  const { sample, gone } =
    options.keys === undefined
      ? { sample: sampleOf(all, options.size, seed), gone: [] }
      : sameSample(all, options.keys);
  say(`${sample.length} of ${all.length} mutants of ${folders.join(", ")}`);
  const copy = makeCopy(root, sample);
  const remove = () => removeCopy(copy);
  process.once("exit", remove);
  try {
    const near = nearTests(root, folders, options.files);
    const { mutants, excluded } = await stage(copy, sample, near, "run them in process", options);
    if (isWhole) {
      const isLeft = (/** @type {Tried} */ { verdict }) =>
        allKillers || verdict === "survived" || verdict === "unreached";
      const left = new Set(mutants.filter(isLeft).map(({ key }) => key));
      const far = farTests(root, near, options.files);
      const rest = sample.filter(({ key }) => left.has(key));
      const later = await stage(copy, rest, far, "may reach them", options);
      excluded.push(...later.excluded);
      const byKey = new Map(later.mutants.map((mutant) => [mutant.key, mutant]));
      mutants.forEach((mutant) => addTo(mutant, byKey.get(mutant.key)));
    }
    const seconds = Math.round((performance.now() - startedMs) / 1000);
    return { seed, seconds, isWhole, allKillers, gone, excluded, mutants };
  } finally {
    remove();
    process.off("exit", remove);
  }
}

/**
 * @param {string} copy
 * @param {readonly import("./sample.mjs").Mutant[]} sample
 * @param {readonly string[]} files
 * @param {string} why
 * @param {Options} options
 */
async function stage(copy, sample, files, why, options) {
  const startedMs = performance.now();
  options.say(`${files.length} test files ${why}: once without a mutant`);
  // Some of them wait more than they work.
  const measured = await measure(copy, files, options.workers * 2);
  const seconds = Math.round((performance.now() - startedMs) / 1000);
  options.say(`  took ${seconds} s; ${measured.excluded.length} fail there and are left out`);
  return { mutants: await tryAll(copy, sample, measured, options), excluded: measured.excluded };
}

/** @param {Tried} mutant @param {Tried | undefined} later */
function addTo(mutant, later) {
  if (later === undefined || later.verdict === "unreached") return;
  mutant.reaching.push(...later.reaching);
  mutant.killers.push(...later.killers);
  mutant.ran += later.ran;
  mutant.seconds += later.seconds;
  if (mutant.verdict === "survived" || mutant.verdict === "unreached") mutant.verdict = later.verdict;
}
