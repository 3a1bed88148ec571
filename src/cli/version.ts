/** The version of this build, from its package.json. */
import { readFileSync } from "node:fs";

/** As seen from src/cli, and from dist/src/cli. */
const PLACES = ["../../package.json", "../../../package.json"];

export function readVersion(): string {
  for (const place of PLACES) {
    const found = readJson(new URL(place, import.meta.url));
    if (typeof found !== "object" || found === null || !("name" in found) || found.name !== "tollgate") continue;
    if ("version" in found && typeof found.version === "string") return found.version;
  }
  return "unknown";
}

function readJson(place: URL): unknown {
  try {
    return JSON.parse(readFileSync(place, "utf8"));
  } catch {
    return undefined;
  }
}
