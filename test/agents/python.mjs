/** Which Python the clients run on, and how its packages are taken from their registry. */
import { spawnSync } from "node:child_process";

/** Minor versions of Python 3. @typedef {import("./python.mjs").PythonRange} PythonRange */

/** One that the path hides may fit where the first does not. */
const PYTHONS = ["python3", "/usr/bin/python3"];
/** Python's own, for the environment that it is told. */
export const PIP = ["-m", "pip", "--disable-pip-version-check", "--no-input", "--retries=4"];
/** A package that is built runs its script. */
export const WHEELS = ["--only-binary", ":all:"];

/**
 * The first Python of the machine that fits. Throws where none does.
 * @param {PythonRange} range
 */
export function pythonFor({ from, below }) {
  const fits = `import sys, venv, pip; sys.exit(not ((3, ${from}) <= sys.version_info < (3, ${below})))`;
  const found = PYTHONS.find((python) => spawnSync(python, ["-c", fits]).status === 0);
  if (found === undefined) throw new Error(`no Python from 3.${from} and below 3.${below} with venv and pip is here`);
  return found;
}
