/** Notes what each test file takes of its process, in the file that `TOLLGATE_TEST_TIMES` names: first of all setup. */
import { appendFileSync } from "node:fs";
import { relative } from "node:path";
import { afterAll, expect } from "vitest";
import { measured } from "./measured.js";
import type { ProcessTimes } from "./report.js";

const path = process.env["TOLLGATE_TEST_TIMES"];
const read = measured();

// Hooks that come first run last: what the others end is part of it.
afterAll(() => {
  if (path === undefined) return;
  const times: ProcessTimes = { file: relative(process.cwd(), expect.getState().testPath ?? ""), ...read() };
  appendFileSync(path, `${JSON.stringify(times)}\n`);
});
