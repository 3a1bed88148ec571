/** Which files a change touches, as git tells. */
import { spawnSync } from "node:child_process";

/**
 * Paths from the root that differ from a commit, with those that git does not track yet. Throws where git fails.
 * @param {string} root @param {string} since
 */
export function changedFiles(root, since) {
  const tracked = linesOf(root, ["diff", "--name-only", "--no-renames", since]);
  const untracked = linesOf(root, ["ls-files", "--others", "--exclude-standard"]);
  return [...new Set([...tracked, ...untracked])].toSorted();
}

/** @param {string} root @param {readonly string[]} args */
function linesOf(root, args) {
  const { status, stdout, stderr } = spawnSync("git", args, { cwd: root, encoding: "utf8", maxBuffer: 2 ** 26 });
  if (status !== 0) throw new Error(`git ${args.join(" ")}: ${stderr}`);
  return stdout.split("\n").filter((line) => line !== "");
}
