/** Node's own server under the framework, with TLS or without, and with its deadlines. */
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerOptions } from "node:http";
import { createServer as createHttpsServer, Server as HttpsServer } from "node:https";
import type { SecureContextOptions } from "node:tls";

export { HttpsServer };

/** However steadily it comes, a request is over by then. */
const REQUEST_TIMEOUT_MS = 600_000;
// Longer than the 60 s that load balancers keep a connection, so that they, not we, end it.
const KEEP_ALIVE_MS = 75_000;

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
  server.timeout = REQUEST_TIMEOUT_MS;
  return server;
}

/** Headers, and a TLS handshake, must be there within `slowMs`. */
export function createNodeServer(
  handler: RequestListener,
  tls: SecureContextOptions | undefined,
  slowMs: number,
  shouldUpgrade: (request: IncomingMessage) => boolean = mayBeWebSocket,
): Server {
  // Older versions of Node do not ask, and tell every upgrade; newer ones would read the body of such a request apart.
  const options: ServerOptions & { readonly shouldUpgradeCallback: (request: IncomingMessage) => boolean } = {
    shouldUpgradeCallback: shouldUpgrade,
    headersTimeout: slowMs,
    requestTimeout: Math.max(REQUEST_TIMEOUT_MS, slowMs),
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: Math.min(1_000, slowMs),
    maxHeaderSize: 16_384,
    insecureHTTPParser: false,
    noDelay: true,
    // Refused in the envelope.
    requireHostHeader: false,
  };
  if (tls === undefined) return createServer(options, handler);
  const server = createHttpsServer({ ...options, ...tls, minVersion: "TLSv1.2", handshakeTimeout: slowMs }, handler);
  // Node tells a handshake that failed, or did not end in time; nobody can be answered over its connection.
  return server.on("tlsClientError", (_error, socket) => socket.destroy());
}
