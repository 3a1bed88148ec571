/**
 * Fails where the protocol breaks clients of the release that proto/baseline.binpb describes. `write` makes that file
 * of what proto/ is now: with each release. Before the first release that anybody installs, a rename may do so too.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const BASELINE = join(ROOT, "proto", "baseline.binpb");

/** @param {string[]} args */
function buf(args) {
  const { status, error } = spawnSync(join(ROOT, "node_modules", ".bin", "buf"), args, { cwd: ROOT, stdio: "inherit" });
  if (error === undefined) return status === 0;
  process.stderr.write(`check-breaking: buf cannot run (${error.message}); is everything installed (npm ci)?\n`);
  return false;
}

/** @param {string} input The folder of a buf module or workspace. */
function check(input) {
  if (!existsSync(BASELINE)) {
    process.stderr.write("check-breaking: proto/baseline.binpb is missing: npm run proto:baseline makes it\n");
    return false;
  }
  const isWhole = buf(["breaking", input, "--against", BASELINE]);
  if (isWhole) process.stdout.write("check-breaking: clients of the baseline are not broken\n");
  else
    process.stderr.write(
      "check-breaking: clients of the last release would break: keep the names, numbers and types\n",
    );
  return isWhole;
}

const [task = "."] = process.argv.slice(2);
const isDone = task === "write" ? buf(["build", "--exclude-source-info", "-o", BASELINE]) : check(task);
process.exitCode = isDone ? 0 : 1;
