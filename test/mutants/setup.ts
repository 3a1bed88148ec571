/** Before each test file of a copy with mutants: says which one runs, also to other processes, and bounds its tests. */
import { readFileSync } from "node:fs";
import { delimiter, relative } from "node:path";
import { expect, vi } from "vitest";

const { PATH = "", TOLLGATE_MUTANT = "0", TOLLGATE_MUTANT_REACHED = "", TOLLGATE_MUTANT_LIMITS } = process.env;
const file = relative(process.cwd(), expect.getState().testPath ?? "");
const entry = ["", "tollgate-mutant", TOLLGATE_MUTANT, file, TOLLGATE_MUTANT_REACHED].map(encodeURIComponent).join("=");
const others = PATH.split(delimiter).filter((path) => !path.startsWith("=tollgate-mutant="));
process.env["PATH"] = [...others, entry].join(delimiter);

if (TOLLGATE_MUTANT_LIMITS !== undefined) {
  // What each file needs at most, by how long it took without a mutant.
  const limits: Readonly<Record<string, { readonly testMs: number }>> = JSON.parse(
    readFileSync(TOLLGATE_MUTANT_LIMITS, "utf8"),
  );
  const testMs = limits[file]?.testMs;
  if (testMs !== undefined) vi.setConfig({ testTimeout: testMs, hookTimeout: testMs });
}
