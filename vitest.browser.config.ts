/** How the tests run that drive the console in a real browser: all of them with one gateway and one browser. */
import { defineConfig } from "vitest/config";
import { NotRunReporter } from "./test/support/not-run-reporter.js";

/** What needs a million requests is a command of its own: `npm run bounds`. */
const folder = process.env["TOLLGATE_BOUNDS"] === undefined ? "browser" : "bounds";

export default defineConfig({
  test: {
    include: [`test/console/${folder}/**/*.test.ts`],
    globalSetup: ["test/support/build.ts", "test/console/browser/setup.ts"],
    reporters: ["default", new NotRunReporter()],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000 } },
    pool: "forks",
    maxWorkers: 2,
  },
});
