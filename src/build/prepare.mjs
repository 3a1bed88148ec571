/** Makes a fresh clone ready for `npm start` and `npm test`, in plain Node, since nothing is installed yet. */
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundle, isBundled } from "./bundle.mjs";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const GO_RUNTIME = "/usr/share/gocode/src/google.golang.org/protobuf";
const NODE_LEAST = [20, 19, 0];
const INSTALL_STAMP = join(ROOT, "node_modules", ".tollgate-install");
/** What builds SQLite where its package has no binary for the machine, and what that binary runs on. */
const SYSTEM_PACKAGES = [
  "  Debian, Ubuntu:  apt-get install -y python3 make g++",
  "  Alpine:          apk add python3 make g++ libstdc++",
  "  macOS:           xcode-select --install",
].join("\n");
/** What each command does, in order; the last is what npm runs after this program. */
const STEPS = {
  start: ["install the packages", "compile", "serve"],
  test: ["install the packages", "compile", "look for tools", "run the tests"],
  browser: ["install the packages", "compile", "look for tools", "run the tests"],
  prove: ["install the packages", "compile", "look for tools", "run the proofs"],
  release: ["install the packages", "make and check what a release needs"],
};
/** How long each further attempt of apt-get waits: most outages of a mirror last for seconds. */
const APT_PAUSES_SECONDS = [5, 20];
/** What the tests use, and the Debian packages it comes from. */
const TOOLS = [
  { name: "nginx", packages: ["nginx-light"], probes: [["nginx", "-v"]] },
  {
    name: "PostgreSQL",
    packages: ["postgresql"],
    // Debian keeps its programs beside each other by version, off the path. One that runs may be named instead.
    probes: [
      ["sh", "-c", 'test -n "$TOLLGATE_TEST_DATABASE_URL"'],
      ["sh", "-c", "ls /usr/lib/postgresql/1[4-9]/bin/initdb"],
      ["sh", "-c", "command -v initdb && command -v postgres"],
    ],
  },
  { name: "PgBouncer", packages: ["pgbouncer"], probes: [["pgbouncer", "--version"]] },
  {
    name: "Redis",
    packages: ["redis-server"],
    probes: [
      ["sh", "-c", 'test -n "$TOLLGATE_TEST_REDIS_URL"'],
      ["redis-server", "--version"],
    ],
  },
  { name: "curl", packages: ["curl"], probes: [["curl", "--version"]] },
];

/** What `npm run prove` uses beside: Prometheus, and what clients in other languages are made of. */
const PROVE_TOOLS = [
  { name: "Prometheus", packages: ["prometheus"], probes: [["prometheus", "--version"]] },
  { name: "protoc", packages: ["protobuf-compiler"], probes: [["protoc", "--version"]] },
  {
    name: "google/protobuf/*.proto",
    packages: ["libprotobuf-dev"],
    probes: [["test", "-f", "/usr/include/google/protobuf/timestamp.proto"]],
  },
  {
    name: "grpc_python_plugin",
    packages: ["protobuf-compiler-grpc"],
    probes: [["sh", "-c", "command -v grpc_python_plugin"]],
  },
  {
    name: "gRPC for Python",
    packages: ["python3-grpcio", "python3-protobuf"],
    // Debian's packages are for Debian's Python, which another one may hide.
    probes: ["/usr/bin/python3", "python3"].map((python) => [python, "-c", "import grpc, google.protobuf"]),
  },
  // What its decoder takes of a body differs from what others do.
  { name: "go", packages: ["golang-go"], probes: [["go", "version"]] },
  {
    name: "gRPC for Go",
    // The last one by name: without it an older runtime serves as well, which the stubs do not compile with.
    packages: [
      "protoc-gen-go",
      "protoc-gen-go-grpc",
      "golang-google-grpc-dev",
      "golang-github-golang-protobuf-1-5-dev",
    ],
    probes: [["sh", "-c", `command -v protoc-gen-go && command -v protoc-gen-go-grpc && test -d ${GO_RUNTIME}`]],
  },
  {
    name: "gRPC for Java",
    packages: [
      "default-jdk-headless",
      "protobuf-compiler-grpc-java-plugin",
      "libgrpc-java",
      "libprotobuf-java",
      "libnetty-java",
      "libperfmark-java",
      "libgoogle-common-protos-java",
      "libgoogle-gson-java",
      "libgeronimo-annotation-1.3-spec-java",
    ],
    probes: [
      ["sh", "-c", "command -v javac && command -v grpc_java_plugin && test -f /usr/share/java/netty-codec.jar"],
    ],
  },
];

