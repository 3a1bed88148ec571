/** The operator's own address: metrics and probes over HTTP/1, health and reflection over gRPC, on one port. */
import { type AddressInfo, createServer, type Socket } from "node:net";
import type { Address } from "../config/listen-address.js";
import { type AdminParts, createAdminHttp } from "../http/admin.js";
import { createAdminServer } from "../rpc/transport/probe-server.js";

/** How an HTTP/2 connection begins (RFC 9113, 3.4); three bytes tell it from any method that we answer. */
const HTTP2_PREFACE = Buffer.from("PRI");
const CONNECTIONS_MAX = 256;
const FIRST_BYTES_MS = 15_000;

export interface Admin {
  readonly port: number;
  /** gRPC's health says NOT_SERVING from now on. */
  notServing(): void;
  close(): Promise<void>;
}

/** Rejects where the address is taken. */
export async function listenAdmin(address: Address, parts: AdminParts): Promise<Admin> {
  const grpc = createAdminServer();
  const http = createAdminHttp(parts);
  const open = new Set<Socket>();
  const server = createServer({ noDelay: true }, (socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
    socket.on("error", () => socket.destroy());
    route(
      socket,
      () => grpc.accept(socket),
      () => void http.emit("connection", socket),
    );
  });
  server.maxConnections = CONNECTIONS_MAX;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    // Never shared: each worker tells of itself alone.
    server.listen({ host: address.host, port: address.port, exclusive: true }, () => resolve());
  });
  return {
    port: (server.address() as AddressInfo).port,
    notServing: () => grpc.notServing(),
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      grpc.close();
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}

/** Looks at the first bytes and puts them back. */
function route(socket: Socket, toGrpc: () => void, toHttp: () => void): void {
  const timer = setTimeout(() => socket.destroy(), FIRST_BYTES_MS).unref();
  socket.once("close", () => clearTimeout(timer));
  let bytes = Buffer.alloc(0);
  const look = (): void => {
    const more: Buffer | null = socket.read();
    if (more === null) return;
    bytes = Buffer.concat([bytes, more]);
    if (bytes.length < HTTP2_PREFACE.length) return;
    socket.off("readable", look);
    clearTimeout(timer);
    // Put back only once it is known to whom: what is put back is told as readable again.
    socket.unshift(bytes);
    if (bytes.subarray(0, HTTP2_PREFACE.length).equals(HTTP2_PREFACE)) toGrpc();
    else toHttp();
  };
  socket.on("readable", look);
}
