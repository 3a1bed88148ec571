/** nginx before the nodes, with the file that compose.yaml starts it with: only names, ports and directories differ. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { GatewayNode } from "./node.js";
import { freePort } from "../support/free-port.mjs";

const EXAMPLE = new URL("../../examples/compose/nginx.conf", import.meta.url);
const START_MS = 100_000;

export interface Balancer {
  readonly url: string;
  /** What it said of its nodes. */
  errors(): string;
  close(): Promise<void>;
}

export function balancerMissing(): string | undefined {
  return spawnSync("nginx", ["-v"]).status === 0 ? undefined : "nginx is not installed (Debian: nginx-light)";
}

export async function startBalancer(nodes: readonly GatewayNode[]): Promise<Balancer> {
  const directory = mkdtempSync(join(tmpdir(), "tollgate-balancer-"));
  // Its workers may be another user.
  chmodSync(directory, 0o777);
  const port = await freePort();
  const path = join(directory, "nginx.conf");
  writeFileSync(path, configurationFor(nodes, port, directory));
  const child: ChildProcess = spawn("nginx", ["-c", path, "-g", "daemon off;"], { stdio: "ignore" });
  const url = `http://127.0.0.1:${port}`;
  for (const endMs = performance.now() + START_MS; ; await pause(50)) {
    if (
      await fetch(`${url}/livez`).then(
        ({ ok }) => ok,
        () => false,
      )
    )
      break;
    if (performance.now() > endMs) throw new Error("nginx did not start");
  }
  return {
    url,
    errors: () => readFileSync(join(directory, "error.log"), "utf8"),
    close: async () => {
      child.kill();
      await once(child, "exit");
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function configurationFor(nodes: readonly GatewayNode[], port: number, directory: string): string {
  const example = readFileSync(EXAMPLE, "utf8");
  const [line = ""] = /^ *server node-1:8080.*$/m.exec(example) ?? [];
  const servers = nodes.map(({ url }) => line.replace("node-1:8080", new URL(url).host)).join("\n");
  return example
    .replace(/^ *server node-1:8080.*\n *server node-2:8080.*$/m, servers)
    .replace("error_log stderr", `error_log ${directory}/error.log`)
    .replace("listen 8080;", `listen 127.0.0.1:${port};`)
    .replaceAll("/tmp/nginx", `${directory}/nginx`);
}
