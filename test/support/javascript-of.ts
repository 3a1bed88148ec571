/** Makes JavaScript of a TypeScript file and all that it imports, for threads and processes that a test starts. */
import { createHash, randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
/** Inside node_modules, so that packages are found from there. */
const CACHE = join(ROOT, "node_modules", ".cache", "tollgate");

/** What a file names: imports that are not of types alone, and files that it starts by URL. */
const NAMED = /(?:^import (?!type )|^export )[^;]*?from "(\.[^"]+\.js)"|new URL\("(\.[^"]+\.js)", import\.meta/gm;

/** Gives the same directory for the same sources, so that only the first of many tests pays for it. */
export async function javascriptOf(source: URL): Promise<URL> {
  const sources = collect(fileURLToPath(source));
  const digest = createHash("sha256");
  for (const [path, text] of [...sources].sort()) digest.update(JSON.stringify([path, text]));
  const directory = join(CACHE, digest.digest("hex").slice(0, 32));
  if (!existsSync(directory)) await write(sources, directory);
  return pathToFileURL(join(directory, outputName(fileURLToPath(source))));
}

function collect(entry: string): Map<string, string> {
  const sources = new Map<string, string>();
  const open = [entry];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (sources.has(path)) continue;
    const text = readFileSync(path, "utf8");
    sources.set(path, text);
    for (const [, imported, started] of text.matchAll(NAMED)) {
      const named = join(dirname(path), imported ?? started ?? "").replace(/\.js$/, ".ts");
      if (existsSync(named)) open.push(named);
    }
  }
  return sources;
}

async function write(sources: ReadonlyMap<string, string>, directory: string): Promise<void> {
  const { default: typescript } = await import("typescript");
  const { ModuleKind, ScriptTarget } = typescript;
  const compilerOptions = { module: ModuleKind.ESNext, target: ScriptTarget.ES2022, verbatimModuleSyntax: true };
  // Written aside and then renamed: another test may do the same at this moment.
  const aside = `${directory}.${randomUUID()}`;
  for (const [path, text] of sources) {
    const output = join(aside, outputName(path));
    mkdirSync(dirname(output), { recursive: true });
    writeFileSync(output, typescript.transpileModule(text, { compilerOptions, fileName: path }).outputText);
  }
  writeFileSync(join(aside, "package.json"), '{"type":"module"}\n');
  try {
    renameSync(aside, directory);
  } catch {
    rmSync(aside, { recursive: true, force: true });
  }
}

function outputName(path: string): string {
  return relative(ROOT, path).replace(/\.ts$/, ".js");
}
