/** What the types of the tests see of process-stats.mjs. */
export function readUsed(pids: readonly number[]): { readonly cpuMs: number; readonly rssPeakBytes: number };
