/** How the tests run that drive the console in a real browser: all of them with one gateway and one browser. */
import { defineConfig } from "vitest/config";
import { FailedReporter } from "./test/support/failed-reporter.js";
import { NotRunReporter } from "./test/support/not-run-reporter.js";

/** What needs a million requests is a command of its own: `npm run bounds`. */
const folder = process.env["TOLLGATE_BOUNDS"] === undefined ? "browser" : "bounds";

/** What a browser draws is the same whoever answers it, so that these run with one gateway alone. */
const DRAWN_ALIKE = ["looks", "snippets", "strangers", "keyboard"];
const isOfNodes = process.env["TOLLGATE_TEST_STORE"] === "postgres";

export default defineConfig({
  test: {
    exclude: isOfNodes ? DRAWN_ALIKE.map((name) => `test/console/browser/${name}.test.ts`) : [],
    include: [`test/console/${folder}/**/*.test.ts`],
    globalSetup: ["test/support/build.ts", "test/console/browser/setup.ts"],
    reporters: ["default", new NotRunReporter(), new FailedReporter()],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    pool: "forks",
    maxWorkers: 2,
  },
});
