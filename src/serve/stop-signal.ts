/** SIGTERM and SIGINT. */
import cluster from "node:cluster";

/**
 * Resolves when this process is told to stop. A terminal's interrupt reaches every process in it; a worker is told by
 * the one that keeps it.
 */
export function stopSignal(): Promise<void> {
  if (cluster.isWorker) process.on("SIGINT", () => undefined);
  return new Promise((done) => {
    process.once("SIGTERM", () => done());
    if (!cluster.isWorker) process.once("SIGINT", () => done());
  });
}
