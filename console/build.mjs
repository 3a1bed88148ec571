/**
 * Builds the console into dist/console with hashed names, each asset compressed as well. Does nothing where what is
 * there was built from the same sources.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const TARGET = join(ROOT, "dist", "console");
/** Built beside and moved, so that a reader never finds half of it. */
const STAGING = join(ROOT, "dist", `.console-${process.pid}`);
const STAMP = join(TARGET, ".built-from");
const DOCS = join(ROOT, "docs");
const INPUTS = [
  "console",
  "src/base/typed-number.ts",
  "src/base/money.ts",
  "src/base/csv.ts",
  "gen/console",
  "schemas/tollgate.schema.json",
  "package-lock.json",
];

/** @param {string} path @returns {string[]} */
function filesOf(path) {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path)
    .toSorted()
    .flatMap((name) => filesOf(join(path, name)));
}

function hashOfInputs() {
  const hash = createHash("sha256");
  const pages = readdirSync(DOCS)
    .filter((name) => name.endsWith(".md"))
    .toSorted()
    .map((name) => join(DOCS, name));
  for (const file of [...INPUTS.flatMap((input) => filesOf(join(ROOT, input))), ...pages])
    hash.update(`${file.slice(ROOT.length)}\0`).update(readFileSync(file));
  return hash.digest("hex");
}

// Whoever starts this may be a test: what people get is what is measured, and never React's build for development.
process.env.NODE_ENV = "production";

const want = hashOfInputs();
const isBuilt = existsSync(STAMP) && readFileSync(STAMP, "utf8") === want;
if (!isBuilt) {
  const { build } = await import("vite");
  const { docsPages } = await import("./docs-pages.mjs");
  await build({
    configFile: false,
    plugins: [docsPages()],
    root: join(ROOT, "console"),
    base: "/console/",
    logLevel: "warn",
    html: { cspNonce: "TOLLGATE_NONCE" },
    build: {
      outDir: STAGING,
      emptyOutDir: true,
      target: "es2022",
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      license: { fileName: "licenses.md" },
      manifest: "manifest.json",
      rolldownOptions: {
        // Packages mark what a server of React would leave to the browser; here all of it runs there.
        onLog: (level, log, show) => log.code === "MODULE_LEVEL_DIRECTIVE" || show(level, log),
      },
    },
  });
  for (const name of readdirSync(join(STAGING, "assets"))) {
    const path = join(STAGING, "assets", name);
    if (/\.(js|css|svg)$/.test(name)) writeFileSync(`${path}.gz`, gzipSync(readFileSync(path), { level: 9 }));
  }
  writeFileSync(join(STAGING, ".built-from"), want);
  mkdirSync(join(ROOT, "dist"), { recursive: true });
  rmSync(TARGET, { recursive: true, force: true });
  renameSync(STAGING, TARGET);
}
