/** Node's own server under the framework, with TLS or without, and with its deadlines. */
import { type IncomingMessage, type RequestListener, Server, type ServerOptions } from "node:http";
import { Server as HttpsServer } from "node:https";
import { Server as NetServer } from "node:net";
import type { SecureContextOptions } from "node:tls";
import { REQUEST_TOTAL_MS_MAX } from "../base/timeout.js";

export { HttpsServer };

/** How long nothing may pass over a connection that was handed on. */
const SILENT_MS_MAX = REQUEST_TOTAL_MS_MAX;
// Longer than the 60 s that load balancers keep a connection, so that they, not we, end it.
const KEEP_ALIVE_MS = 75_000;

/**
 * Node's `close` also destroys connections at rest, and with them a request that is on its way. Here the first call
 * closes the port alone, as a server of `node:net` does; another one is Node's own.
 */
class PlainServer extends Server {
  override close(callback?: (error?: Error) => void): this {
    return this.listening ? closePort(this, callback) : super.close(callback);
  }
}

class SecureServer extends HttpsServer {
  override close(callback?: (error?: Error) => void): this {
    return this.listening ? closePort(this, callback) : super.close(callback);
  }
}

function closePort<Closed extends Server>(server: Closed, callback: ((error?: Error) => void) | undefined): Closed {
  NetServer.prototype.close.call(server, callback);
  return server;
}

/** True of a request that could become a WebSocket; any other that asks for an upgrade is answered as if it had not. */
export function mayBeWebSocket({ method, headers }: IncomingMessage): boolean {
  const hasBody = headers["transfer-encoding"] !== undefined || (headers["content-length"] ?? "0") !== "0";
  return method === "GET" && headers.upgrade?.toLowerCase() === "websocket" && !hasBody;
}

/**
 * A server that never listens: it takes connections whose request asked for another protocol and is answered as if it
 * had not. Such a connection is cut where nothing passes for as long as a request may take.
 */
export function createInnerServer(handler: RequestListener, slowMs: number): Server {
  const server = createNodeServer(handler, undefined, slowMs, () => false);
  server.timeout = SILENT_MS_MAX;
  return server;
}

/**
 * A TLS handshake must be over within `slowMs`. How long requests may take to come `Connections` decides: Node's own
 * bounds end one whose bytes lie unread because this process was held up.
 */
export function createNodeServer(
  handler: RequestListener,
  tls: SecureContextOptions | undefined,
  slowMs: number,
  shouldUpgrade: (request: IncomingMessage) => boolean = mayBeWebSocket,
): Server {
  // Older versions of Node do not ask, and tell every upgrade; newer ones would read the body of such a request apart.
  const options: ServerOptions & { readonly shouldUpgradeCallback: (request: IncomingMessage) => boolean } = {
    shouldUpgradeCallback: shouldUpgrade,
    headersTimeout: 0,
    requestTimeout: 0,
    keepAliveTimeout: KEEP_ALIVE_MS,
    maxHeaderSize: 16_384,
    insecureHTTPParser: false,
    noDelay: true,
    // Refused in the envelope.
    requireHostHeader: false,
  };
  if (tls === undefined) return new PlainServer(options, handler);
  const server = new SecureServer({ ...options, ...tls, minVersion: "TLSv1.2", handshakeTimeout: slowMs }, handler);
  // Node tells a handshake that failed, or did not end in time; nobody can be answered over its connection.
  return server.on("tlsClientError", (_error, socket) => socket.destroy());
}
