/** What the server of an upstream reported last, and what follows from it for routing. */
import type { ServerReport } from "../families/family.js";
import type { ServedModel, ServedUpstream } from "./model.js";

/** A report about running requests says nothing any more after so long. */
const LOAD_MS = 30_000;

export class ServerState {
  constructor(
    readonly report: ServerReport,
    /** When it was read, by the routes' clock, in milliseconds. */
    readonly readMs: number,
    /** The time of day of the same, for people. */
    readonly readTime: Date,
    /** How many requests of this process ran there then. */
    private readonly ownRunning: number,
  ) {}

  /** How many requests of others it works at, or has in its queue. */
  othersAt(nowMs: number): number {
    const { running, waiting = 0 } = this.report;
    if (running === undefined || nowMs - this.readMs > LOAD_MS) return 0;
    return Math.max(0, running + waiting - this.ownRunning);
  }

  /** True if a new request would wait in its queue. `ownRunning`: how many requests of this process run there now. */
  isBusyAt(nowMs: number, ownRunning: number): boolean {
    const { slots, waiting = 0 } = this.report;
    if (nowMs - this.readMs > LOAD_MS) return false;
    return waiting > 0 || (slots !== undefined && this.othersAt(nowMs) + ownRunning >= slots);
  }

  /** The context of a model there; undefined where the server does not report it. */
  contextOf(model: string): number | undefined {
    const { contexts, contextTokens } = this.report;
    // Ollama adds the tag to a name without one.
    return contexts?.get(model) ?? contexts?.get(`${model}:latest`) ?? contextTokens;
  }

  /** True if the settings of models do not change by the difference. */
  hasSameFacts({ report }: ServerState): boolean {
    return factsText(this.report) === factsText(report);
  }
}

function factsText({ contextTokens, contexts, images, tools }: ServerReport): string {
  return JSON.stringify([contextTokens, [...(contexts ?? [])], images, tools]);
}

/** The models whose settings promise a longer context than their server has, each as a sentence. */
export function contextWarnings(served: ServedUpstream, models: Iterable<ServedModel>): readonly string[] {
  const state = served.health.server;
  if (state === undefined) return [];
  const warnings: string[] = [];
  for (const { id, targets } of models)
    for (const target of targets) {
      if (target.served !== served) continue;
      const tokens = state.contextOf(target.model);
      const declared = target.declaredContextTokens ?? 0;
      if (tokens !== undefined && declared > tokens)
        warnings.push(`The settings give ${id} a context of ${declared} tokens; the server has ${tokens}.`);
    }
  return warnings;
}
