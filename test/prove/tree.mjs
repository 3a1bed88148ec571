/** The working tree as git sees it: one id for all that it holds, and which files two of them differ in. */
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

/** Files may come and go while git reads them. */
const TRIES = 3;

/**
 * `id` names the content of every file that git does not ignore, so that equal trees have equal ids whatever is
 * committed. `isDirty` is true where it is not what `commit` holds.
 * @typedef {{ readonly id: string, readonly commit: string, readonly isDirty: boolean }} Tree
 */

/**
 * Runs git, which must not take its repository from the environment of a hook.
 * @param {string} root
 * @param {readonly string[]} args
 * @param {Readonly<Record<string, string>>} [env]
 */
function git(root, args, env = {}) {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("GIT_"));
  const { status, stdout, stderr, error } = spawnSync("git", args, {
    cwd: root,
    encoding: "utf8",
    env: { ...Object.fromEntries(inherited), ...env },
    maxBuffer: 64 * 1024 * 1024,
  });
  if (status === 0) return stdout;
  throw new Error(`git ${args.join(" ")}: ${error?.message ?? stderr.trim()}`);
}

/**
 * Reads the working tree. Uses an index of its own, so that the user's stays as it is. Throws outside of a clone.
 * @param {string} root
 * @returns {Tree}
 */
export function readTree(root) {
  const asked = ["HEAD", "HEAD^{tree}", "--git-path", "index"];
  const [commit = "", committed, path = ""] = git(root, ["rev-parse", ...asked]).split("\n");
  const own = resolve(root, path);
  const directory = mkdtempSync(join(tmpdir(), "tollgate-tree-"));
  const index = join(directory, "index");
  try {
    // It knows which files did not change, so that git reads only the others.
    if (existsSync(own)) copyFileSync(own, index);
    addAll(root, index);
    const id = git(root, ["write-tree"], { GIT_INDEX_FILE: index }).trim();
    return { id, commit, isDirty: id !== committed };
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** @param {string} root @param {string} index */
function addAll(root, index) {
  for (let left = TRIES - 1; ; left--) {
    try {
      git(root, ["add", "--all"], { GIT_INDEX_FILE: index });
      return;
    } catch (error) {
      if (left === 0) throw error;
    }
  }
}

/**
 * The files in which two trees differ; undefined where git does not know one of them anymore.
 * @param {string} root
 * @param {string} before
 * @param {string} after
 * @returns {readonly string[] | undefined}
 */
export function changedFiles(root, before, after) {
  if (before === after) return [];
  try {
    return git(root, ["diff", "--name-only", "--no-renames", "-z", before, after])
      .split("\0")
      .filter((path) => path !== "");
  } catch {
    return undefined;
  }
}
