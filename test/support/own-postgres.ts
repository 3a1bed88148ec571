/** A PostgreSQL of one test's own, which it may kill and start again. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { onTestFinished } from "vitest";
import { freePort } from "./free-port.mjs";
import { PATIENCE_MS } from "./patience.js";
import { postgresPrograms } from "./postgres.js";
import { quickDirectory } from "./quick-directory.js";

export interface OwnPostgres {
  readonly url: string;
  start(): Promise<void>;
  /** At once, without a word to anybody: what a crash of the server leaves. */
  crash(): Promise<void>;
  /** Stops it and removes what it has. */
  remove(): Promise<void>;
}

/** Started, and gone with the test. */
export async function startOwnPostgres(): Promise<OwnPostgres> {
  const server = await makeOwnPostgres();
  onTestFinished(() => server.remove());
  return server;
}

/** Started; whoever makes it removes it. */
export async function makeOwnPostgres(): Promise<OwnPostgres> {
  const directory = mkdtempSync(join(quickDirectory(), "tollgate-own-postgres-"));
  const data = join(directory, "data");
  mkdirSync(data);
  const owner = unprivileged();
  if (owner.uid !== undefined) for (const path of [directory, data]) chownSync(path, owner.uid, owner.gid ?? 0);
  const bin = postgresPrograms ?? "";
  const initial = ["--pgdata", data, "--username", "tollgate", "--encoding", "UTF8", "--locale", "C.UTF-8"];
  const made = spawnSync(join(bin, "initdb"), [...initial, "--auth", "trust", "--no-sync"], { ...owner, cwd: "/" });
  if (made.status !== 0) throw new Error(`initdb: ${made.stderr.toString()}`);
  const port = await freePort();
  let server: ChildProcess | undefined;
  const crash = async (): Promise<void> => {
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return;
    server.kill("SIGQUIT");
    await once(server, "exit");
  };
  const start = async (): Promise<void> => {
    const settings = [`port=${port}`, "listen_addresses=127.0.0.1", `unix_socket_directories=${directory}`];
    const options = [...settings, "max_connections=100", "fsync=on"].flatMap((setting) => ["-c", setting]);
    server = spawn(join(bin, "postgres"), ["-D", data, ...options], { ...owner, stdio: "ignore", cwd: "/" });
    const endMs = performance.now() + PATIENCE_MS;
    const asked = ["-q", "-h", "127.0.0.1", "-p", String(port)];
    while (spawnSync(join(bin, "pg_isready"), asked).status !== 0) {
      if (performance.now() > endMs) throw new Error("PostgreSQL did not start in time");
      await sleep(50);
    }
  };
  const remove = async (): Promise<void> => {
    await crash();
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    await start();
  } catch (error) {
    await remove();
    throw error;
  }
  return { url: `postgresql://tollgate@127.0.0.1:${port}/postgres`, start, crash, remove };
}

/** PostgreSQL refuses to run as root. */
function unprivileged(): { readonly uid?: number; readonly gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const users = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .map((line) => line.split(":"));
  const [, , uid, gid] = ["postgres", "nobody"].flatMap((name) => users.filter(([one]) => one === name))[0] ?? [];
  return { uid: Number(uid), gid: Number(gid) };
}
