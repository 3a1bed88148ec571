/** Prints where a run's time went, where `TOLLGATE_TEST_TIMES` names the file in which test processes note it. */
import { existsSync, readFileSync } from "node:fs";
import type { Reporter, TestModule } from "vitest/node";
import { type ModuleTimes, type ProcessTimes, reportOf } from "./report.js";

export class TimesReporter implements Reporter {
  readonly #beganMs = performance.now();
  readonly #queuedMs = new Map<string, number>();
  readonly #modules: ModuleTimes[] = [];

  onTestModuleQueued(module: TestModule): void {
    this.#queuedMs.set(module.id, performance.now());
  }

  onTestModuleEnd(module: TestModule): void {
    const { environmentSetupDuration, prepareDuration, setupDuration, collectDuration } = module.diagnostic();
    const nowMs = performance.now();
    this.#modules.push({
      file: module.relativeModuleId,
      wallMs: nowMs - (this.#queuedMs.get(module.id) ?? nowMs),
      loadMs: environmentSetupDuration + prepareDuration + setupDuration + collectDuration,
      tests: Array.from(module.children.allTests(), (test) => ({
        name: test.fullName,
        ms: test.diagnostic()?.duration ?? 0,
      })),
    });
  }

  onTestRunEnd(): void {
    const path = process.env["TOLLGATE_TEST_TIMES"] ?? "";
    const lines = existsSync(path) ? readFileSync(path, "utf8").trim().split("\n") : [];
    const noted = lines.map((line) => JSON.parse(line) as ProcessTimes);
    const report = reportOf(this.#modules, noted, performance.now() - this.#beganMs);
    process.stdout.write(`\n${report.join("\n")}\n`);
  }
}
