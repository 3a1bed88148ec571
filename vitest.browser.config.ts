/** How the tests run that drive the console in a real browser. */
import { defineConfig } from "vitest/config";
import { NotRunReporter } from "./test/support/not-run-reporter.js";

export default defineConfig({
  test: {
    include: ["test/console/browser/**/*.test.ts"],
    globalSetup: ["test/support/build.ts"],
    reporters: ["default", new NotRunReporter()],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000 } },
    pool: "forks",
    maxWorkers: 2,
  },
});
