/**
 * Writes the lock.txt of each folder of Python's packages anew: what its requirements.txt asks for, with all that they
 * depend on. Names of folders write those alone.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { PIP, pythonFor, WHEELS } from "../../agents/python.mjs";

const HERE = fileURLToPath(new URL("./", import.meta.url));
/** The oldest Python that the clients run on: a newer one needs no package more. */
const PYTHON = { from: 11, below: 12 };
const INSTALL_MS_MAX = 1_200_000;

/** @param {string} command @param {readonly string[]} args */
function run(command, args) {
  const { status, stdout } = spawnSync(command, args, {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
    timeout: INSTALL_MS_MAX,
  });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} failed`);
  return stdout;
}

const asked = process.argv.slice(2);
const folders = readdirSync(HERE, { withFileTypes: true }).filter((entry) => entry.isDirectory());
for (const { name } of folders) {
  if (asked.length > 0 && !asked.includes(name)) continue;
  const python = pythonFor(PYTHON);
  const environment = mkdtempSync(join(tmpdir(), "tollgate-lock-"));
  try {
    run(python, ["-m", "venv", "--without-pip", environment]);
    const pip = [...PIP, "--python", join(environment, "bin/python")];
    run(python, [...pip, "install", ...WHEELS, "-r", join(HERE, name, "requirements.txt")]);
    writeFileSync(join(HERE, name, "lock.txt"), run(python, [...pip, "freeze"]));
  } finally {
    rmSync(environment, { recursive: true, force: true });
  }
}
