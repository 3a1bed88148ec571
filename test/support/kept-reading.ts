/** What takes long to read of packages is kept on disk, until one of the packages or what is read changes. */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const PACKAGES = ["openai", "@anthropic-ai/sdk", "@google/genai", "typescript"];

interface Kept<Value> {
  readonly readFrom: string;
  readonly value: Value;
}

/**
 * The value that `read` returns, as JSON holds it. `readers` are the files that say what is read and how, as URLs:
 * a change of one of them makes it read anew.
 */
export function keptReading<Value>(name: string, readers: readonly string[], read: () => Value): Value {
  const path = `${ROOT}node_modules/.cache/tollgate/${name}.json`;
  const readFrom = versionsOf(readers);
  if (existsSync(path)) {
    const kept = JSON.parse(readFileSync(path, "utf8")) as Kept<Value>;
    if (kept.readFrom === readFrom) return kept.value;
  }
  const value = read();
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(`${path}.${process.pid}`, JSON.stringify({ readFrom, value } satisfies Kept<Value>));
  renameSync(`${path}.${process.pid}`, path);
  return value;
}

function versionsOf(readers: readonly string[]): string {
  const hash = createHash("sha256");
  for (const reader of readers) hash.update(readFileSync(fileURLToPath(reader)));
  return `${PACKAGES.map(versionOf).join(" ")} ${hash.digest("hex")}`;
}

function versionOf(name: string): string {
  const { version } = JSON.parse(readFileSync(`${ROOT}node_modules/${name}/package.json`, "utf8")) as {
    version: string;
  };
  return `${name}@${version}`;
}
