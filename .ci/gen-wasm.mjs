/** Makes gen/wasm/ of the AssemblyScript in src/: a module as text, so that nothing is looked for at the start. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import compiler from "assemblyscript/asc";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const SOURCE = "src/wire/json/assembly/long-string.ts";

/**
 * Writes `wasm/long-string.ts` into a folder. Throws where the source has an error.
 * @param {string} folder
 */
export async function genWasm(folder) {
  const options = ["--baseDir", ROOT, "--enable", "simd", "--runtime", "stub", "--initialMemory", "2", "-O3"];
  /** @type {Uint8Array | undefined} */
  let module;
  const { error, stderr } = await compiler.main([SOURCE, ...options, "--noAssert", "--outFile", "module.wasm"], {
    writeFile: (_name, contents) => {
      if (typeof contents !== "string") module = contents;
    },
  });
  if (error !== null || module === undefined) throw new Error(`${SOURCE}: ${stderr.toString()}`);
  mkdirSync(join(folder, "wasm"), { recursive: true });
  const head = `/** Made by \`npm run gen\` of ${SOURCE}. */`;
  const text = `export const LONG_STRING_MODULE =\n  "${Buffer.from(module).toString("base64")}";`;
  writeFileSync(join(folder, "wasm", "long-string.ts"), `${head}\n${text}\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await genWasm(join(ROOT, "gen"));
