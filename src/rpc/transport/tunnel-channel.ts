/** The channel of our own front ends: calls share tunnels, and each goes by itself while there is none. */
import type { Admission, CallMetadata, CallOptions, Channel, Entry, Method, Reply, Sink } from "../../api/channel.js";
import { Admissions } from "./admissions.js";
import { refusedAtOnce } from "../call/lifetime.js";
import type { Tunnels } from "./tunnels.js";

type Way = Pick<Channel, "unary" | "stream">;

export class TunnelChannel implements Channel {
  readonly #admissions = new Admissions(this);
  readonly #tunnels: Tunnels;
  readonly #alone: Channel;

  /** `alone` takes the calls while no tunnel is open, and where the core never lets us open one. */
  constructor(tunnels: Tunnels, alone: Channel) {
    this.#tunnels = tunnels;
    this.#alone = alone;
  }

  admit(entry: Entry, metadata: CallMetadata): Admission | Promise<Admission> {
    return this.#admissions.admit(entry, metadata);
  }

  queueOf(metadata: CallMetadata): string {
    return this.#admissions.queueOf(metadata);
  }

  unary<Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    options: CallOptions,
  ): Promise<Reply<Response>> {
    const early = refusedAtOnce(options);
    if (early !== undefined) return Promise.reject(early);
    const way = this.#way();
    if (way !== undefined) return way.unary(method, request, options);
    return this.#wayOnceSettled(options).then((later) => later.unary(method, request, options));
  }

  stream<Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    options: CallOptions,
    sink: Sink<Response>,
  ): Promise<void> {
    const early = refusedAtOnce(options);
    if (early !== undefined) return Promise.reject(early);
    const way = this.#way();
    if (way !== undefined) return way.stream(method, request, options, sink);
    return this.#wayOnceSettled(options).then((later) => later.stream(method, request, options, sink));
  }

  async close(): Promise<void> {
    this.#tunnels.close();
    await this.#alone.close();
  }

  /** Undefined where a tunnel is being opened that is worth waiting for. */
  #way(): Way | undefined {
    return this.#tunnels.pick() ?? (this.#tunnels.opening ? undefined : this.#alone);
  }

  async #wayOnceSettled(options: CallOptions): Promise<Way> {
    await this.#tunnels.settled();
    const early = refusedAtOnce(options);
    if (early !== undefined) throw early;
    return this.#tunnels.pick() ?? this.#alone;
  }
}
