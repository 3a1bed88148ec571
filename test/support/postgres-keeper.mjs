/**
 * Keeps a PostgreSQL for one run of the tests: makes it in a directory of its own, with what it writes synced, and ends
 * it with the process that it was started for. PostgreSQL refuses to run as root.
 */
import { spawn, spawnSync } from "node:child_process";
import { chownSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "./free-port.mjs";

const [directory = "", runPid = "", bin = ""] = process.argv.slice(2);
const PASSWORD = "a-password-of-the-tests";
const data = join(directory, "data");
const owner = process.getuid?.() === 0 ? unprivileged() : {};

/** The user that the package made, else nobody. */
function unprivileged() {
  const users = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .map((line) => line.split(":"));
  const user = ["postgres", "nobody"]
    .map((name) => users.find(([one]) => one === name))
    .find((one) => one !== undefined);
  return { uid: Number(user?.[2]), gid: Number(user?.[3]) };
}

/** @param {string} name @param {string[]} args */
function run(name, args) {
  const { status, stdout, stderr, error } = spawnSync(join(bin, name), args, { ...owner, encoding: "utf8", cwd: "/" });
  if (status !== 0) throw new Error(`${name}: ${error?.message ?? `${stdout}${stderr}`}`);
  return stdout;
}

function make() {
  mkdirSync(data, { recursive: true });
  if (owner.uid !== undefined) for (const path of [directory, data]) chownSync(path, owner.uid, owner.gid);
  writeFileSync(join(directory, "password"), PASSWORD, { mode: 0o644 });
  const version = Number(/(\d+)/.exec(run("postgres", ["--version"]))?.[1]);
  // An order of texts that is not that of their bytes, as most servers have it.
  const order = version >= 15 ? ["--locale-provider=icu", "--icu-locale=en-US"] : [];
  const texts = ["--encoding", "UTF8", "--locale", "C.UTF-8", ...order];
  const password = ["--auth", "scram-sha-256", "--pwfile", join(directory, "password")];
  run("initdb", ["--pgdata", data, "--username", "tollgate", "--no-sync", ...texts, ...password]);
}

async function serve() {
  make();
  const port = await freePort();
  const settings = {
    port,
    listen_addresses: "127.0.0.1",
    unix_socket_directories: directory,
    max_connections: 400,
    shared_buffers: "64MB",
    fsync: "on",
    synchronous_commit: "on",
    logging_collector: "off",
  };
  const options = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const server = spawn(join(bin, "postgres"), ["-D", data, ...options], { ...owner, stdio: "ignore", cwd: "/" });
  const end = () => {
    // Nobody needs what it holds.
    server.kill("SIGQUIT");
  };
  server.once("exit", () => {
    rmSync(directory, { recursive: true, force: true });
    process.exit(0);
  });
  process.once("SIGTERM", end);
  setInterval(() => isAlive() || end(), 500);
  for (let left = 1_000; left > 0; left -= 1) {
    if (spawnSync(join(bin, "pg_isready"), ["-q", "-h", "127.0.0.1", "-p", String(port)]).status === 0) break;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  tell("url", `postgresql://tollgate:${PASSWORD}@127.0.0.1:${port}/postgres`);
}

function isAlive() {
  try {
    process.kill(Number(runPid), 0);
    return true;
  } catch {
    return false;
  }
}

/** Whole or not at all. @param {string} name @param {string} text */
function tell(name, text) {
  writeFileSync(join(directory, `${name}.new`), text);
  renameSync(join(directory, `${name}.new`), join(directory, name));
}

try {
  await serve();
} catch (error) {
  tell("error", error instanceof Error ? error.message : String(error));
}
