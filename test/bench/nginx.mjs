/**
 * nginx as a bare proxy, one process with kept connections to the upstream: what a proxy in C costs on this machine.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { runDirectory, start } from "./child.mjs";

const TRIES_MAX = 500;

/** The version, or undefined where nginx is not installed. */
export function findNginx() {
  for (const program of ["nginx", "/usr/sbin/nginx", "/usr/local/sbin/nginx"]) {
    try {
      return { program, version: execFileSync("sh", ["-c", `${program} -v 2>&1`], { encoding: "utf8" }).trim() };
    } catch {
      // Not there: the next place.
    }
  }
  return undefined;
}

/**
 * @param {string} program
 * @param {number} upstreamPort
 */
export async function startNginx(program, upstreamPort) {
  const directory = join(runDirectory, `nginx-${process.hrtime.bigint()}`);
  mkdirSync(join(directory, "tmp"), { recursive: true });
  const port = await freePort();
  writeFileSync(join(directory, "nginx.conf"), configuration(directory, port, upstreamPort));
  // nginx says nothing when it listens: a shell says it for it, and becomes nginx.
  const line = `echo '{"msg":"ready"}'; exec "$0" -p "$1" -c nginx.conf`;
  const child = await start("nginx", ["sh", "-c", line, program, directory]);
  for (let tries = 0; !(await listens(port)); tries++) {
    if (tries > TRIES_MAX) throw new Error(`nginx does not listen. The end of its log:\n${child.logTail()}`);
    await sleep(10);
  }
  return { ...child, port };
}

/**
 * @param {string} directory
 * @param {number} port
 * @param {number} upstreamPort
 */
function configuration(directory, port, upstreamPort) {
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `  ${name}_temp_path ${directory}/tmp/${name};`,
  );
  return `daemon off;
master_process off;
pid ${directory}/nginx.pid;
error_log ${directory}/error.log;
worker_rlimit_nofile 16384;
events { worker_connections 8192; }
http {
${temporary.join("\n")}
  access_log off;
  client_max_body_size 64m;
  client_body_buffer_size 1m;
  keepalive_requests 1000000000;
  keepalive_timeout 300s;
  upstream mock { server 127.0.0.1:${upstreamPort}; keepalive 2048; keepalive_requests 1000000000; }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location / {
      proxy_pass http://mock;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
    }
  }
}
`;
}

/** @returns {Promise<number>} */
function freePort() {
  return new Promise((done) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => done(address !== null && typeof address === "object" ? address.port : 0));
    });
  });
}

/**
 * @param {number} port
 * @returns {Promise<boolean>}
 */
function listens(port) {
  return new Promise((done) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => done(true) ?? socket.destroy());
    socket.once("error", () => done(false));
  });
}
