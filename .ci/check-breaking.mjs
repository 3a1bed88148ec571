/** Fails where the protocol breaks clients of the last release. Before the first release there is nothing to break. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** @param {string[]} args */
function git(args) {
  const { status, stdout } = spawnSync("git", args, { cwd: ROOT, encoding: "utf8" });
  return status === 0 ? stdout.trim() : "";
}

const [release] = git(["tag", "--list", "v*", "--merged", "HEAD", "--sort=-version:refname"]).split("\n");
if (!release) {
  // A clone without history shows no tags; that must not look like a check that passed.
  const shallow = git(["rev-parse", "--is-shallow-repository"]) === "true";
  process.stdout.write(
    `check-breaking: NOT RUN, there is no release tag${shallow ? " in this shallow clone" : " yet"}\n`,
  );
} else {
  process.stdout.write(`check-breaking: against ${release}\n`);
  const against = `${join(ROOT, ".git")}#tag=${release}`;
  const { status } = spawnSync(join(ROOT, "node_modules", ".bin", "buf"), ["breaking", "--against", against], {
    cwd: ROOT,
    stdio: "inherit",
  });
  process.exitCode = status === 0 ? 0 : 1;
}
