/** The tunnels of a front end: one at first, more under load, each on its own connection, opened again when lost. */
import { type Client, status } from "@grpc/grpc-js";
import { TUNNEL_CALLS_MAX } from "./tunnel-frame.js";
import { ClientTunnel } from "./tunnel-client.js";

/** With so many calls on each another tunnel is opened. Few full tunnels gather more frames in a message than many. */
const CALLS_BUSY = 1_000;
/** How long a call waits for the first tunnel to open before it goes without. */
const OPENING_MS_MAX = 1_000;
const BACKOFF_MS_MIN = 100;
const BACKOFF_MS_MAX = 5_000;
/** A core that does not know our token may be started again with another one. */
const REFUSED_MS = 30_000;

export interface TunnelsOptions {
  /** Makes a client with a connection of its own. */
  readonly connect: () => Client;
  readonly frontToken: string;
  /** The most tunnels. */
  readonly tunnelsMax: number;
  /** From 0 to 1. */
  readonly random: () => number;
}

export class Tunnels {
  readonly #places: readonly TunnelPlace[];
  #waiting: (() => void)[] = [];
  #closed = false;

  constructor(options: TunnelsOptions) {
    const onChange = (): void => this.#wake();
    this.#places = Array.from({ length: options.tunnelsMax }, () => new TunnelPlace(options, onChange));
    this.#places[0]?.open();
  }

  /** The tunnel for the next call; undefined where there is none, so that the call goes by itself. */
  pick(): ClientTunnel | undefined {
    let best: ClientTunnel | undefined;
    for (const { tunnel } of this.#places) {
      if (tunnel === undefined) continue;
      if (!isBusy(tunnel)) return tunnel;
      if (best === undefined || tunnel.running < best.running) best = tunnel;
    }
    if (best !== undefined) this.#places.find((place) => place.idle)?.open();
    return best !== undefined && best.running < TUNNEL_CALLS_MAX ? best : undefined;
  }

  /** True while none is open but one may soon be: a call should wait for `settled`. */
  get opening(): boolean {
    return !this.#closed && this.#places.some((place) => place.opening);
  }

  /** Resolves when a tunnel opened or failed to, or after a second. */
  settled(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, OPENING_MS_MAX);
      this.#waiting.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  close(): void {
    this.#closed = true;
    for (const place of this.#places) place.close();
    this.#wake();
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }
}

function isBusy(tunnel: ClientTunnel): boolean {
  return tunnel.running >= CALLS_BUSY || tunnel.blocked;
}

/** Where one tunnel is, was or will be. */
class TunnelPlace {
  readonly #options: TunnelsOptions;
  readonly #onChange: () => void;
  #state: "idle" | "opening" | "open" | "waiting" | "closed" = "idle";
  #client: Client | undefined;
  #tunnel: ClientTunnel | undefined;
  #failureCount = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: TunnelsOptions, onChange: () => void) {
    this.#options = options;
    this.#onChange = onChange;
  }

  get tunnel(): ClientTunnel | undefined {
    return this.#state === "open" ? this.#tunnel : undefined;
  }

  get idle(): boolean {
    return this.#state === "idle";
  }

  get opening(): boolean {
    return this.#state === "opening";
  }

  open(): void {
    if (this.#state === "closed") return;
    this.#state = "opening";
    this.#client ??= this.#options.connect();
    const tunnel: ClientTunnel = new ClientTunnel({
      client: this.#client,
      frontToken: this.#options.frontToken,
      onOpen: () => this.#opened(tunnel),
      onLost: (code) => this.#lost(tunnel, code),
    });
    this.#tunnel = tunnel;
  }

  close(): void {
    this.#state = "closed";
    clearTimeout(this.#timer);
    this.#tunnel?.close();
    this.#client?.close();
  }

  #opened(tunnel: ClientTunnel): void {
    if (this.#state !== "opening" || tunnel !== this.#tunnel) return;
    this.#state = "open";
    this.#failureCount = 0;
    this.#onChange();
  }

  #lost(tunnel: ClientTunnel, code: status): void {
    if (this.#state === "closed" || tunnel !== this.#tunnel) return;
    this.#state = "waiting";
    this.#tunnel = undefined;
    const isRefused = code === status.PERMISSION_DENIED || code === status.UNIMPLEMENTED;
    const waitMs = isRefused ? REFUSED_MS : Math.min(BACKOFF_MS_MIN * 2 ** this.#failureCount, BACKOFF_MS_MAX);
    this.#failureCount += 1;
    // Many front ends that lost one core do not come back in step.
    this.#timer = setTimeout(() => this.open(), waitMs * (0.5 + this.#options.random() / 2));
    this.#timer.unref();
    this.#onChange();
  }
}
