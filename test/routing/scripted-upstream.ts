/** An upstream inside the process that says what a script says, when it says it. */
import type { Exchange, Upstream, UpstreamHandler } from "../../src/upstream/upstream.js";

/** What happens at a time after the request; a number of milliseconds. */
export type Step =
  | { readonly atMs: number; readonly head: string; readonly status?: number; readonly coding?: string }
  | { readonly atMs: number; readonly data: string }
  | { readonly atMs: number; readonly end: true };

/** Follows one script for each request; those beyond the last follow the last. */
export class ScriptedUpstream implements Upstream {
  requests = 0;
  /** When an exchange was aborted, on the monotonic clock. */
  readonly abortsMs: number[] = [];

  constructor(private readonly scripts: readonly (readonly Step[])[]) {}

  send(_request: unknown, handler: UpstreamHandler): Exchange {
    const script = this.scripts[Math.min(this.requests, this.scripts.length - 1)] ?? [];
    this.requests += 1;
    const timers = script.map((step) => setTimeout(() => follow(step, handler), step.atMs));
    return {
      pause: () => undefined,
      resume: () => undefined,
      abort: () => {
        for (const timer of timers) clearTimeout(timer);
        this.abortsMs.push(performance.now());
      },
    };
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

function follow(step: Step, handler: UpstreamHandler): void {
  if ("head" in step) handler.onHead(step.status ?? 200, headersOf(step));
  else if ("data" in step) handler.onData(Buffer.from(step.data));
  else handler.onEnd();
}

function headersOf({ head, coding }: Extract<Step, { readonly head: string }>): Record<string, string> {
  return { "content-type": head, ...(coding === undefined ? {} : { "content-encoding": coding }) };
}
