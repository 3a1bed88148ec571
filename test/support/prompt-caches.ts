/** Salts from a root that is no secret. */
import { PromptCaches } from "../../src/routing/prompt-caches.js";

export const promptCaches = new PromptCaches(Buffer.alloc(32, 7));
