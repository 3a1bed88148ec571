/**
 * Makes everything that a release needs into dist/release, and checks it: `npm run release -- --dry-run` at any time,
 * without `--dry-run` from a clean tree whose changelog is cut. It tags, pushes and publishes nothing.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { parseAllDocuments } from "yaml";
import * as checks from "./release-checks.mjs";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const OUT = join(ROOT, "dist", "release");
const CHART = "deploy/helm/tollgate";
/** The tests that compare pages with the code they speak of, follow their links, and read what is at the root. */
const PAGE_TESTS = [
  "test/docs",
  "test/http/openapi.test.ts",
  "test/observe/metrics-page.test.ts",
  "test/cli/help.test.ts",
  "test/readme.test.ts",
  "test/repository.test.ts",
  "test/deploy.test.ts",
  "test/kubernetes.test.ts",
];
// Said before the `--` it is npm's own, which hands it on like this and would pack nothing.
const isDry = process.argv.includes("--dry-run") || process.env["npm_config_dry_run"] === "true";
const { version } = JSON.parse(read("package.json"));
const scratch = mkdtempSync(join(tmpdir(), "tollgate-release-"));

/** @param {string} path */
function read(path) {
  return readFileSync(join(ROOT, path), "utf8");
}

/**
 * What a program says; a program that fails ends the release. @param {string} directory @param {string[]} command
 * @param {string} remedy
 */
function run(directory, command, remedy) {
  const [program = "", ...args] = command;
  const env = { ...process.env, npm_config_dry_run: "false", npm_config_loglevel: "error" };
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    cwd: directory,
    env,
    encoding: "utf8",
    maxBuffer: 256 * 1024 * 1024,
  });
  if (status === 0) return stdout;
  throw new Error(`${command.join(" ")} failed: ${remedy}\n${error?.message ?? `${stdout}${stderr}`.slice(-4_000)}`);
}

/** @param {string[]} args */
function git(...args) {
  return run(ROOT, ["git", ...args], "a release is made from a clone with its history").trim();
}

/** @param {readonly string[]} faults */
function refuse(faults) {
  if (faults.length > 0) throw new Error(faults.join("\n"));
}

/** The files that git knows, below a path where one is given. @param {string[]} paths */
function trackedFiles(...paths) {
  const known = git("ls-files", "-z", "--", ...paths).split("\0");
  return known.filter((path) => path !== "" && existsSync(join(ROOT, path)));
}

/** Packs files of the tree, none of which may be a secret. @param {string} name @param {readonly string[]} paths */
function archive(name, paths, directory = ROOT) {
  refuse(checks.secretFaults(paths, (path) => readFileSync(join(directory, path), "utf8")));
  const file = `tollgate-${version}-${name}.tgz`;
  const list = join(scratch, `${name}.list`);
  writeFileSync(list, paths.map((path) => `${path}\n`).join(""));
  run(directory, ["tar", "-czf", join(OUT, file), "-T", list], "install tar");
  return `${paths.length} files, ${made(file)}`;
}

/** @param {string} file */
function made(file) {
  return `${(statSync(join(OUT, file)).size / 1024).toFixed(0)} KiB in dist/release/${file}`;
}

/** @param {string} file @param {string} text */
function write(file, text) {
  writeFileSync(join(OUT, file), text);
  return made(file);
}

function checkTree() {
  const changes = git("status", "--porcelain");
  if (changes !== "" && !isDry)
    throw new Error(`the tree is not clean: commit or remove what stands below\n${changes}`);
  refuse(checks.versionFaults(read));
  const commit = git("rev-parse", "--short", "HEAD");
  return `${version} everywhere, at ${commit}${changes === "" ? "" : " with changes that are not committed"}`;
}

function makeChangelog() {
  const { notes, lines, isCut } = checks.changelogSection(read("CHANGELOG.md"), version);
  const missing = `CHANGELOG.md has no "## ${version} - <the day>" yet: put that line right under "## Unreleased"`;
  if (!isCut && !isDry) throw new Error(missing);
  const told = `${lines} lines, ${write(`tollgate-${version}-notes.md`, notes)}`;
  return isCut ? told : `${told}\n  before the release: ${missing}`;
}

function makeChart() {
  const rendered = checks.renderChart((path) => read(`${CHART}/${path}`));
  const plain = parseAllDocuments(read("deploy/kubernetes.yaml")).map((document) => document.toJS());
  if (!isDeepStrictEqual(rendered, plain))
    throw new Error(`${CHART} renders to something else than deploy/kubernetes.yaml: change both together`);
  const paths = trackedFiles(CHART).map((path) => path.slice("deploy/helm/".length));
  return `renders to deploy/kubernetes.yaml, ${archive("chart", paths, join(ROOT, "deploy/helm"))}`;
}

function makeSbom() {
  const folder = join(scratch, "tollgate");
  const lock = JSON.parse(read("package-lock.json"));
  const ours = checks.productionOnly(JSON.parse(read("package.json")), lock);
  mkdirSync(folder);
  writeFileSync(join(folder, "package.json"), JSON.stringify(ours.manifest));
  writeFileSync(join(folder, "package-lock.json"), JSON.stringify(ours.lock));
  const text = run(folder, ["npm", "sbom", "--package-lock-only", "--sbom-format=cyclonedx"], "use npm 10 or newer");
  const sbom = JSON.parse(text);
  refuse(checks.sbomFaults(sbom, lock, version));
  return `${sbom.components.length} components as in the lockfile, ${write(`tollgate-${version}.cdx.json`, text)}`;
}

