/** The backends of the harness: a PostgreSQL and a Redis that are killed and started again on the same data. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chownSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { freePort } from "../support/free-port.mjs";
import { postgresPrograms } from "../support/postgres.js";

const START_MS = 60_000;

/** A backend of the nodes. */
export interface Backend {
  readonly url: string;
  /** Ends it as a crash of the machine would. */
  kill(): Promise<void>;
  /** Resolves once it answers. */
  start(): Promise<void>;
}

export interface Database extends Backend {
  /** PostgreSQL's immediate shutdown: no checkpoint, recovery at the next start. */
  stopImmediately(): Promise<void>;
}

/** Makes and starts a PostgreSQL in a directory, with what it acknowledges synced. */
export async function startDatabase(directory: string, host: string): Promise<Database> {
  const bin = postgresPrograms;
  if (bin === undefined) throw new Error("no PostgreSQL from 14 on is installed (Debian: postgresql)");
  const owner = process.getuid?.() === 0 ? unprivileged() : undefined;
  const data = join(directory, "postgres");
  mkdirSync(data, { recursive: true });
  if (owner !== undefined) for (const path of [directory, data]) chownSync(path, owner.uid, owner.gid);
  const init = ["--pgdata", data, "--username", "tollgate", "--no-sync", "--encoding", "UTF8", "--auth", "trust"];
  const made = spawnSync(join(bin, "initdb"), [...init, "--locale", "C.UTF-8"], { ...owner, cwd: "/" });
  if (made.status !== 0) throw new Error(`initdb: ${made.stderr.toString()}`);
  const port = await freePort();
  const settings = {
    port,
    listen_addresses: host,
    unix_socket_directories: data,
    max_connections: 200,
    shared_buffers: "64MB",
    hba_file: join(data, "hba.conf"),
  };
  const hba = "printf 'host all all all trust\\nlocal all all trust\\n' > \"$1\"";
  spawnSync("sh", ["-c", hba, "sh", settings.hba_file], { ...owner, cwd: "/" });
  const args = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  let server: ChildProcess | undefined;
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (server === undefined) return;
    const exited = once(server, "exit");
    // The children that serve connections must go with it, as they would with the machine.
    if (signal === "SIGKILL") for (const pid of childrenOf(server.pid)) killPid(pid);
    server.kill(signal);
    await exited;
    server = undefined;
  };
  const start = async (): Promise<void> => {
    server = spawn(join(bin, "postgres"), ["-D", data, ...args], { ...owner, stdio: "ignore", cwd: "/" });
    const ready = ["-q", "-h", host, "-p", String(port)];
    await until(() => spawnSync(join(bin, "pg_isready"), ready).status === 0, "PostgreSQL did not start");
  };
  await start();
  return {
    url: `postgresql://tollgate@${host}:${port}/postgres`,
    start,
    kill: () => end("SIGKILL"),
    stopImmediately: () => end("SIGQUIT"),
  };
}

export async function startRedis(directory: string, host: string): Promise<Backend> {
  const port = await freePort();
  const args = ["--port", String(port), "--bind", host, "--save", "", "--appendonly", "no", "--dir", directory];
  let server: ChildProcess | undefined;
  const start = async (): Promise<void> => {
    server = spawn("redis-server", [...args, "--protected-mode", "no"], { stdio: "ignore" });
    const ping = ["-h", host, "-p", String(port), "ping"];
    await until(() => spawnSync("redis-cli", ping).stdout?.toString().trim() === "PONG", "Redis did not start");
  };
  await start();
  return {
    url: `redis://${host}:${port}`,
    start,
    kill: async () => {
      if (server === undefined) return;
      const exited = once(server, "exit");
      server.kill("SIGKILL");
      await exited;
      server = undefined;
    },
  };
}

async function until(isSo: () => boolean, problem: string): Promise<void> {
  for (const endMs = performance.now() + START_MS; performance.now() < endMs; await pause(50)) if (isSo()) return;
  throw new Error(`${problem} in ${START_MS} ms`);
}

/** The user that Debian's package made, else nobody: PostgreSQL refuses to run as root. */
function unprivileged(): { readonly uid: number; readonly gid: number } {
  const users = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .map((line) => line.split(":"));
  const [, , uid, gid] = users.find(([name]) => name === "postgres") ?? users.find(([name]) => name === "nobody") ?? [];
  return { uid: Number(uid), gid: Number(gid) };
}

function childrenOf(pid: number | undefined): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean).map(Number);
}

function killPid(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It ended by itself.
  }
}
