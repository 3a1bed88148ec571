/** A real PgBouncer in transaction mode before a test's database, with two sessions of the server for all. */
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { onTestFinished } from "vitest";
import { freePort } from "./free-port.mjs";
import { PATIENCE_MS } from "./patience.js";

export const pgbouncerMissing: string | undefined =
  spawnSync("pgbouncer", ["--version"]).status === 0 ? undefined : "PgBouncer is not installed (Debian: pgbouncer)";

/** The address of the same database through it. */
export async function startPgbouncer(url: string): Promise<string> {
  const { hostname, port, pathname, username, password } = new URL(url);
  const directory = mkdtempSync(join(tmpdir(), "tollgate-pgbouncer-"));
  const listen = await freePort();
  writeFileSync(join(directory, "users.txt"), `"${username}" "${password}"\n`);
  writeFileSync(
    join(directory, "pgbouncer.ini"),
    `[databases]
${pathname.slice(1)} = host=${hostname} port=${port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${listen}
unix_socket_dir =
auth_type = plain
auth_file = ${join(directory, "users.txt")}
pool_mode = transaction
default_pool_size = 2
max_client_conn = 100
`,
  );
  // It refuses to run as root.
  for (const file of ["users.txt", "pgbouncer.ini"]) chmodSync(join(directory, file), 0o644);
  chmodSync(directory, 0o755);
  const user = process.getuid?.() === 0 ? ["-u", "nobody"] : [];
  const child = spawn("pgbouncer", ["-q", ...user, join(directory, "pgbouncer.ini")], { stdio: "ignore" });
  onTestFinished(async () => {
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
    rmSync(directory, { recursive: true, force: true });
  });
  const endMs = performance.now() + PATIENCE_MS;
  while (!(await listens(listen))) {
    if (performance.now() > endMs) throw new Error("PgBouncer did not start in time");
    await sleep(50);
  }
  const pooled = new URL(url);
  pooled.hostname = "127.0.0.1";
  pooled.port = String(listen);
  return pooled.href;
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(port, "127.0.0.1");
    socket.on("error", () => resolve(false));
    socket.on("connect", () => {
      socket.destroy();
      resolve(true);
    });
  });
}
