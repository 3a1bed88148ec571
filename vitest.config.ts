/** How the tests run. */
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { FailedReporter } from "./test/support/failed-reporter.js";
import { LongestFirst } from "./test/support/longest-first.js";
import { NotRunReporter } from "./test/support/not-run-reporter.js";
import { tiersOf } from "./test/support/tiers.mjs";
import { TimesReporter } from "./test/times/reporter.js";

/**
 * Those that need a process of their own: they arm failpoints, tell of secrets that no text may hold from then on, or
 * count what their process takes. The others share theirs, and so the modules that each would load anew: most of what
 * a short file costs. `test/support/leaves-nothing.ts` holds each to leave no trace.
 */
export const APART = [
  "test/base/bytes/shared-bytes.test.ts",
  "test/config/alias-times.test.ts",
  "test/gateway/faults.test.ts",
  "test/kept-memory.test.ts",
  "test/money/**/*.test.ts",
  "test/observe/log.test.ts",
  "test/reading/answer-growth.test.ts",
  "test/base/redaction.test.ts",
  "test/serve/**/*.test.ts",
  "test/wire/error/redact.test.ts",
];

/** They need a browser: `npm run test:browser`. */
const BROWSER = ["test/console/browser/**", "test/console/bounds/**"];

/** What `npm run coverage` looks at: these folders of the program, by the tests of the same names. */
const COVERED = ["families", "formats", "keys", "ledger", "limits", "models", "pricing", "routing", "wire"];

/** Of every file. */
const ALL = {
  // They end what hangs; a machine with other work beside may take several times its usual time.
  testTimeout: 120_000,
  hookTimeout: 120_000,
  // What is waited for comes within a second where nothing else runs.
  expect: { poll: { timeout: 60_000 } },
  pool: "forks",
} as const;

/** Starts with the build, for tests that start what a user starts. */
const BUILT = { ...ALL, globalSetup: ["test/support/build.ts"] };
/** One process runs many files. */
const SHARED = { isolate: false, setupFiles: ["test/support/leaves-nothing.ts"] };

const { unit, prove } = tiersOf(fileURLToPath(new URL(".", import.meta.url)));
const ELSEWHERE = [...BROWSER, ...prove, "node_modules/**"];

/** The tiers are in CONTRIBUTING.md: `npm test` runs all projects but `prove`. */
export const PROJECTS = [
  { ...ALL, ...SHARED, name: "unit", include: unit, exclude: APART, globalSetup: ["test/support/unit-setup.ts"] },
  { ...BUILT, name: "apart", include: APART, exclude: ELSEWHERE },
  { ...BUILT, ...SHARED, name: "together", include: ["test/**/*.test.ts"], exclude: [...APART, ...unit, ...ELSEWHERE] },
  // Some take a hundred seconds where a machine has other work.
  { ...BUILT, name: "prove", include: prove, testTimeout: 600_000, hookTimeout: 600_000 },
];

/** `npm run test:times` measures each file, before all other setup. */
const TIMES = process.env["TOLLGATE_TEST_TIMES"] !== undefined;
const timed = (test: (typeof PROJECTS)[number]) => {
  if (!TIMES) return test;
  const others = "setupFiles" in test ? test.setupFiles : [];
  return { ...test, setupFiles: ["test/times/setup.ts", ...others], sequence: { setupFiles: "list" as const } };
};

export default defineConfig({
  test: {
    reporters: ["default", new NotRunReporter(), new FailedReporter(), ...(TIMES ? [new TimesReporter()] : [])],
    // Three more than can run: more than half of its time a file waits.
    maxWorkers: Math.min(availableParallelism() + 3, 7),
    sequence: { sequencer: LongestFirst },
    // `npm run coverage`: of the parts whose tests start no gateway of their own, since v8 counts this process alone.
    // The floor lies a point below what is covered, for what a change adds may be tested through a gateway.
    coverage: {
      provider: "v8",
      include: COVERED.map((folder) => `src/${folder}/**/*.ts`),
      reporter: ["text-summary"],
      thresholds: { statements: 85, branches: 81, functions: 83, lines: 87 },
    },
    projects: PROJECTS.map((test) => ({ test: timed(test) })),
  },
});
