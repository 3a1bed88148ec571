/** What the tests of routing share: what keeps accounts apart in upstreams, and limits that no target has. */
import { createInProcessCoordination } from "../../src/coordination/in-process.js";
import { SessionAffinity } from "../../src/routing/affinity.js";
import { PromptCaches } from "../../src/routing/prompt-caches.js";
import { TargetLimiter } from "../../src/routing/target-limiter.js";

const nowMs = (): number => performance.now();

export const promptCaches = new PromptCaches(Buffer.alloc(32, 7));
export const affinity = new SessionAffinity(Buffer.alloc(32, 8));
export const limiter = new TargetLimiter({
  coordination: createInProcessCoordination({ nowMs, heartbeatMs: 0 }),
  spending: { waitMs: () => 0, add: () => undefined },
  nowMs,
});
