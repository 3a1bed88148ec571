/**
 * Names the tests that failed in the file that `TOLLGATE_TEST_FAILED` names, a line each: a run of many suites says at
 * its end what failed, however far above it that was.
 */
import { appendFileSync } from "node:fs";
import type { Reporter, SerializedError, TestModule } from "vitest/node";

const MESSAGE_LENGTH_MAX = 300;

export class FailedReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    const path = process.env["TOLLGATE_TEST_FAILED"];
    if (path === undefined) return;
    const lines = [
      ...modules.flatMap((module) => [
        ...module.errors().map((error) => `${module.relativeModuleId}: ${shortOf(error)}`),
        ...Array.from(module.children.allTests("failed"), (test) => {
          const [error] = test.result().errors ?? [];
          return `${module.relativeModuleId} > ${test.fullName}: ${shortOf(error)}`;
        }),
      ]),
      ...errors.map((error) => `outside of a test: ${shortOf(error)}`),
    ];
    appendFileSync(path, lines.map((line) => `Node ${process.version}: ${line}\n`).join(""));
  }
}

function shortOf(error: { readonly message: string } | undefined): string {
  return (error?.message ?? "").replaceAll(/\s+/g, " ").slice(0, MESSAGE_LENGTH_MAX);
}
