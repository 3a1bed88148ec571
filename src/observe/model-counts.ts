/** What is counted of each model. */
import type { AffinityState } from "../api/affinity.js";
import type { CacheMarker } from "../api/cache-marks.js";

/** What is counted of one model. */
export class ModelCounts {
  readonly ends = new Map<string, number>();
  readonly sources = new Map<string, number>();
  readonly tokens = new Map<string, number>();
  readonly units = new Map<string, number>();
  /** Input tokens of requests of sessions, by what became of their affinity. */
  readonly affinityTokens: { [state in AffinityState]?: { cacheRead: number; other: number } } = {};
  /** What caches of prompts saved, by who marked the prompt; below 0 where they cost more. */
  readonly cacheSavedNanos: { [marker in CacheMarker]?: number } = {};
  costNanos = 0;
}

/** Adds to one count of a model. */
export function count(counts: Map<string, number>, name: string, amount = 1): void {
  counts.set(name, (counts.get(name) ?? 0) + amount);
}
