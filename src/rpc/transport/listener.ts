/** The gRPC port: it accepts connections, bounds them, and ends those that show no key. */
import { lookup } from "node:dns/promises";
import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from "node:net";
import { createServer as createTlsServer, type SecureContextOptions, Server as TlsServer } from "node:tls";
import type { ConnectionInjector } from "@grpc/grpc-js";
import { AddressCounts } from "../../base/address-counts.js";
import { listeningClock } from "../../base/event-loop/listening-clock.js";
import { ListeningPort } from "../../base/event-loop/listening-port.js";

export interface ListenerOptions {
  /** Absent: no TLS. With `ca` each client shows a certificate that one of these authorities signed. */
  readonly tls?: SecureContextOptions | undefined;
  /** How long a connection may show no good key. 15 s. */
  readonly unauthenticatedMs?: number | undefined;
  /** Connections that have shown none; of more the oldest goes. 1,024. */
  readonly unauthenticatedMax?: number | undefined;
  /** Connections in all, 16,384, and from one address, 4,096. */
  readonly connectionsMax?: number | undefined;
  readonly connectionsPerAddressMax?: number | undefined;
  /** Addresses from which any number may come. */
  readonly isProxy?: ((address: string) => boolean) | undefined;
  /** Monotonic milliseconds. Default: the clock by which clients are waited for. */
  readonly nowMs?: (() => number) | undefined;
}

export const UNAUTHENTICATED_MS = 15_000;
const UNAUTHENTICATED_MAX = 1_024;
const CONNECTIONS_MAX = 16_384;
const CONNECTIONS_PER_ADDRESS_MAX = 4_096;

/** One connection, and what is on its way over it. */
export class GrpcConnection {
  /** Calls whose handlers run. */
  running = 0;
  /** Calls whose message is not whole yet. */
  #receiving = 0;
  #settledBytes = 0;

  constructor(
    readonly socket: Socket,
    readonly openedMs: number,
  ) {}

  get receiving(): number {
    return this.#receiving;
  }

  /** What has come of messages that are not whole, at most: framing is among it. */
  get partialBytes(): number {
    return this.#receiving === 0 ? 0 : Math.max(0, this.socket.bytesRead - this.#settledBytes);
  }

  begin(): void {
    if (this.#receiving === 0) this.#settledBytes = this.socket.bytesRead;
    this.#receiving += 1;
  }

  /** A message of so many bytes is whole, or will never be. */
  end(bytes: number): void {
    this.#receiving -= 1;
    this.#settledBytes += bytes;
  }
}

export class Listener {
  readonly #injector: ConnectionInjector;
  readonly #options: ListenerOptions;
  readonly #nowMs: () => number;
  readonly #counts: AddressCounts;
  readonly #byPeer = new Map<string, GrpcConnection>();
  /** Connections that have shown no good key, the oldest first. */
  readonly #strangers = new Set<GrpcConnection>();
  readonly #servers: Server[] = [];
  readonly #ports: ListeningPort[] = [];
  #sweep: NodeJS.Timeout | undefined;

  constructor(injector: ConnectionInjector, options: ListenerOptions) {
    this.#injector = injector;
    this.#options = options;
    this.#nowMs = options.nowMs ?? listeningClock.nowMs;
    this.#counts = new AddressCounts(options.connectionsPerAddressMax ?? CONNECTIONS_PER_ADDRESS_MAX, options.isProxy);
  }

  /** Listens at every address of the name; port 0 picks a free one. Rejects where the address is taken. */
  async listen(address: string): Promise<{ readonly port: number }> {
    const colon = address.lastIndexOf(":");
    const host = address.slice(0, colon).replace(/^\[(.*)\]$/, "$1");
    let port = Number(address.slice(colon + 1));
    for (const one of await lookup(host, { all: true })) port = await this.#listenAt(one.address, port);
    const unauthenticatedMs = this.#options.unauthenticatedMs ?? UNAUTHENTICATED_MS;
    this.#sweep = listeningClock.every(Math.min(1_000, unauthenticatedMs), () => this.#endStrangers(unauthenticatedMs));
    return { port };
  }

  /** The connection from this address and port. */
  connectionOf(peer: string): GrpcConnection | undefined {
    return this.#byPeer.get(peer);
  }

  /** The connection showed a good key. */
  trust(connection: GrpcConnection): void {
    this.#strangers.delete(connection);
  }

  setCertificate(tls: SecureContextOptions): void {
    for (const server of this.#servers) if (server instanceof TlsServer) server.setSecureContext(tls);
  }

  get size(): number {
    return this.#byPeer.size;
  }

  /** Connections over which a part of a message has come. */
  get receiving(): number {
    let count = 0;
    for (const { receiving } of this.#byPeer.values()) if (receiving > 0) count += 1;
    return count;
  }

  /** Accepts connections, and serves them once the port is closed; says how many those are. */
  hold(): () => number {
    for (const port of this.#ports) port.hold();
    return () => this.#ports.reduce((sum, { held }) => sum + held, 0);
  }

  /** Accepts what waits, and no more after that. */
  async close(): Promise<void> {
    clearInterval(this.#sweep);
    await Promise.all(this.#ports.map((port) => port.close()));
  }

  #listenAt(host: string, port: number): Promise<number> {
    const server = this.#createServer();
    server.maxConnections = this.#options.connectionsMax ?? CONNECTIONS_MAX;
    this.#servers.push(server);
    this.#ports.push(new ListeningPort(server));
    return new Promise((resolve, reject) => {
      server.once("error", reject);
      server.listen({ host, port }, () => {
        server.removeListener("error", reject);
        const bound = server.address() as AddressInfo;
        resolve(bound.port);
      });
    });
  }

  #createServer(): Server {
    const { tls, unauthenticatedMs = UNAUTHENTICATED_MS } = this.#options;
    if (tls === undefined) {
      return createTcpServer({ noDelay: true }, (socket) => {
        if (this.#counts.enter(socket)) this.#accept(socket);
        else socket.destroy();
      });
    }
    const withClients = { requestCert: tls.ca !== undefined, rejectUnauthorized: true };
    const options = { ...tls, ...withClients, ALPNProtocols: ["h2"], handshakeTimeout: unauthenticatedMs } as const;
    const server = createTlsServer({ minVersion: "TLSv1.2", ...options }, (socket) => this.#accept(socket));
    // Node tells a handshake that failed, or did not end in time, and leaves its connection open.
    server.on("tlsClientError", (_error, socket) => socket.destroy());
    return server.on("connection", (socket: Socket) => {
      if (!this.#counts.enter(socket)) socket.destroy();
    });
  }

  #accept(socket: Socket): void {
    const peer = `${socket.remoteAddress}:${socket.remotePort}`;
    const connection = new GrpcConnection(socket, this.#nowMs());
    this.#byPeer.set(peer, connection);
    this.#strangers.add(connection);
    socket.on("error", () => socket.destroy());
    socket.once("close", () => {
      this.#strangers.delete(connection);
      if (this.#byPeer.get(peer) === connection) this.#byPeer.delete(peer);
    });
    const [oldest] = this.#strangers;
    if (this.#strangers.size > (this.#options.unauthenticatedMax ?? UNAUTHENTICATED_MAX)) oldest?.socket.destroy();
    this.#injector.injectConnection(socket);
  }

  #endStrangers(unauthenticatedMs: number): void {
    const nowMs = this.#nowMs();
    for (const { socket, openedMs } of this.#strangers) {
      // The oldest stand first.
      if (nowMs - openedMs < unauthenticatedMs) return;
      socket.destroy();
    }
  }
}
