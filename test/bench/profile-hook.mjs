/** Loaded before a profiled program: lets its threads be profiled too, and samples what the first one allocates. */
import { renameSync, writeFileSync } from "node:fs";
import { Session } from "node:inspector";
import { syncBuiltinESMExports } from "node:module";
import threads from "node:worker_threads";

const SAMPLE_BYTES = 16 * 1024;
// The file comes in the address of this module: the program's own environment and arguments stay as they are.
const { searchParams } = new URL(import.meta.url);
const path = searchParams.get("out");

if (threads.isMainThread) {
  threads.Worker = class extends threads.Worker {
    /**
     * @param {string | URL} entry
     * @param {import("node:worker_threads").WorkerOptions} options
     */
    constructor(entry, options) {
      // The program gives its threads none of its flags, and the profiler's is one of them.
      super(entry, { ...options, execArgv: process.execArgv });
    }
  };
  syncBuiltinESMExports();
}

// From one SIGUSR2 to the next.
if (threads.isMainThread && path !== null) {
  const session = new Session();
  session.connect();
  let running = false;
  process.on("SIGUSR2", () => {
    if (!running) {
      running = true;
      session.post("HeapProfiler.startSampling", {
        samplingInterval: SAMPLE_BYTES,
        // Without the first only what is still in use at the end would be told.
        includeObjectsCollectedByMajorGC: true,
        includeObjectsCollectedByMinorGC: !searchParams.has("outlived"),
      });
      return;
    }
    running = false;
    session.post("HeapProfiler.stopSampling", (error, result) => {
      writeFileSync(`${path}.part`, JSON.stringify(error === null ? result.profile : { error: error.message }));
      renameSync(`${path}.part`, path);
    });
  });
}
