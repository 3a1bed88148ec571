/** How the tests run. */
import { defineConfig } from "vitest/config";
import { NotRunReporter } from "./test/support/not-run-reporter.js";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/build.ts"],
    reporters: ["default", new NotRunReporter()],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    pool: "forks",
    maxWorkers: 2,
  },
});
