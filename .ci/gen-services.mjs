/**
 * Leaves out of gen/ what the program does not use. It calls its services through channels of its own: without the
 * generated clients no generated file needs grpc-js when it runs, and a thread that reads one message does not load a
 * gRPC library. The options of fields and methods are read at generation alone.
 */
import { readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
/** Nothing imports them. */
const UNUSED = [
  "google/api/annotations.ts",
  "google/api/field_behavior.ts",
  "google/protobuf/descriptor.ts",
  "tollgate/internal/v1/front_only.ts",
];
const CLIENT = /\nexport const \w+Client = makeGenericClientConstructor\([^]*?\n\};\n/g;
const IMPORT = /import \{([^}]*)\} from "@grpc\/grpc-js";/;

/** @param {string} text Of a generated file. */
export function withoutClient(text) {
  const rest = text.replaceAll(CLIENT, "");
  return rest.replace(IMPORT, (_, /** @type {string} */ names) => {
    const types = names.replace(/\s*makeGenericClientConstructor,/, "").replaceAll("type ", "");
    return `import type {${types}} from "@grpc/grpc-js";`;
  });
}

/** @param {string} folder That holds what the generator wrote. */
export function leaveUnusedOut(folder) {
  for (const file of UNUSED) rmSync(join(folder, file));
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
  for (const file of files.map((name) => join(folder, name))) {
    const text = readFileSync(file, "utf8");
    const rest = withoutClient(text);
    if (rest !== text) writeFileSync(file, rest);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) leaveUnusedOut(join(ROOT, "gen"));
