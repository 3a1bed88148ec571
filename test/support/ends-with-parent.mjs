/**
 * Loaded into a process that a test starts: it ends when whoever started it is gone, however that ended. Its standard
 * input is a pipe of which only the starter has the other end.
 */
import cluster from "node:cluster";
import { isMainThread } from "node:worker_threads";

// Workers of a cluster end with the process that forked them.
if (isMainThread && cluster.isPrimary) {
  const gone = () => process.kill(process.pid, "SIGKILL");
  process.stdin.on("end", gone).on("error", gone).resume();
  // Waiting for that keeps nothing alive.
  process.stdin.unref?.();
}
