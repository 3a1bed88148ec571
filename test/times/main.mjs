/**
 * The suite, or the files named, with where its time goes: by file, by test, and in sums. Measuring costs a little time
 * of its own. Run: `npm run test:times [-- FILE...]`.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "tollgate-times-"));
const { status } = spawnSync(process.execPath, ["node_modules/vitest/vitest.mjs", "run", ...process.argv.slice(2)], {
  cwd: root,
  stdio: "inherit",
  env: { ...process.env, TOLLGATE_TEST_TIMES: join(folder, "files.jsonl") },
});
rmSync(folder, { recursive: true });
process.exitCode = status ?? 1;
