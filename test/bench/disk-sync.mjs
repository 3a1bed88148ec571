/** How long the disk takes to make 4 KB durable: the floor under every hold. */
import { closeSync, fdatasyncSync, openSync, unlinkSync, writeSync } from "node:fs";
import { join } from "node:path";
import { latencyOf } from "./latency.mjs";

/**
 * @param {string} directory
 * @param {number} count
 */
export function measureDiskSync(directory, count) {
  const path = join(directory, "sync.tmp");
  const file = openSync(path, "w");
  const block = Buffer.alloc(4096, 1);
  const taken = [];
  for (let at = 0; at < count; at++) {
    writeSync(file, block);
    const startMs = performance.now();
    fdatasyncSync(file);
    taken.push(performance.now() - startMs);
  }
  closeSync(file);
  unlinkSync(path);
  return latencyOf(taken);
}
