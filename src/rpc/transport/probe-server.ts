/** Health and reflection, which ask for no key: a gRPC server of their own, over connections that others accepted. */
import type { Duplex } from "node:stream";
import { Server, ServerCredentials } from "@grpc/grpc-js";
import { descriptorSetBytes } from "../../api/descriptors.js";
import { Health } from "./health.js";
import { addReflection } from "./reflection.js";
import { SERVICE_NAMES } from "./server.js";

export interface AdminServer {
  /** Serves a connection that speaks HTTP/2. */
  accept(connection: Duplex): void;
  /** Says NOT_SERVING from now on. */
  notServing(): void;
  close(): void;
}

/** A question is a name. */
const MESSAGE_BYTES_MAX = 64 * 1024;
const IDLE_MS = 600_000;
const HEALTH_SERVICE = "grpc.health.v1.Health";

export function createAdminServer(): AdminServer {
  const server = new Server({
    "grpc.max_receive_message_length": MESSAGE_BYTES_MAX,
    "grpc.max_concurrent_streams": 100,
    "grpc.max_connection_idle_ms": IDLE_MS,
    "grpc.keepalive_time_ms": 60_000,
    "grpc.keepalive_timeout_ms": 20_000,
  });
  const health = new Health(SERVICE_NAMES);
  health.addTo(server);
  addReflection(server, descriptorSetBytes, [...SERVICE_NAMES, HEALTH_SERVICE]);
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
  return {
    accept: (connection) => injector.injectConnection(connection),
    notServing: () => health.stop(),
    close: () => server.forceShutdown(),
  };
}
