/** Loaded before a gateway in a test: at each SIGUSR2 it collects its garbage and tells what memory is in use. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { isMainThread } from "node:worker_threads";

if (isMainThread) {
  setFlagsFromString("--expose-gc");
  /** @type {() => void} */
  const collect = runInNewContext("gc");
  process.on("SIGUSR2", () => {
    collect();
    const { heapUsed, external } = process.memoryUsage();
    process.stdout.write(`${JSON.stringify({ msg: "memory", bytes: heapUsed + external })}\n`);
  });
}
