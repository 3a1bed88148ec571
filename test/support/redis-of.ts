/** The Redis of the gateways that share a data directory, gone with the process that runs the tests. */
import { spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { freePort } from "./free-port.mjs";
import { quickDirectory } from "./quick-directory.js";
import { REDIS_MISSING } from "./redis-server.js";

const STARTS_MAX = 5;

/** The shell ends the server once nobody holds its input, however the tests ended. */
const WITH_PARENT = 'redis-server "$@" & read -r _; kill -9 $!; rm -rf "$DIRECTORY"';

const servers = new Map<string, Promise<string>>();

/** Each data directory has its own: nodes of different deployments that shared one would hear each other's changes. */
export function redisOf(dataDirectory: string): Promise<string> {
  const found = servers.get(dataDirectory);
  if (found !== undefined) return found;
  const started = startedRedis();
  servers.set(dataDirectory, started);
  return started;
}

async function startedRedis(): Promise<string> {
  if (REDIS_MISSING !== undefined) throw new Error(REDIS_MISSING);
  for (let count = 1; count <= STARTS_MAX; count++) {
    // Another process may take the port before Redis does.
    const port = await freePort();
    if (await isServed(port)) return `redis://127.0.0.1:${port}`;
  }
  throw new Error("redis-server does not start");
}

function isServed(port: number): Promise<boolean> {
  const directory = mkdtempSync(join(quickDirectory(), "tollgate-redis-"));
  const listens = ["--bind", "127.0.0.1", "--port", String(port), "--dir", directory];
  const shell = spawn("sh", ["-c", WITH_PARENT, "sh", ...listens, "--save", "", "--appendonly", "no"], {
    stdio: ["pipe", "pipe", "ignore"],
    env: { PATH: process.env["PATH"] ?? "", DIRECTORY: directory },
  });
  return new Promise((resolve) => {
    shell.once("exit", () => resolve(false));
    createInterface({ input: shell.stdout })
      .on("line", (line) => {
        if (line.includes("Ready to accept connections")) resolve(true);
        if (line.includes("Failed listening")) shell.stdin.end();
      })
      .on("close", () => resolve(false));
    shell.unref();
  });
}
