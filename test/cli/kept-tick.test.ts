/** What V8 learned of the objects of `process.nextTick` outlives a collection of everything. */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import { startGateway } from "../support/gateway-process.js";

const PRELOAD = new URL("../support/collect-ticks.mjs", import.meta.url).href;
/** As V8 says that it drops the optimised code of a function with what it forgot. */
const DROPS_TICKS = /marking dependent code .*nextTick/;

test("a gateway keeps it, and a bare Node does not", async () => {
  const gateway = await startGateway({ env: { NODE_OPTIONS: `--import ${PRELOAD}` } });
  process.kill(gateway.pid, "SIGUSR2");
  await gateway.logged("collected");
  expect(gateway.log.filter((line) => DROPS_TICKS.test(line))).toEqual([]);
  await gateway.stop();

  const bare = spawn(process.execPath, [
    "--import",
    PRELOAD,
    "-e",
    "setInterval(() => undefined, 1_000); console.log('')",
  ]);
  const told: string[] = [];
  for await (const line of createInterface({ input: bare.stdout })) {
    told.push(line);
    if (line === "") bare.kill("SIGUSR2");
    if (line.includes("collected")) break;
  }
  bare.kill();
  expect(told.filter((line) => DROPS_TICKS.test(line))).toHaveLength(1);
});
