/** Which file of a build is the program. */
import { existsSync } from "node:fs";
import { join } from "node:path";

/** Builds of before were files as the compiler made them. */
const PLACES = ["dist/program/main.js", "dist/src/cli/main.js"];

/** @param build The directory with `dist` in it; empty for the working directory. */
export function programOf(build: string): string {
  const places = PLACES.map((place) => join(build, place));
  return places.find((place) => existsSync(place)) ?? "dist is not built: npm run build";
}
