/**
 * One run of vitest in the order that a seed gives, in a process of its own: `node one-run.mjs REPORT SEED [FILE...]`.
 * The configuration is that of the working directory. It writes what failed to REPORT, and ends when its standard input
 * is closed.
 */
import { writeFileSync } from "node:fs";
import { relative } from "node:path";
import { BaseSequencer, startVitest } from "vitest/node";

/**
 * @typedef {object} Report
 * @property {number} passed
 * @property {number} skipped
 * @property {{ name: string, error: string }[]} failed Tests, hooks, files, and errors outside of tests.
 */

const [report = "", seed = "", ...files] = process.argv.slice(2);

// With "exit" go the run's directories, which its end by a signal would leave.
const end = () => process.exit(1);
process.once("SIGTERM", end).once("SIGINT", end);
process.stdin.on("end", end).on("error", end).resume();
/** @type {{ unref?: () => void }} */ (process.stdin).unref?.();

class ShuffledFiles extends BaseSequencer {
  /** @param {import("vitest/node").TestSpecification[]} specifications */
  async sort(specifications) {
    const nameOf = (/** @type {import("vitest/node").TestSpecification} */ { project, moduleId }) =>
      `${moduleId} ${project.name}`;
    // The file system lists them in any order, and the same seed is to give the same one.
    const left = specifications.toSorted((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1));
    const draw = drawsOf(Number(seed));
    return specifications.flatMap(() => left.splice(Math.floor(draw() * left.length), 1));
  }
}

/** Mulberry32: numbers from 0 to 1. @param {number} start */
function drawsOf(start) {
  let state = start;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), state | 1);
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61);
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32;
  };
}

class Reporter {
  /**
   * @param {readonly import("vitest/node").TestModule[]} modules
   * @param {readonly import("vitest/node").SerializedError[]} errors
   */
  onTestRunEnd(modules, errors) {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const suites = modules.flatMap((module) => [module, ...module.children.allSuites()]);
    const count = (/** @type {string} */ state) => tests.filter((test) => test.result().state === state).length;
    /** @type {Report} */
    const written = {
      passed: count("passed"),
      skipped: count("skipped"),
      failed: [
        ...suites.flatMap((suite) => suite.errors().map((error) => ({ name: nameOf(suite), error: error.message }))),
        ...tests
          .filter((test) => test.result().state === "failed")
          .map((test) => ({ name: nameOf(test), error: test.result().errors?.[0]?.message ?? "" })),
        ...errors.map((error) => ({ name: outsideOf(error), error: error.message })),
      ],
    };
    writeFileSync(report, JSON.stringify(written));
  }
}

/** @param {import("vitest/node").TestModule | import("vitest/node").TestSuite | import("vitest/node").TestCase} task */
function nameOf(task) {
  if (task.type === "module") return `${task.relativeModuleId} (hooks of the file, or the file itself)`;
  const name = `${task.module.relativeModuleId} > ${task.fullName}`;
  return task.type === "suite" ? `${name} (hooks)` : name;
}

/** vitest says beside such an error which test ran, where it knows. @param {object} error */
function outsideOf(error) {
  const path = "VITEST_TEST_PATH" in error ? relative(process.cwd(), String(error.VITEST_TEST_PATH)) : undefined;
  return path === undefined ? "outside of a test" : `${path} (outside of a test)`;
}

const named = files.some((file) => file.includes(".prove."));
const vitest = await startVitest("test", files, {
  run: true,
  watch: false,
  // Those of `npm test`.
  ...(named ? {} : { project: ["!prove"] }),
  sequence: { sequencer: ShuffledFiles, shuffle: true, seed: Number(seed) },
  reporters: ["default", new Reporter()],
});
await vitest.exit();
