/** Builds the program once before the tests, so that those which start it start what a user starts. */
import { spawnSync } from "node:child_process";
import { sdkShapes } from "./sdk-shapes.js";

export function setup(): void {
  // The compiler writes its output in spite of type errors; the check of types is a command of its own.
  const compiler = ["node_modules/typescript/bin/tsc", "-p", "tsconfig.build.json"];
  spawnSync(process.execPath, compiler, { stdio: process.env["CI"] === undefined ? "ignore" : "inherit" });
  spawnSync(process.execPath, ["src/console/build.mjs"], { stdio: "inherit" });
  sdkShapes();
}
