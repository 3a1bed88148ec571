/**
 * Which tier a test file belongs to. A `unit` test reaches no server, no process and no socket; a `platform` test does;
 * a file named `*.prove.test.ts` runs in `npm run prove` alone. docs/tests.md says which command runs which tier.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** What a test imports that leans on the platform, of Node and of packages, and the folders of the program that do. */
const PLATFORM =
  /^node:(http|https|http2|net|tls|stream|worker_threads|child_process)$|^(@photostructure\/sqlite|undici|fastify)$/;
const PLATFORM_FOLDERS = /^src\/(cli|http|reading|rpc|serve|store|upstream)\//;
/** Types are gone when it runs. */
const IMPORTS = /^(?!import type\b)(?:import|export|\} from)\b[^"']*["']([^"']+)["']|\bimport\(["']([^"']+)["']/gm;
const PROVE = /\.prove\.test\.ts$/;
/** They need a browser, and run under a configuration of their own. */
const BROWSER = /^test\/console\/(browser|bounds)\//;

/** The test files of vitest.config.ts, as paths from the root. @param {string} root */
export function testFiles(root) {
  return readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".test.ts"))
    .map((path) => join("test", path))
    .filter((path) => !BROWSER.test(path))
    .toSorted();
}

/**
 * Each test file under a root in exactly one tier. A file is of the platform by what it imports itself and by what the
 * files of test/ import that it reaches.
 * @param {string} root
 */
export function tiersOf(root) {
  /** @type {Map<string, boolean>} */
  const known = new Map();
  const [prove, rest] = split(testFiles(root), (file) => PROVE.test(file));
  const [platform, unit] = split(rest, (file) => reachesPlatform(root, file, known));
  return { unit, platform, prove };
}

/** @param {readonly string[]} files @param {(file: string) => boolean} isFirst */
function split(files, isFirst) {
  return [files.filter(isFirst), files.filter((file) => !isFirst(file))];
}

/**
 * What a file imports when it runs: packages by their names, files by their paths from the root.
 * @param {string} root
 * @param {string} path
 */
export function importsOf(root, path) {
  const text = readFileSync(join(root, path), "utf8");
  return [...text.matchAll(IMPORTS)].map(([, first, second]) => {
    const name = first ?? second ?? "";
    return name.startsWith(".") ? join(dirname(path), name).replace(/\.js$/, ".ts") : name;
  });
}

/**
 * @param {string} root
 * @param {string} path
 * @param {Map<string, boolean>} known
 * @returns {boolean}
 */
function reachesPlatform(root, path, known) {
  const answer = known.get(path);
  if (answer !== undefined) return answer;
  // A circle adds nothing to what the rest of it reaches.
  known.set(path, false);
  const isReaching = importsOf(root, path).some((name) => {
    if (!/^(src|test|gen)\//.test(name)) return PLATFORM.test(name);
    if (name.startsWith("src/")) return PLATFORM_FOLDERS.test(name);
    return /^test\/.*\.(ts|mjs)$/.test(name) && existsSync(join(root, name)) && reachesPlatform(root, name, known);
  });
  known.set(path, isReaching);
  return isReaching;
}
