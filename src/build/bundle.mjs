/**
 * Puts the program together in dist/program: one file for each moment at which something is loaded, so that a start
 * reads some fifty files in place of a thousand. Run by itself it does nothing where it was made from the same sources.
 * Why, and what stays apart: docs/decisions/0442-start-bundle-and-threads.md.
 */
import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const TARGET = join(ROOT, "dist", "program");
/** Built beside and moved, so that nothing finds half of it. */
const STAGING = join(ROOT, "dist", `.program-${process.pid}`);
const STAMP = join(TARGET, ".built-from");
/** The console is built by itself. */
const NOT_OF_IT = /^gen\/console\//;

/** Where a process or a thread begins. */
const ENTRIES = {
  main: "src/cli/main.ts",
  "database-thread": "src/store/sqlite/worker.ts",
  "reading-thread": "src/reading/reading-worker.ts",
  "record-thread": "src/records/record-worker.ts",
  "settings-thread": "src/serve/settings-worker.ts",
};

/** Loaded from node_modules: they have a binary, are found by their files, or only some gateways or none load them. */
const APART = [
  "@aws-crypto/sha256-js",
  "@aws-sdk/credential-providers",
  "@fastify/ajv-compiler",
  "@fastify/fast-json-stringify-compiler",
  "@grpc/proto-loader",
  "@node-rs/argon2",
  "@opentelemetry/exporter-trace-otlp-http",
  "@opentelemetry/exporter-trace-otlp-proto",
  "@photostructure/sqlite",
  "@pydantic/genai-prices",
  "@simplewebauthn/server",
  "@smithy/eventstream-codec",
  "@smithy/signature-v4",
  "google-auth-library",
  "gpt-tokenizer",
  "ioredis",
  "light-my-request",
  "nodemailer",
  "openid-client",
  "pg",
  "stripe",
];

/** An import of Node's own modules, as the bundler writes it: what it is called by itself, and the names out of it. */
const OF_NODE = /^import (?:([\w$]+),? )?(?:\{ ([^}]*) \} )?(?:from )?"node:([\w/]+)";$/gm;

/**
 * Asks Node for its modules where they would be imported. An import reads every name that a module has, and on Node 26
 * some names of node:http load another undici: 15 MB, and 35 ms of a start.
 */
const ASK_FOR_NODE = {
  name: "ask-for-node",
  /** @param {string} code */
  renderChunk: (code) =>
    code.replaceAll(OF_NODE, (_whole, itself, names, module) => {
      const asked = `process.getBuiltinModule("node:${module}")`;
      const parts = [itself, names && `{ ${names.replaceAll(" as ", ": ")} }`].filter(Boolean);
      return parts.map((part) => `const ${part} = ${asked};`).join("\n");
    }),
};

/**
 * The package undici asks for it as it loads, so that its reader of cookies, which nothing here uses, takes both kinds.
 * Whoever asks for it makes Node load the undici of its own.
 */
const NOT_THERE = { "globalThis.Headers": "undefined" };

/**
 * A file is read as a whole before anything of it runs, and what that takes the process keeps: up to 8 MB for one of
 * 2 MB. So packages stand in files of about so many bytes.
 */
const PACKAGES_BYTES_MAX = 250_000;
const PACKAGES = {
  groups: [{ name: "packages", test: /node_modules/, maxSize: PACKAGES_BYTES_MAX, entriesAware: true }],
  includeDependenciesRecursively: false,
};

/** @param {string} path @returns {string[]} */
function filesOf(path) {
  if (!statSync(join(ROOT, path)).isDirectory()) return [path];
  return readdirSync(join(ROOT, path))
    .toSorted()
    .flatMap((name) => filesOf(`${path}/${name}`));
}

function hashOfInputs() {
  const hash = createHash("sha256");
  const files = ["src", "gen", "package-lock.json"].flatMap(filesOf).filter((path) => !NOT_OF_IT.test(path));
  for (const path of files)
    hash
      .update(`${path}\0`)
      .update(readFileSync(join(ROOT, path)))
      .update("\0");
  return hash.digest("hex");
}

/** True where what is there was made from these sources. */
export function isBundled() {
  return existsSync(STAMP) && readFileSync(STAMP, "utf8") === hashOfInputs();
}

/** Rejects with what the bundler found in the sources. */
export async function bundle() {
  const want = hashOfInputs();
  rmSync(STAGING, { recursive: true, force: true });
  for (const entry of Object.keys(ENTRIES)) await bundleEntry(entry);
  // npm links the command to it.
  chmodSync(join(STAGING, "main.js"), 0o755);
  writeFileSync(join(STAGING, ".built-from"), want);
  mkdirSync(join(ROOT, "dist"), { recursive: true });
  rmSync(TARGET, { recursive: true, force: true });
  renameSync(STAGING, TARGET);
}

/**
 * Each by itself: what threads share with the program they would load from some twenty files, for a third of the time
 * that one takes until it has its task (docs/decisions/0442-start-bundle-and-threads.md).
 *
 * @param {string} entry
 */
async function bundleEntry(entry) {
  // Loaded here, since a fresh clone asks for this file before anything is installed.
  const { build } = await import("vite");
  await build({
    configFile: false,
    root: ROOT,
    publicDir: false,
    logLevel: "warn",
    plugins: [ASK_FOR_NODE],
    define: NOT_THERE,
    ssr: { target: "node", noExternal: true, external: APART },
    build: {
      ssr: true,
      outDir: STAGING,
      emptyOutDir: false,
      target: "es2023",
      minify: false,
      license: { fileName: entry === "main" ? "licenses.md" : `licenses-${entry}.md` },
      rolldownOptions: {
        input: { [entry]: ENTRIES[entry] },
        output: {
          format: "es",
          entryFileNames: "[name].js",
          chunkFileNames: "[name]-[hash].js",
          // V8 keeps the whole source: two bytes for each character where one of them is not Latin, and comments too.
          charset: "ascii",
          comments: false,
          ...(entry === "main" ? { codeSplitting: PACKAGES } : {}),
        },
      },
    },
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url) && !isBundled()) await bundle();
