/** Load that goes on while something breaks: callers at every node, and what became of their calls, by the moment. */
import { setTimeout as pause } from "node:timers/promises";
import type { Cluster } from "./cluster.js";

/** One call, as its caller saw it. */
export interface Outcome {
  readonly user: string;
  readonly node: number;
  readonly startMs: number;
  readonly endMs: number;
  readonly status: number;
  readonly code: string;
  /** True where its limits were kept without Redis. */
  readonly isDegraded: boolean;
}

export interface LoadOptions {
  readonly key: string;
  readonly callersPerNode: number;
  /** Between the calls of one caller. */
  readonly pauseMs: number;
  readonly model?: string;
  /** Which nodes are asked now. */
  readonly isAsked?: (node: number) => boolean;
}

export class Load {
  readonly outcomes: Outcome[] = [];
  readonly #running: Promise<void>[];
  #isOver = false;

  constructor(
    private readonly cluster: Cluster,
    private readonly options: LoadOptions,
    name: string,
  ) {
    const { callersPerNode } = options;
    this.#running = cluster.nodes.flatMap((_, node) =>
      Array.from({ length: callersPerNode }, (__, caller) => this.#run(node, `${name}-${node}-${caller}`)),
    );
  }

  /** The calls that were answered between two moments. */
  between(fromMs: number, toMs: number): readonly Outcome[] {
    return this.outcomes.filter(({ startMs, endMs }) => startMs >= fromMs && endMs <= toMs);
  }

  /** When the first call was served that began after a moment, at each of some nodes; Infinity where none was. */
  servedAgainMs(afterMs: number, nodes: readonly number[]): number {
    const first = nodes.map((node) =>
      Math.min(
        ...this.outcomes
          .filter((one) => one.node === node && one.status === 200 && one.startMs >= afterMs)
          .map(({ endMs }) => endMs),
      ),
    );
    return Math.max(...first);
  }

  async stop(): Promise<readonly Outcome[]> {
    this.#isOver = true;
    await Promise.all(this.#running);
    return this.outcomes;
  }

  async #run(node: number, caller: string): Promise<void> {
    const { key, pauseMs, model, isAsked = () => true } = this.options;
    for (let turn = 0; !this.#isOver; turn += 1) {
      if (isAsked(node)) {
        const user = `${caller}-${turn}`;
        const startMs = performance.now();
        const { url } = this.cluster.node(node);
        const asked = model === undefined ? {} : { model };
        const { status, code, isDegraded } = await this.cluster.callers.chat(url, key, user, asked);
        this.outcomes.push({ user, node, startMs, endMs: performance.now(), status, code, isDegraded });
      }
      await pause(pauseMs);
    }
  }
}

/** How many calls ended in which way, such as `200: 70, 503 ledger_unavailable: 3`. */
export function tallyOf(outcomes: readonly Pick<Outcome, "status" | "code">[]): string {
  const counts = new Map<string, number>();
  for (const { status, code } of outcomes) {
    const name = `${status} ${code}`.trim();
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts].map(([name, count]) => `${name}: ${count}`).join(", ") || "none";
}

export function percentile(numbers: readonly number[], share: number): number {
  const sorted = numbers.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}
