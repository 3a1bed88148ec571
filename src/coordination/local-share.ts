/** A node's own share of all limits, while the nodes do not reach each other: what they share by the number of them. */
import type { AdmissionRequest, AdmissionResult, Admitted, Demand } from "./coordination.js";
import { createInProcessCoordination, type InProcessCoordination } from "./in-process.js";

export class LocalShare {
  readonly #coordination: InProcessCoordination;

  constructor(monotonicMs: () => number) {
    this.#coordination = createInProcessCoordination({ nowMs: monotonicMs });
  }

  /** A share is at least one request, token or slot: a limit that is lower than the number of nodes still lets pass. */
  decide(act: "admit" | "peek", request: AdmissionRequest, nodeCount: number): AdmissionResult {
    const share = (demand: Demand): Demand => shareOf(demand, nodeCount);
    const result = this.#coordination[act]({
      ...request,
      first: request.first?.map(share),
      demands: request.demands.map(share),
    });
    if (result instanceof Promise) throw new Error("a process answers itself at once");
    return { ...result, degraded: true };
  }

  correct(accountId: string, subject: string, admitted: Admitted, reserved: number, used: number): void {
    this.#coordination.correct(accountId, subject, admitted, reserved, used);
  }

  release(accountId: string, subject: string, requestId: string): void {
    if (this.#coordination.subjectCount > 0) this.#coordination.release(accountId, subject, requestId);
  }

  close(): Promise<void> {
    return this.#coordination.close();
  }
}

function shareOf({ subject, limits, tokens }: Demand, nodeCount: number): Demand {
  const share = (limit: number): number => (limit === 0 ? 0 : Math.max(1, Math.floor(limit / nodeCount)));
  const tokensPerMinute = share(limits.tokensPerMinute);
  return {
    subject,
    limits: {
      requestsPerMinute: share(limits.requestsPerMinute),
      tokensPerMinute,
      concurrency: share(limits.concurrency),
    },
    // As with the whole limit: a bound above it passes once the window is empty.
    tokens: tokensPerMinute === 0 ? tokens : Math.min(tokens, tokensPerMinute),
  };
}