/** What drives the console in its tests. */
const BROWSER_TOOLS = [{ name: "Chromium", packages: ["chromium"], probes: [["chromium", "--version"]] }];

/** @param {string} text */
function say(text) {
  process.stdout.write(`prepare: ${text}\n`);
}

/**
 * Says which step begins, and what is left after it. @param {keyof typeof STEPS} purpose @param {string} step @param
 * {string} note
 */
function sayStep(purpose, step, note) {
  const steps = STEPS[purpose];
  const at = steps.indexOf(step);
  say(`step ${at + 1} of ${steps.length}: ${step} (${note}); then: ${steps.slice(at + 1).join(", ")}`);
}

/** Ends with a message that says what to do.
 * @param {string} text @returns {never} */
function fail(text) {
  process.stderr.write(`prepare: ${text}\n`);
  process.exit(1);
}

/**
 * Runs a program in sight of the person. @param {string} program @param {string[]} args @param {NodeJS.ProcessEnv}
 * [env]
 */
function run(program, args, env = process.env) {
  const { status, error } = spawnSync(program, args, { cwd: ROOT, stdio: ["ignore", "inherit", "inherit"], env });
  return error === undefined && status === 0;
}

/**
 * Runs a program that says little, and shows every 10 s that it goes on. @param {string} program @param {string[]} args
 * @param {string} step @returns {Promise<boolean>}
 */
function runWithPulse(program, args, step) {
  const startMs = performance.now();
  const seconds = () => Math.round((performance.now() - startMs) / 1000);
  const pulse = setInterval(() => say(`still at it: ${step} (${seconds()} s so far)`), 10_000);
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd: ROOT, stdio: ["ignore", "inherit", "inherit"] });
    child.once("error", () => resolve(false));
    child.once("close", (code) => resolve(code === 0));
  }).finally(() => clearInterval(pulse));
}

/** True where the program runs and ends well. @param {readonly string[]} command */
function works([program = "", ...args]) {
  const { status, error } = spawnSync(program, args, { stdio: "ignore", timeout: 20_000 });
  return error === undefined && status === 0;
}

/** @param {(typeof TOOLS)[number]} tool */
function isMissing(tool) {
  return !tool.probes.some((probe) => works(probe));
}

function checkNode() {
  const found = process.versions.node.split(".").map(Number);
  const difference = NODE_LEAST.map((least, index) => (found[index] ?? 0) - least).find((part) => part !== 0) ?? 0;
  if (difference < 0) fail(`Node ${process.versions.node} is too old: install Node ${NODE_LEAST.join(".")} or newer`);
}

/** @param {keyof typeof STEPS} purpose */
async function install(purpose) {
  const lock = join(ROOT, "package-lock.json");
  // Binaries are of one kind of machine, and serve every Node.
  const want = `${hashOf([lock])} ${process.platform} ${process.arch}\n`;
  if (readOr(INSTALL_STAMP, "") === want) return;
  if (!existsSync(INSTALL_STAMP) && isNewer(join(ROOT, "node_modules", ".package-lock.json"), lock) && sqliteLoads()) {
    // Installed by hand just now.
    writeFileSync(INSTALL_STAMP, want);
    return;
  }
  sayStep(purpose, "install the packages", "half a minute with an empty cache; nothing is compiled");
  // The compiler is a development dependency, whatever NODE_ENV or the person's own settings leave out.
  const args = ["ci", "--include=dev", "--ignore-scripts=false", "--no-audit", "--no-fund", "--fetch-retries=4"];
  // npm tells where it is, so that the one that runs us is the one that we run.
  const npm = process.env["npm_execpath"];
  const command = npm === undefined ? ["npm"] : [process.execPath, npm];
  const done = await runWithPulse(command[0] ?? "npm", [...command.slice(1), ...args], "install the packages");
  if (!done)
    fail(
      "the install failed, for the reason above. Where no registry was reached, set npm's registry or proxy." +
        ` Where a compiler is missing, install it and run the same command again:\n${SYSTEM_PACKAGES}`,
    );
  if (!sqliteLoads())
    fail(`SQLite cannot be loaded on this machine. Install what it needs, remove node_modules, and run the same command
again:\n${SYSTEM_PACKAGES}`);
  writeFileSync(INSTALL_STAMP, want);
}

