/** Before each test file of a copy with mutants: names it to the processes that it starts, and bounds its tests. */
import { readFileSync } from "node:fs";
import { relative } from "node:path";
import { expect, vi } from "vitest";

const file = relative(process.cwd(), expect.getState().testPath ?? "");
process.env["TOLLGATE_MUTANT_TEST"] = file;

const path = process.env["TOLLGATE_MUTANT_LIMITS"];
if (path !== undefined) {
  // What each file needs at most, by how long it took without a mutant.
  const limits = JSON.parse(readFileSync(path, "utf8")) as Readonly<Record<string, { readonly testMs: number }>>;
  const testMs = limits[file]?.testMs;
  if (testMs !== undefined) vi.setConfig({ testTimeout: testMs, hookTimeout: testMs });
}
