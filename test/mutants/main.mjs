/**
 * Tries the tests by mutants of the program: small changes of its sources, each of which some test should notice. Run:
 * `npm run mutants -- [--sample 500] [--seed 1] [--folders ledger,keys] [--whole] [--out FILE] [--compare FILE]`.
 * Without `--whole`, only the tests that run the folders in their own process are run.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { runMutants } from "./run.mjs";
import { comparedLines, isKilled, reportLines } from "./report.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
const say = (/** @type {string} */ line) => void process.stdout.write(`${line}\n`);

const { values } = parseArgs({
  options: {
    sample: { type: "string", default: "500" },
    seed: { type: "string", default: "1" },
    workers: { type: "string", default: "2" },
    // Seconds that the tests of other folders have for a mutant, with --whole.
    budget: { type: "string", default: "60" },
    folders: { type: "string", default: "ledger,keys,limits,routing,wire,records" },
    // Parts of the paths of test files; without it, all that reach a mutant.
    files: { type: "string" },
    whole: { type: "boolean", default: false },
    "all-killers": { type: "boolean", default: false },
    out: { type: "string" },
    // Tries the sample of an earlier run, and fails where a mutant survives that was killed.
    compare: { type: "string" },
    // Tries what survived an earlier run.
    "survivors-of": { type: "string" },
  },
});
for (const name of /** @type {const} */ (["sample", "seed", "workers", "budget"])) {
  if (/^\d{1,9}$/.test(values[name])) continue;
  process.stderr.write(`mutants: --${name} must be a whole number, not '${values[name]}'\n`);
  process.exit(2);
}

/** @param {string | undefined} path @returns {import("./run.mjs").Report | undefined} */
function readReport(path) {
  return path === undefined ? undefined : JSON.parse(readFileSync(path, "utf8"));
}

// The copy of the project is removed as the process exits.
for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM"])) process.once(signal, () => process.exit(130));
try {
  const before = readReport(values.compare);
  const tried = before?.mutants ?? readReport(values["survivors-of"])?.mutants.filter((mutant) => !isKilled(mutant));
  const folders = values.folders.split(",");
  const report = await runMutants({
    root,
    size: Number(values.sample),
    seed: Number(values.seed),
    workers: Number(values.workers),
    budgetSeconds: Number(values.budget),
    folders,
    files: values.files?.split(",") ?? [],
    isWhole: values.whole,
    allKillers: values["all-killers"],
    keys: tried?.filter(({ folder }) => folders.includes(folder)).map(({ key }) => key),
    say,
  });
  if (values.out !== undefined) writeFileSync(values.out, `${JSON.stringify(report, undefined, 1)}\n`);
  reportLines(report).forEach(say);
  if (before !== undefined) {
    const { lines, isWorse } = comparedLines(before, report);
    lines.forEach(say);
    if (isWorse) process.exitCode = 1;
  }
} catch (error) {
  process.stderr.write(`mutants: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 2;
}
