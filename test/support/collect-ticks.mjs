/**
 * Loaded before a program in a test: at each SIGUSR2 it makes so many ticks that V8 optimises what makes them, lets
 * them pass, collects everything, and says so. V8 tells between the two what it forgot.
 */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { isMainThread } from "node:worker_threads";
import { setImmediate, setTimeout } from "node:timers/promises";

const TURNS = 4_000;
const TICKS_EACH = 100;
const REST_MS = 50;
/** Code that ran just now outlives the first. */
const COLLECTIONS = 3;

if (isMainThread) {
  setFlagsFromString("--expose-gc");
  /** @type {() => void} */
  const collect = runInNewContext("gc");
  process.on("SIGUSR2", async () => {
    const rest = () => undefined;
    for (let turn = 0; turn < TURNS; turn++) {
      for (let tick = 0; tick < TICKS_EACH; tick++) process.nextTick(rest);
      await setImmediate();
    }
    setFlagsFromString("--trace-deopt");
    for (let time = 0; time < COLLECTIONS; time++) {
      await setTimeout(REST_MS);
      collect();
    }
    setFlagsFromString("--no-trace-deopt");
    process.stdout.write('{"msg":"collected"}\n');
  });
}
