/** A queue of requests in a process that has too much to do: what becomes of each the test says. */
import type { QueuedRequest, RequestQueue } from "../../src/base/event-loop/request-queue.js";
import { GatewayError } from "../../src/base/errors.js";

/** What it refuses with. */
export const OVERLOADED = new GatewayError("ERROR_REASON_OVERLOADED", { problem: "too many", retry_after_ms: "3000" });

export class FullQueue implements Pick<RequestQueue, "isFree" | "push" | "enter" | "accepted"> {
  isFree = false;
  readonly waiting: { readonly account: string; readonly request: QueuedRequest }[] = [];

  push(account: string, request: QueuedRequest): void {
    this.waiting.push({ account, request });
  }

  accepted(): void {}

  enter(account: () => string): Promise<void> | undefined {
    if (this.isFree) return undefined;
    return new Promise((resolve, reject) => this.push(account(), { start: resolve, refuse: reject }));
  }
}
