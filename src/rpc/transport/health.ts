/**
 * The standard health service: which services take calls, told once or at every change. The package for it loads a
 * second protobuf runtime and a parser of .proto files, 6 MB for one message of one field.
 */
import { type Server, type ServerWritableStream, status } from "@grpc/grpc-js";
import {
  type HealthCheckRequest,
  type HealthCheckResponse,
  HealthCheckResponse_ServingStatus as ServingStatus,
  type HealthServer,
  HealthService,
} from "../../../gen/grpc/health/v1/health.js";

type Watch = ServerWritableStream<HealthCheckRequest, HealthCheckResponse>;

/** Watches that may be open at once, over all connections: each is a stream that never ends by itself. */
const WATCHES_MAX = 1_000;

/** How services stand. The protocol is public, so that no key is asked for. */
export class Health {
  readonly #names: readonly string[];
  readonly #watches = new Set<Watch>();
  #status = ServingStatus.SERVING;

  /** All services stand alike; the empty name, which is the server as a whole, is always among them. */
  constructor(names: readonly string[]) {
    this.#names = ["", ...names];
  }

  addTo(server: Server): void {
    const handlers: HealthServer = {
      check: ({ request }, done) => {
        if (this.#knows(request.service)) done(null, { status: this.#status });
        else done({ code: status.NOT_FOUND, details: "there is no such service" });
      },
      watch: (call) => this.#watch(call),
      list: (_call, done) => {
        done(null, { statuses: Object.fromEntries(this.#names.map((name) => [name, { status: this.#status }])) });
      },
    };
    server.addService(HealthService, handlers);
  }

  /** Says so to everyone who watches. */
  stop(): void {
    this.#status = ServingStatus.NOT_SERVING;
    for (const watch of this.#watches) if (this.#knows(watch.request.service)) this.#tell(watch);
  }

  #knows(name: string): boolean {
    return this.#names.includes(name);
  }

  #watch(call: Watch): void {
    if (this.#watches.size >= WATCHES_MAX) {
      call.emit("error", { code: status.RESOURCE_EXHAUSTED, details: "too many watch already" });
      return;
    }
    this.#watches.add(call);
    call.on("cancelled", () => this.#watches.delete(call));
    call.on("close", () => this.#watches.delete(call));
    this.#tell(call);
  }

  #tell(watch: Watch): void {
    watch.write({ status: this.#knows(watch.request.service) ? this.#status : ServingStatus.SERVICE_UNKNOWN });
  }
}
