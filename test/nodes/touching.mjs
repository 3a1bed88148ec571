/** Which test files depend on their Node: those that reach sockets, threads, SQLite, streams or processes. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** What a test imports that leans on the platform, of Node and of packages, and the folders of the program that do. */
const PLATFORM =
  /^node:(http|https|http2|net|tls|stream|worker_threads|child_process)$|^(@photostructure\/sqlite|undici|fastify)$/;
const PLATFORM_FOLDERS = /^src\/(cli|http|reading|rpc|serve|store|upstream)\//;
/** Types are gone when it runs. */
const IMPORTS = /^(?!import type\b)(?:import|export|\} from)\b[^"']*["']([^"']+)["']|\bimport\(["']([^"']+)["']/gm;

/** @param {string} root */
export function testFiles(root) {
  return readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".test.ts"))
    .map((path) => join("test", path))
    .toSorted();
}

/**
 * Splits the test files under a root: `touching` lean on the platform, by themselves or by test files they import.
 * @param {string} root
 */
export function splitTests(root) {
  /** @type {Map<string, boolean>} */
  const known = new Map();
  const files = testFiles(root);
  const touches = (/** @type {string} */ file) => reaches(root, file, known);
  return { touching: files.filter(touches), other: files.filter((file) => !touches(file)) };
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
function reaches(root, path, known) {
  const answer = known.get(path);
  if (answer !== undefined) return answer;
  // A circle adds nothing to what the rest of it reaches.
  known.set(path, false);
  const isTouching = importsOf(root, path).some((name) => {
    if (!/^(src|test|gen)\//.test(name)) return PLATFORM.test(name);
    if (name.startsWith("src/")) return PLATFORM_FOLDERS.test(name);
    return /^test\/.*\.(ts|mjs)$/.test(name) && existsSync(join(root, name)) && reaches(root, name, known);
  });
  known.set(path, isTouching);
  return isTouching;
}
