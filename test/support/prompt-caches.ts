/** What keeps accounts apart in upstreams, from roots that are no secret. */
import { SessionAffinity } from "../../src/routing/affinity.js";
import { PromptCaches } from "../../src/routing/prompt-caches.js";

export const promptCaches = new PromptCaches(Buffer.alloc(32, 7));
export const affinity = new SessionAffinity(Buffer.alloc(32, 8));
