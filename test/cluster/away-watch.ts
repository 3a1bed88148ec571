/** Knows when nodes went by their own share of what Redis holds: then a change may reach them up to 30 s later. */
import { readMetrics } from "../support/metrics-reading.js";
import type { GatewayNode } from "./node.js";

const LOOK_MS = 200;
/** A change that could not be told is told again within half a second of Redis being well, on a busy machine later. */
const AFTER_MS = 3_000;

export class AwayWatch {
  static readonly afterMs = AFTER_MS;
  readonly #timer = setInterval(() => void this.look(), LOOK_MS);
  readonly #troubles = new Map<string, number>();
  #awayUntilMs = -Infinity;

  constructor(private readonly nodes: readonly GatewayNode[]) {}

  /** Whether any node was without Redis at a time after that, or so shortly before that it may still matter. */
  async wasAwayAfter(monotonicMs: number): Promise<boolean> {
    await this.look();
    return this.#awayUntilMs + AFTER_MS >= monotonicMs;
  }

  async look(): Promise<void> {
    await Promise.all(this.nodes.map((node) => this.#lookAt(node)));
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async #lookAt({ name, admin }: GatewayNode): Promise<void> {
    const metrics = await readMetrics({ admin });
    const troubles = metrics.sum("tollgate_redis_troubles_total") ?? 0;
    if ((metrics.value("tollgate_redis_away") ?? 0) > 0 || troubles > (this.#troubles.get(name) ?? 0))
      this.#awayUntilMs = performance.now();
    this.#troubles.set(name, troubles);
  }
}
