/**
 * Runs the tests of a copy, in a process of its own that keeps the test runner between two mutants. It is started by
 * `evaluator.mjs`, which sends it what to run and ends it where it does not answer.
 */
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { loadConfigFromFile } from "vite";
import { createVitest } from "vitest/node";

/**
 * @typedef {{ mutant: number; files: string[] }} Task
 *
 * @typedef {{ file: string; seconds: number; longestMs: number; failed: string[] }} FileResult
 *
 * @typedef {{ kind: "ready" }
 *   | { kind: "running"; file: string }
 *   | { kind: "done"; files: FileResult[]; errors: string[] }} Message
 */

/** Each test file runs in the order in which it was given. */
class InGivenOrder {
  /** @param {import("vitest/node").TestSpecification[]} files */
  sort(files) {
    return files;
  }

  /** @param {import("vitest/node").TestSpecification[]} files */
  shard(files) {
    return files;
  }
}

const [workers = "1", isolated = "no", bail = "1"] = process.argv.slice(2);
const root = process.cwd();
const say = (/** @type {Message} */ message) => void process.send?.(message);

const loaded = await loadConfigFromFile({ command: "serve", mode: "test" }, resolve(root, "vitest.config.ts"), root);
const base = /** @type {{ test?: import("vitest/node").InlineConfig } | undefined} */ (loaded?.config)?.test ?? {};
const setup = fileURLToPath(new URL("setup.ts", import.meta.url));
const common = { maxWorkers: Number(workers), ...(isolated === "yes" ? { isolate: true } : {}) };
/** @param {{ test: import("vitest/node").InlineConfig }} project */
const withSetup = (project) => ({
  ...project,
  test: {
    ...project.test,
    ...common,
    setupFiles: [setup, ...[project.test.setupFiles ?? []].flat()],
    sequence: { ...project.test.sequence, setupFiles: "list" },
  },
});
/** Of the run that goes on: the test runner remembers those of earlier ones. @type {FileResult[]} */
let ended = [];
const reporter = {
  /** @param {import("vitest/node").TestModule} module */
  onTestModuleQueued: (module) => say({ kind: "running", file: module.relativeModuleId }),
  /** @param {import("vitest/node").TestModule} module */
  onTestModuleEnd: (module) => void ended.push(resultOf(module)),
};
const vitest = await createVitest(
  "test",
  { config: false, root, watch: false, reporters: [reporter], bail: Number(bail), maxWorkers: Number(workers) },
  {
    test: {
      ...(base.globalSetup === undefined ? {} : { globalSetup: base.globalSetup }),
      sequence: { sequencer: InGivenOrder },
      projects: base.projects?.map(withSetup) ?? [],
    },
  },
);
const specifications = await vitest.globTestSpecifications();

/** @param {Task} task */
async function run({ mutant, files }) {
  process.env["TOLLGATE_MUTANT"] = String(mutant);
  const wanted = files.flatMap((file) => specifications.find(({ moduleId }) => moduleId === resolve(root, file)) ?? []);
  ended = [];
  const { unhandledErrors } = await vitest.runTestSpecifications(wanted);
  say({
    kind: "done",
    files: ended,
    errors: unhandledErrors.map((error) => String(/** @type {Error} */ (error)?.message ?? error)),
  });
}

/** @param {import("vitest/node").TestModule} module @returns {FileResult} */
function resultOf(module) {
  const tests = [...module.children.allTests()];
  return {
    file: module.relativeModuleId,
    seconds:
      (module.diagnostic().duration + module.diagnostic().collectDuration + module.diagnostic().setupDuration) / 1000,
    longestMs: Math.max(0, ...tests.map((test) => test.diagnostic()?.duration ?? 0)),
    failed: [
      ...module.errors().map(({ message }) => `outside of a test: ${message}`),
      ...tests.filter((test) => test.result().state === "failed").map((test) => test.fullName),
      ...[...module.children.allSuites()].filter((suite) => suite.errors().length > 0).map((suite) => suite.fullName),
    ],
  };
}

process.on("message", (task) => void run(/** @type {Task} */ (task)));
process.on("disconnect", () => process.exit());
say({ kind: "ready" });
