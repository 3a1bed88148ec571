/** A real PgBouncer before a test's database, with the settings that docs/postgresql.md shows. */
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
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

/** The page's file with other lines in the place of some. */
function settingsOf(changes: Readonly<Record<string, string>>): string {
  const page = readFileSync("docs/postgresql.md", "utf8");
  let [, text = ""] = /```ini\n(\[databases\][^]*?)```/.exec(page) ?? [];
  for (const [from, to] of Object.entries(changes)) {
    if (text.split(`${from}\n`).length !== 2) throw new Error(`docs/postgresql.md has not one ${from}`);
    text = text.replace(from, () => to);
  }
  return text;
}

/** The address of the same database through it. Changes are lines of the page and what stands in their places. */
export async function startPgbouncer(url: string, changes: Readonly<Record<string, string>> = {}): Promise<string> {
  const { hostname, port, pathname, username, password } = new URL(url);
  const directory = mkdtempSync(join(tmpdir(), "tollgate-pgbouncer-"));
  const listen = await freePort();
  writeFileSync(join(directory, "users.txt"), `"${username}" "${password}"\n`);
  writeFileSync(
    join(directory, "pgbouncer.ini"),
    settingsOf({
      "tollgate = host=db.internal port=5432": `${pathname.slice(1)} = host=${hostname} port=${port}`,
      "listen_port = 6432": `listen_port = ${listen}\nunix_socket_dir =`,
      "auth_type = scram-sha-256": `auth_type = ${password === "" ? "trust" : "plain"}`,
      "auth_file = /etc/pgbouncer/userlist.txt": `auth_file = ${join(directory, "users.txt")}`,
      ...changes,
    }),
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
