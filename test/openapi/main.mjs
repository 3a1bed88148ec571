/**
 * Runs the tests that start gateways, and holds each answer and event that is OpenAI's against OpenAI's own OpenAPI
 * document: `npm run openapi [-- --file openapi.json] [test files]`. Without a file, the document is taken from GitHub
 * at a pinned commit, once a machine; `--fetch` does that alone.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";

const COMMIT = "f85dbe223d40e1a31cba812ab2d755c7e98a92a3";
const SHA_256 = "bbfd19abcde0e7412da99378deb2a959ccdd3a812f97c9e35901921e8e973f9a";
const ADDRESS = `https://raw.githubusercontent.com/openai/openai-openapi/${COMMIT}/openapi.json`;
const TESTS = ["test/conformance", "test/flow", "test/formats", "test/http"];
const FETCH_MS_MAX = 120_000;

/** Brings the document to the cache of the user, and says where it is. Rejects where GitHub does not give it. */
async function pinnedDocument() {
  const folder = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "tollgate");
  const file = join(folder, `openapi-${COMMIT.slice(0, 16)}.json`);
  if (existsSync(file)) return file;
  const response = await fetch(ADDRESS, { signal: AbortSignal.timeout(FETCH_MS_MAX) });
  if (!response.ok) throw new Error(`${ADDRESS} answered ${response.status}`);
  const bytes = Buffer.from(await response.arrayBuffer());
  const found = createHash("sha256").update(bytes).digest("hex");
  if (found !== SHA_256) throw new Error(`${ADDRESS} has SHA-256 ${found}, not ${SHA_256}`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, bytes);
  return file;
}

const { values, positionals } = parseArgs({
  options: { file: { type: "string" }, fetch: { type: "boolean" } },
  allowPositionals: true,
});
try {
  const file = values.file === undefined ? await pinnedDocument() : resolve(values.file);
  const { paths } = JSON.parse(readFileSync(file, "utf8"));
  process.stdout.write(`${file}: ${Object.keys(paths).length} paths\n`);
  if (values.fetch !== true) {
    const tests = positionals.length > 0 ? positionals : TESTS;
    const runner = ["node_modules/vitest/vitest.mjs", "run", "--project=!prove", ...tests];
    const env = { ...process.env, TOLLGATE_OPENAPI: file };
    process.exitCode = spawnSync(process.execPath, runner, { stdio: "inherit", env }).status ?? 1;
  }
} catch (error) {
  const why = error instanceof Error ? error.message : String(error);
  process.stderr.write(`openapi: ${why}. Bring the document by hand, and name it with --file.\n`);
  process.exitCode = 1;
}