function sqliteLoads() {
  return works([
    process.execPath,
    "-e",
    `new (require(${JSON.stringify(join(ROOT, "node_modules/@photostructure/sqlite"))}).DatabaseSync)(":memory:")`,
  ]);
}

/** @param {keyof typeof STEPS} purpose */
async function build(purpose) {
  if (isBundled()) return;
  sayStep(purpose, "compile", "some 5 seconds");
  await bundle().catch((error) => fail(`the program cannot be compiled: ${error.message}`));
}

/** Builds the console beside what runs next, which serves a page that says so until it is there. */
function buildConsoleBehind() {
  const program = join(ROOT, "console", "build.mjs");
  if (!existsSync(program)) return;
  // What it says would stand among the lines of the program that serves.
  spawn(process.execPath, [program], { cwd: ROOT, stdio: "ignore", detached: true }).unref();
}

/** Lets `npx tollgate` find the command, which npm does for a package's dependents but not for itself. */
function link() {
  const program = join(ROOT, "dist", "program", "main.js");
  const command = join(ROOT, "node_modules", ".bin", "tollgate");
  // Windows would need a script of its own; there `node dist/program/main.js` stays.
  if (process.platform === "win32") return;
  rmSync(command, { force: true });
  symlinkSync(program, command);
}

/** @param {keyof typeof STEPS} purpose @param {typeof TOOLS} tools */
function installTools(purpose, tools) {
  let missing = tools.filter(isMissing);
  if (missing.length === 0) return;
  if (process.getuid?.() === 0 && works(["apt-get", "--version"])) {
    const packages = missing.flatMap((tool) => tool.packages);
    sayStep(purpose, "look for tools", `installs what the tests use: ${packages.join(" ")}`);
    installPackages(packages);
    missing = missing.filter(isMissing);
  }
  for (const tool of missing)
    say(`${tool.name} is missing, so tests that use it will not run; install ${tool.packages.join(" ")} to run them`);
}

/** Asks apt-get again where it fails, since a mirror may be away for a moment. @param {readonly string[]} packages */
function installPackages(packages) {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const quiet = ["-q", "-o", "Dpkg::Use-Pty=0", "-o", "Acquire::Retries=2"];
  const succeeds = () =>
    run("apt-get", [...quiet, "update"], env) &&
    run("apt-get", [...quiet, "install", "--yes", "--no-install-recommends", ...packages], env);
  for (const seconds of APT_PAUSES_SECONDS) {
    if (succeeds()) return;
    say(`apt-get failed, for the reason above; once more in ${seconds} s`);
    run("sleep", [String(seconds)]);
  }
  succeeds();
}

/** One hash of the names and bytes of files, and of all files in folders. @param {readonly string[]} paths */
function hashOf(paths) {
  const hash = createHash("sha256");
  for (const path of paths.flatMap(filesOf))
    hash
      .update(`${path.slice(ROOT.length)}\0`)
      .update(readFileSync(path))
      .update("\0");
  return hash.digest("hex");
}

/** @param {string} path @returns {string[]} */
function filesOf(path) {
  if (!existsSync(path)) return [];
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path)
    .sort()
    .flatMap((name) => filesOf(join(path, name)));
}

/** @param {string} path @param {string} other */
function isNewer(path, other) {
  return existsSync(path) && statSync(path).mtimeMs >= statSync(other).mtimeMs;
}

/** @param {string} path @param {string} otherwise */
function readOr(path, otherwise) {
  return existsSync(path) ? readFileSync(path, "utf8") : otherwise;
}

/** @param {string | undefined} text @returns {text is keyof typeof STEPS} */
function isPurpose(text) {
  return text !== undefined && Object.hasOwn(STEPS, text);
}

const [purpose] = process.argv.slice(2);
if (!isPurpose(purpose)) fail(`usage: node src/build/prepare.mjs ${Object.keys(STEPS).join("|")}`);
checkNode();
await install(purpose);
// A release compiles apart, from nothing but what it is made of.
if (purpose !== "release") {
  await build(purpose);
  link();
}
if (purpose === "start") buildConsoleBehind();
if (purpose === "test") installTools(purpose, TOOLS);
if (purpose === "browser") installTools(purpose, BROWSER_TOOLS);
if (purpose === "prove") installTools(purpose, [...TOOLS, ...BROWSER_TOOLS, ...PROVE_TOOLS]);
