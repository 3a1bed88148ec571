/** The version of this build, from its package.json. */
import { readFileSync } from "node:fs";
import { PACKAGE_ROOT } from "../base/package-root.js";

export function readVersion(): string {
  const facts = readJson(new URL("package.json", PACKAGE_ROOT));
  if (typeof facts !== "object" || facts === null || !("version" in facts)) return "unknown";
  return typeof facts.version === "string" ? facts.version : "unknown";
}

function readJson(place: URL): unknown {
  try {
    return JSON.parse(readFileSync(place, "utf8"));
  } catch {
    return undefined;
  }
}
