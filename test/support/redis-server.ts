/** Real Redis servers for tests: each on a free port with a temporary directory, keeping nothing unless asked. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { freePort } from "./free-port.mjs";
import { PATIENCE_MS } from "./patience.js";

const STARTS_MAX = 5;

/** Looked for, and not started: most files of tests ask. */
const isInstalled = (process.env["PATH"] ?? "").split(":").some((place) => existsSync(join(place, "redis-server")));

/** Why tests with Redis cannot run here; undefined where they can. */
export const REDIS_MISSING: string | undefined =
  process.env["TOLLGATE_TEST_REDIS_URL"] !== undefined || isInstalled
    ? undefined
    : "no redis-server: install Debian's package redis-server, or name a running one in TOLLGATE_TEST_REDIS_URL";

/** Why tests that stop and start Redis cannot run here. */
export const OWN_REDIS_MISSING: string | undefined = isInstalled
  ? undefined
  : "no redis-server: install Debian's package redis-server";

export interface RedisServer {
  readonly host: string;
  readonly port: number;
  /** Such as redis://127.0.0.1:40123. */
  readonly url: string;
  /** Ends it as a crash would. */
  kill(): Promise<void>;
  /** Starts it again on its port, after `kill`. */
  restart(): Promise<void>;
  /** Stops it where it stands, as a machine that hangs; `resume` lets it go on. */
  suspend(): void;
  resume(): void;
  close(): Promise<void>;
}

/** The server that `TOLLGATE_TEST_REDIS_URL` names, or one of its own. */
export async function sharedRedis(): Promise<Pick<RedisServer, "url" | "close">> {
  const url = process.env["TOLLGATE_TEST_REDIS_URL"];
  return url === undefined ? startRedis() : { url, close: () => Promise.resolve() };
}

export interface RedisServerOptions {
  /** More arguments of `redis-server`, such as `--requirepass`. */
  readonly args?: readonly string[];
  /** Begins as a sentinel with these lines. */
  readonly sentinel?: string;
  /** Speaks only TLS, with these files. */
  readonly tls?: { readonly cert: string; readonly key: string };
}

export async function startRedis({ args = [], sentinel, tls }: RedisServerOptions = {}): Promise<RedisServer> {
  const directory = mkdtempSync(join(tmpdir(), "tollgate-redis-"));
  let port = 0;
  let child: ChildProcess | undefined;
  const start = async (): Promise<boolean> => {
    const config = join(directory, "redis.conf");
    writeFileSync(config, sentinel ?? "");
    const listens = ["--bind", "127.0.0.1", tls === undefined ? "--port" : "--tls-port", String(port)];
    const keeps = sentinel === undefined ? ["--save", "", "--appendonly", "no"] : ["--sentinel"];
    const secures = tls && ["--port", "0", "--tls-cert-file", tls.cert, "--tls-key-file", tls.key];
    const secured =
      secures === undefined ? [] : [...secures, "--tls-auth-clients", "no", "--tls-ca-cert-file", tls?.cert];
    const all = [config, ...listens, "--dir", directory, ...keeps, ...secured, ...args].map(String);
    child = spawn("redis-server", all, { stdio: ["ignore", "pipe", "ignore"] });
    return isReady(child);
  };
  for (let count = 1; ; count++) {
    // Another process may take the port before Redis does.
    port = await freePort();
    if (await start()) break;
    if (count === STARTS_MAX) throw new Error("redis-server does not start");
  }
  const end = async (): Promise<void> => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
  };
  return {
    host: "127.0.0.1",
    port,
    url: `redis://127.0.0.1:${port}`,
    kill: end,
    restart: async () => {
      if (!(await start())) throw new Error("redis-server does not start again");
    },
    suspend: () => void child?.kill("SIGSTOP"),
    resume: () => void child?.kill("SIGCONT"),
    close: async () => {
      await end();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** False where it ended instead. */
function isReady(child: ChildProcess): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error("redis-server is not ready in time")), PATIENCE_MS);
    const over = (ready: boolean): void => {
      clearTimeout(timer);
      resolve(ready);
    };
    child.once("exit", () => over(false));
    if (child.stdout === null) return over(false);
    createInterface({ input: child.stdout }).on("line", (line) => {
      if (line.includes("Ready to accept connections") || line.includes("Sentinel ID is")) over(true);
    });
  });
}
