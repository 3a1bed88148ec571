/** Real servers and the outbound client in front of them, for its tests. */
import { createServer as createHttpServer, type RequestListener } from "node:http";
import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from "node:net";
import { createHttpUpstream, type HttpUpstreamOptions } from "../../src/upstream/http.js";
import type { Upstream, UpstreamRequest } from "../../src/upstream/upstream.js";
import { startFakeUpstream } from "../support/fake-upstream.js";

const cleanups: (() => Promise<void>)[] = [];
/** After each test: files share their process, so that each says so itself. */
export async function closeOpened(): Promise<void> {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
}

export async function listen(server: Server, scheme = "http"): Promise<string> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanups.push(
    () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  );
  return `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export const serveHttp = (listener: RequestListener): Promise<string> => listen(createHttpServer(listener));
export const serveBytes = (onSocket: (socket: Socket) => void): Promise<string> => listen(createTcpServer(onSocket));

export async function serveFake() {
  const fake = await startFakeUpstream();
  cleanups.push(() => fake.close());
  return fake;
}

export function connect(baseUrl: string, options: Partial<HttpUpstreamOptions> = {}): Upstream {
  const upstream = createHttpUpstream({ baseUrl, ...options });
  cleanups.push(() => upstream.close());
  return upstream;
}

export function post(content: string, stream = false): UpstreamRequest {
  const body = JSON.stringify({ model: "fake-1", stream, messages: [{ role: "user", content }] });
  const headers = { "content-type": "application/json", authorization: "Bearer sk-secret-1234" };
  return { method: "POST", path: "/chat/completions", headers, body: Buffer.from(body) };
}

export const get = (path: string): UpstreamRequest => ({ method: "GET", path, headers: {}, body: undefined });
export const fakeText = (script: object): string => JSON.stringify({ fake: script });
