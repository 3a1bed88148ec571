/** A real nginx in front of a gateway, as an operator sets it up. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

/** Streams go through it as they come, and it tells the gateway whose they are. Its files are in the directory. */
export async function startNginx(directory: string, port: number, upstream: string): Promise<ChildProcess> {
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
  writeFileSync(
    join(directory, "nginx.conf"),
    `daemon off; pid ${directory}/pid; error_log ${directory}/error.log; worker_processes 1;
events { worker_connections 512; }
http {
  access_log off;
  ${temporary.map((name) => `${name}_temp_path ${directory}/${name};`).join(" ")}
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass ${upstream};
      proxy_http_version 1.1;
      proxy_buffering off;
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
    }
  }
}
`,
  );
  const child = spawn("nginx", ["-p", directory, "-c", join(directory, "nginx.conf")], { stdio: "ignore" });
  await once(child, "spawn");
  return child;
}
