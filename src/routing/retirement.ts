/** Upstreams that the settings name no more, or with another credential: what runs there ends first. */
import type { ServedUpstream } from "./model.js";

const LOOK_MS = 1_000;
// A request that began there may pause before it tries there again, and a count of tokens may still run.
const IDLE_MS = 10_000;

/** Takes in upstreams that get no new requests, and closes each once nothing ran there for a while. */
export class Retirement {
  /** By upstream, for how long nothing runs there, and how long it may go on at most. */
  readonly #retired = new Map<ServedUpstream, { idleMs: number; leftMs: number }>();
  #timer: NodeJS.Timeout | undefined;

  /** `boundMs` is the longest that a request may run. */
  constructor(private readonly boundMs: number) {}

  add(served: ServedUpstream): void {
    this.#retired.set(served, { idleMs: 0, leftMs: this.boundMs });
    this.#timer ??= setInterval(() => this.#look(), LOOK_MS).unref();
  }

  /** Closes all of them now, whatever runs. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    const retired = [...this.#retired.keys()];
    this.#retired.clear();
    await Promise.all(retired.map(({ upstream }) => upstream.close()));
  }

  #look(): void {
    for (const [served, state] of this.#retired) {
      state.idleMs = served.health.running > 0 ? 0 : state.idleMs + LOOK_MS;
      state.leftMs -= LOOK_MS;
      if (state.idleMs < IDLE_MS && state.leftMs > 0) continue;
      this.#retired.delete(served);
      void served.upstream.close();
    }
    if (this.#retired.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
