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

interface Ports {
  readonly http: number;
  readonly grpc: number;
}

export interface Balancer {
  readonly url: string;
  /** Such as 127.0.0.1:40124. */
  readonly grpc: string;
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
  const ports = { http: await freePort(), grpc: await freePort() };
  const path = join(directory, "nginx.conf");
  writeFileSync(path, configurationFor(nodes, ports, directory));
  const child: ChildProcess = spawn("nginx", ["-c", path, "-g", "daemon off;"], { stdio: "ignore" });
  const url = `http://127.0.0.1:${ports.http}`;
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
    grpc: `127.0.0.1:${ports.grpc}`,
    errors: () => readFileSync(join(directory, "error.log"), "utf8"),
    close: async () => {
      child.kill();
      await once(child, "exit");
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function configurationFor(nodes: readonly GatewayNode[], ports: Ports, directory: string): string {
  let text = readFileSync(EXAMPLE, "utf8");
  const replace = (from: string | RegExp, to: string): void => {
    if (text.split(from).length !== 2) throw new Error(`${EXAMPLE.pathname} has not one ${from}`);
    text = text.replace(from, () => to);
  };
  const servers = (port: number, addresses: readonly string[]): void => {
    const [lines = "", name = ""] =
      new RegExp(`^ *server (node-1:${port}).*\n.*node-2:${port}.*$`, "m").exec(text) ?? [];
    const [line = ""] = lines.split("\n");
    replace(lines, addresses.map((address) => line.replace(name, address)).join("\n"));
  };
  const hostOf = ({ url }: GatewayNode): string => new URL(url).host;
  servers(8080, nodes.map(hostOf));
  // A node that serves no gRPC has none to balance.
  servers(
    8081,
    nodes.map((node) => node.grpc || hostOf(node)),
  );
  replace("error_log stderr", `error_log ${directory}/error.log`);
  replace("listen 8080;", `listen 127.0.0.1:${ports.http};`);
  replace("listen 8081 http2;", `listen 127.0.0.1:${ports.grpc} http2;`);
  return text.replaceAll("/tmp/nginx", `${directory}/nginx`);
}
