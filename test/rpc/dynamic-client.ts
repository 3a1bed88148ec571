/** A server to call and a client that knows methods by their descriptors alone. */
import { type Client, Metadata, type ServiceError } from "@grpc/grpc-js";
import type { PackageDefinition } from "@grpc/proto-loader";
import type { OpenConnections } from "../../src/base/event-loop/listening-port.js";
import { createGrpcServer, type GrpcServerOptions } from "../../src/rpc/transport/server.js";
import { type Admin, listenAdmin } from "../../src/serve/admin.js";
import type { OpenCore } from "./open-core.js";

/** Our services, as health and reflection name them. */
const NAMES =
  "Inference Model Key Account Usage Identity Payment Settings Price Upstream Node Alert Event Webhook Audit";
export const SERVICES = NAMES.split(" ").map((name) => `tollgate.v1.${name}Service`);
export interface Running {
  readonly address: string;
  readonly drain: (timeoutMs: number) => Promise<void>;
  readonly port: number;
  readonly closePort: () => Promise<OpenConnections>;
}

export async function serve(of: OpenCore, options: Partial<GrpcServerOptions> = {}): Promise<Running> {
  const server = createGrpcServer({ dispatcher: of.dispatcher, ...options });
  const { port } = await server.listen("127.0.0.1:0");
  return {
    address: `127.0.0.1:${port}`,
    drain: (timeoutMs) => server.drain(timeoutMs),
    port,
    closePort: () => server.closePort(),
  };
}

/** The operator's own address, where health and reflection are. */
export async function serveAdmin(): Promise<{ readonly address: string; readonly admin: Admin }> {
  const parts = { ready: () => true, isDraining: () => false, metricsText: () => Promise.resolve("tollgate_up 1\n") };
  const admin = await listenAdmin({ host: "127.0.0.1", port: 0 }, parts);
  return { address: `127.0.0.1:${admin.port}`, admin };
}

/** One call of any method, as a dynamic client makes it. */
export function call(
  client: Client,
  path: string,
  definition: PackageDefinition,
  request: object,
  key?: string,
): Promise<unknown> {
  const [, service = "", name = ""] = path.split("/");
  const method = Object.entries(definition[service] ?? {}).find(([one]) => one === name)?.[1];
  const metadata = new Metadata();
  if (key !== undefined) metadata.set("authorization", `Bearer ${key}`);
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(
      path,
      method.requestSerialize,
      method.responseDeserialize,
      request,
      metadata,
      {},
      (error: ServiceError | null, answer: unknown) => (error === null ? resolve(answer) : reject(error)),
    );
  });
}
