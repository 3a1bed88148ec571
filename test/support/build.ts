/** Builds the program once before the tests, so that those which start it start what a user starts. */
import { spawnSync } from "node:child_process";
import { setup as setupUnit } from "./unit-setup.js";

/** @returns What ends with the run. */
export function setup(): () => void {
  for (const program of ["src/build/bundle.mjs", "console/build.mjs"]) {
    const { status } = spawnSync(process.execPath, [program], { stdio: "inherit" });
    if (status !== 0) throw new Error(`${program} failed`);
  }
  return setupUnit();
}