function makeStubs() {
  run(ROOT, ["npm", "run", "--silent", "proto:lint"], "mend proto/");
  run(ROOT, ["npm", "run", "--silent", "gen:check"], "run npm run gen, and commit what it made");
  run(ROOT, [process.execPath, ".ci/check-breaking.mjs"], "keep the names, numbers and types of the last release");
  const paths = trackedFiles("proto", "gen").filter((path) => !path.includes("tollgate/internal/"));
  return `gen/ is what proto/ makes, ${archive("stubs", paths)}`;
}

function makeDocs() {
  const command = [process.execPath, "node_modules/vitest/vitest.mjs", "run", ...PAGE_TESTS];
  run(ROOT, command, "run npm run docs, or mend the page that is named below");
  const paths = trackedFiles("README.md", "llms.txt", "LICENSE", "docs", "deploy", "examples", "compose.yaml");
  return `pages say what the code does, ${archive("docs", paths)}`;
}

/** Lays out what the image is built of, and builds it there: what the Dockerfile does not copy is then not found. */
function makeImageContext() {
  const copied = checks.copiedPaths(read("Dockerfile"));
  const absent = copied.filter((path) => !existsSync(join(ROOT, path)));
  refuse(absent.map((path) => `the Dockerfile copies ${path}, which is not there: mend the Dockerfile`));
  const context = join(scratch, "context");
  for (const path of ["Dockerfile", ".dockerignore", ...copied])
    cpSync(join(ROOT, path), join(context, path), { recursive: true });
  const entries = readdirSync(context, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const laid = entries.map((entry) => join(entry.parentPath, entry.name).slice(context.length + 1)).sort();
  const paths = checks.sentPaths(laid, read(".dockerignore"));
  const sent = new Set(paths);
  for (const path of laid) if (!sent.has(path)) rmSync(join(context, path));
  const tracked = new Set(trackedFiles());
  const unknown = paths.filter((path) => !tracked.has(path));
  refuse(unknown.map((path) => `the image would hold ${path}, which git does not know: remove it`));
  const told = archive("image-context", paths, context);
  symlinkSync(join(ROOT, "node_modules"), join(context, "node_modules"));
  run(context, ["npm", "run", "--silent", "build"], "let the Dockerfile copy what the build needs");
  const says = run(context, [process.execPath, "dist/program/main.js", "--version"], "mend the program").trim();
  if (says !== version) throw new Error(`the program says that it is ${says}, not ${version}: mend src/cli/version.ts`);
  return `builds and starts, ${told}`;
}

/** The package holds the build of the image's context, and nothing that an older build left in dist. */
function makePackage() {
  for (const folder of ["program", "console"]) {
    rmSync(join(ROOT, "dist", folder), { recursive: true, force: true });
    cpSync(join(scratch, "context", "dist", folder), join(ROOT, "dist", folder), { recursive: true });
  }
  const packing = ["npm", "pack", "--json", "--ignore-scripts", "--pack-destination", OUT];
  /** @type {{ filename: string, files: { path: string }[] }[]} */
  const [packed] = Object.values(JSON.parse(run(ROOT, packing, "see what npm says")));
  if (packed === undefined) throw new Error("npm pack made nothing: use npm 10 or newer");
  const paths = packed.files.map(({ path }) => path).sort();
  refuse(checks.packageFaults(paths, new Set(trackedFiles())));
  refuse(checks.secretFaults(paths, read));
  const list = write(`tollgate-${version}-package-files.txt`, paths.map((path) => `${path}\n`).join(""));
  return `${paths.length} files, ${made(packed.filename)}\n  their names: ${list}`;
}

function makeChecksums() {
  const names = readdirSync(OUT).sort();
  const lines = names.map((name) => {
    const digest = createHash("sha256")
      .update(readFileSync(join(OUT, name)))
      .digest("hex");
    return `${digest}  ${name}\n`;
  });
  return `${names.length} files, ${write("SHA256SUMS", lines.join(""))}`;
}

/** What is checked soonest comes first. @type {readonly (readonly [string, () => string])[]} */
const STEPS = [
  ["version", checkTree],
  ["changelog", makeChangelog],
  ["chart", makeChart],
  ["SBOM", makeSbom],
  ["stubs", makeStubs],
  ["image context", makeImageContext],
  ["package", makePackage],
  ["docs", makeDocs],
  ["checksums", makeChecksums],
];

/** @param {string} text */
function say(text) {
  process.stdout.write(`${text}\n`);
}

try {
  rmSync(OUT, { recursive: true, force: true });
  mkdirSync(OUT, { recursive: true });
  for (const [at, [name, make]] of STEPS.entries()) {
    try {
      say(`${at + 1} of ${STEPS.length}, ${name}: ${make()}`);
    } catch (error) {
      throw new Error(`${name}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
    }
  }
  if (isDry) say(`Everything that ${version} needs can be made. Nothing was tagged or published.`);
  else
    say(`Everything that ${version} needs is made. To release it, after .ci/run:
  git tag -a v${version} -m "Tollgate ${version}" && git push origin v${version}
  npm publish dist/release/tollgate-${version}.tgz
  docker build -t tollgate:${version} - < dist/release/tollgate-${version}-image-context.tgz`);
} catch (error) {
  process.stderr.write(`release: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
