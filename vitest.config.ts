/** How the tests run. */
import { defineConfig } from "vitest/config";
import { NotRunReporter } from "./test/support/not-run-reporter.js";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // They need a browser: `npm run test:browser`.
    exclude: ["test/console/browser/**", "node_modules/**"],
    globalSetup: ["test/support/build.ts"],
    reporters: ["default", new NotRunReporter()],
    // They end what hangs; a machine with other work beside may take several times its usual time.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // What is waited for comes within a second where nothing else runs.
    expect: { poll: { timeout: 30_000 } },
    pool: "forks",
    maxWorkers: 2,
  },
});
