/** Fails where gen/ is not what its sources make now: it was edited, or not made again after a change. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { genConsole } from "./gen-console.mjs";
import { genProtocol } from "./gen-protocol.mjs";
import { leaveUnusedOut } from "./gen-services.mjs";
import { genWasm } from "./gen-wasm.mjs";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const BUF = join(ROOT, "node_modules", ".bin", "buf");

/** @param {string[]} args */
function buf(args) {
  const { status, error } = spawnSync(BUF, args, { cwd: ROOT, stdio: "inherit" });
  if (error === undefined && status === 0) return;
  process.stderr.write(`check-gen: buf ${args.join(" ")} failed; is everything installed (npm ci)?\n`);
  process.exit(1);
}

/** @param {string} folder */
function filesOf(folder) {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return new Map(files.map((file) => [file.slice(folder.length + 1), readFileSync(file)]));
}

const folder = mkdtempSync(join(tmpdir(), "tollgate-gen-"));
try {
  buf(["generate", "--output", folder]);
  leaveUnusedOut(join(folder, "gen"));
  buf(["build", "--exclude-source-info", "--output", join(folder, "gen", "tollgate.binpb")]);
  genConsole(join(folder, "gen"));
  genProtocol(join(folder, "gen"));
  await genWasm(join(folder, "gen"));
  const made = filesOf(join(folder, "gen"));
  const kept = filesOf(join(ROOT, "gen"));
  const names = [...new Set([...made.keys(), ...kept.keys()])].sort();
  const differing = names.filter((name) => !made.get(name)?.equals(kept.get(name) ?? Buffer.from("absent")));
  for (const name of differing) process.stderr.write(`check-gen: gen/${name} is not what its source makes\n`);
  if (differing.length > 0) process.stderr.write("check-gen: run: npm run gen\n");
  else process.stdout.write(`check-gen: ${names.length} files of gen/ are what their sources make\n`);
  process.exitCode = differing.length > 0 ? 1 : 0;
} finally {
  rmSync(folder, { recursive: true });
}
