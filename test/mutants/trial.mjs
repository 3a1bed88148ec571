/** Tries mutants: runs the tests that reach each of them until one fails. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Evaluator } from "./evaluator.mjs";
import { inOrder } from "./tests-of.mjs";

/**
 * @typedef {import("./sample.mjs").Mutant} Mutant
 *
 * @typedef {"killed" | "timeout" | "survived" | "unreached"} Verdict
 *
 * @typedef {Pick<Mutant, "key" | "folder" | "file" | "line" | "operator" | "original" | "text"> & {
 *   verdict: Verdict;
 *   killers: string[];
 *   reaching: string[];
 *   ran: number;
 *   seconds: number;
 * }} Tried `ran` counts the files that were given time; with fewer than `reaching`, a survivor may be killed by others.
 *
 * @typedef {{
 *   workers: number;
 *   budgetSeconds: number;
 *   allKillers: boolean;
 *   say: (line: string) => void;
 * }} Options
 */

/** What a test may take with a mutant: an endless loop and an answer that never comes are noticed by it. */
const TIMES = 10;
const TEST_MS = 10_000;
const FILE_MS = 30_000;
const SAID_EVERY_MS = 30_000;

/**
 * @param {string} copy
 * @param {readonly Mutant[]} mutants
 * @param {import("./baseline.mjs").Measured} measured
 * @param {Options} options
 * @returns {Promise<Tried[]>}
 */
export async function tryAll(copy, mutants, measured, options) {
  const path = join(copy, ".mutants-limits");
  const limits = [...measured.took].map(([file, { longestMs }]) => [file, { testMs: TIMES * longestMs + TEST_MS }]);
  writeFileSync(path, JSON.stringify(Object.fromEntries(limits)));
  /** @type {Tried[]} */
  const tried = [];
  const waiting = [...mutants];
  const startedMs = performance.now();
  const progress = setInterval(() => {
    const killed = tried.filter(({ verdict }) => verdict === "killed" || verdict === "timeout").length;
    const seconds = Math.round((performance.now() - startedMs) / 1000);
    options.say(`  ${tried.length} of ${mutants.length} tried in ${seconds} s, ${killed} killed`);
  }, SAID_EVERY_MS);
  const work = async () => {
    const env = { TOLLGATE_MUTANT_LIMITS: path };
    const evaluator = new Evaluator({ copy, bail: !options.allKillers, env });
    try {
      for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift())
        tried.push(await tryOne(evaluator, mutant, measured, options));
    } finally {
      await evaluator.close();
    }
  };
  await Promise.all(Array.from({ length: options.workers }, work)).finally(() => clearInterval(progress));
  const place = new Map(mutants.map(({ key }, index) => [key, index]));
  return tried.toSorted((one, other) => (place.get(one.key) ?? 0) - (place.get(other.key) ?? 0));
}

/**
 * @param {Evaluator} evaluator
 * @param {Mutant} mutant
 * @param {import("./baseline.mjs").Measured} measured
 * @param {Options} options
 * @returns {Promise<Tried>}
 */
async function tryOne(evaluator, mutant, measured, { budgetSeconds }) {
  const { key, folder, file, line, operator, original, text } = mutant;
  const secondsOf = (/** @type {string} */ path) => measured.took.get(path)?.seconds ?? 0;
  const reaching = inOrder(measured.reaching.get(mutant.id) ?? [], mutant, secondsOf);
  const files = withinBudget(reaching, secondsOf, budgetSeconds);
  const startedMs = performance.now();
  const limitMs = (/** @type {string} */ path) => TIMES * secondsOf(path) * 1000 + FILE_MS;
  const { verdict, killers } =
    files.length === 0
      ? { verdict: /** @type {const} */ ("unreached"), killers: [] }
      : verdictOf(await evaluator.run(mutant.id, files, limitMs));
  const seconds = (performance.now() - startedMs) / 1000;
  return {
    key,
    folder,
    file,
    line,
    operator,
    original,
    text,
    verdict,
    killers,
    reaching,
    ran: files.length,
    seconds: Number(seconds.toFixed(2)),
  };
}

/**
 * The first of the files, which take so many seconds together; one in any case.
 *
 * @param {readonly string[]} files
 * @param {(file: string) => number} secondsOf
 * @param {number} budgetSeconds
 */
export function withinBudget(files, secondsOf, budgetSeconds) {
  let seconds = 0;
  return files.filter((file, index) => {
    seconds += secondsOf(file);
    return index === 0 || seconds <= budgetSeconds;
  });
}

/** @param {import("./evaluator.mjs").Result} result @returns {{ verdict: Verdict; killers: string[] }} */
export function verdictOf({ files, errors, hung }) {
  if (hung !== undefined) return { verdict: "timeout", killers: [hung] };
  const failed = files.flatMap(({ file, failed }) => failed.map((name) => ({ file, name })));
  const killers = failed.map(({ file, name }) => `${file} > ${name}`);
  if (killers.length > 0) return { verdict: "killed", killers };
  return errors.length > 0 ? { verdict: "killed", killers: errors } : { verdict: "survived", killers: [] };
}
