/** What `parts.mjs` holds, for TypeScript. */
import type { Part } from "./runner.mjs";

export const PARTS: readonly Part[];
