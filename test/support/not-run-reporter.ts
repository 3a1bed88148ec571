/**
 * Counts and names the tests that did not run, with the reason where they gave one, so that nothing is skipped
 * silently.
 */
import type { Reporter, TestCase, TestModule } from "vitest/node";

export class NotRunReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const skipped = modules.flatMap((module) => [...module.children.allTests("skipped")]);
    if (skipped.length === 0) return;
    const lines = skipped.map((test) => `  ${test.module.relativeModuleId} > ${test.fullName}${reasonOf(test)}`);
    process.stdout.write(`\n NOT RUN: ${skipped.length} of the tests\n${lines.join("\n")}\n`);
  }
}

function reasonOf(test: TestCase): string {
  const result = test.result();
  return result.state === "skipped" && result.note !== undefined ? `: ${result.note}` : "";
}
