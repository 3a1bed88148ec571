/** The command that finds tests which fail now and then, over toy tests in a directory of their own. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { compileDisturbance } from "./disturbance.mjs";
import { makeToys, run } from "./toys.js";

const built = mkdtempSync(join(tmpdir(), "tollgate-flaky-library-"));
const disturbance = compileDisturbance(built);
afterAll(() => rmSync(built, { recursive: true }));

let directory = "";
beforeEach(() => {
  directory = makeToys();
});

test("what fails once, in a test or outside of one, is named with how often, the seeds and why", async () => {
  const toys = ["sound", "second", "order", "hook", "outside", ...("missing" in disturbance ? [] : ["time"])];
  const { code, said } = await run(directory, ["--runs", "2", "--hogs", "1", "--seed", "2", ...toys]);
  expect(code).toBe(1);
  expect(said).toMatch(/^run 2 of 2, seed 3: [45] failed, 4 passed, 1 not run, in \d+ s$/m);
  const rows = [
    ["2 of 2", "hook.toy.mjs > a part (hooks)", "seed 2, 3", "not put back"],
    ["2 of 2", "outside.toy.mjs (outside of a test)", "seed 2, 3", "nothing awaits this"],
    ["1 of 2", "second.toy.mjs > fails every second run", "seed 3", "it ran before"],
    ["1 of 2", "order.toy.mjs > finds", "seed 3", "it was made"],
    ...("missing" in disturbance
      ? []
      : [["2 of 2", "time.toy.mjs > syncs within an instant", "seed 2, 3", "as fast as"]]),
  ];
  for (const [count, name, seeds, error] of rows)
    expect(said).toContain(`\n${count}      ${name}\n            ${seeds}\n            ${error}`);
  expect(said).not.toMatch(/of 2 +sound/);
  expect(readdirSync(join(directory, "dist", "flaky"))).toEqual(["2.log", "3.log"]);
});

test("what is sound passes, also without a C compiler, and what did not run is counted", async () => {
  const { code, said } = await run(directory, ["--runs", "1", "--hogs", "0", "sound"], { CC: "/nowhere/cc" });
  expect(said).toContain("No test failed in 1 run.");
  expect(said).toContain("NOT RUN: 1 of the tests");
  expect(said).toMatch(/^NOT RUN: slow syncs and a clock that drifts: they take /m);
  expect(code).toBe(0);
});

test("a run of no test is a failure", async () => {
  const { code, said } = await run(directory, ["--runs", "1", "--hogs", "0", "nowhere"]);
  expect(said).toMatch(/no test ran/);
  expect(code).toBe(1);
});

test("arguments that are wrong are refused", async () => {
  const { code, said } = await run(directory, ["--runs", "none"]);
  expect(said).toMatch(/^--runs none: it must be a number/);
  expect(code).toBe(2);
});

describe("the library", () => {
  beforeEach(({ skip }) => skip("missing" in disturbance, "missing" in disturbance ? disturbance.missing : ""));

  function inLibrary(script: string, options: readonly string[] = []): unknown {
    const compiled = compileDisturbance(directory, options);
    if ("missing" in compiled) throw new Error(compiled.missing);
    const env = { LD_PRELOAD: compiled.library, FLAKY_RUN: "7-test" };
    const { stdout, stderr } = spawnSync(process.execPath, ["-e", script], { env, encoding: "utf8" });
    expect(stderr).toBe("");
    return JSON.parse(stdout);
  }

  test("the time of day goes back now and then, by some milliseconds; the monotonic clock does not", () => {
    const script = `
      let least = Infinity;
      let most = -Infinity;
      const startedMs = performance.now();
      let lastMs = startedMs;
      let isMonotonic = true;
      while (performance.now() - startedMs < 1_000) {
        const beforeMs = performance.now();
        const nowMs = Date.now();
        const afterMs = performance.now();
        if (beforeMs < lastMs || afterMs < beforeMs) isMonotonic = false;
        lastMs = afterMs;
        // Another process may run between the two.
        if (afterMs - beforeMs > 0.5) continue;
        least = Math.min(least, nowMs - performance.timeOrigin - beforeMs);
        most = Math.max(most, nowMs - performance.timeOrigin - beforeMs);
      }
      console.log(JSON.stringify([isMonotonic, most - least]));`;
    const [isMonotonic, rangeMs] = inLibrary(script, ["-DJUMP_EVERY_MS=20"]) as [boolean, number];
    expect(isMonotonic).toBe(true);
    expect(rangeMs).toBeGreaterThan(3);
    // Twice the largest jump, the drift, and the millisecond that Date.now() rounds to.
    expect(rangeMs).toBeLessThan(16);
  });

  test("a process with an environment of its own is in the run as well, and keeps its own variables", () => {
    const script = `
      const { spawnSync } = require("node:child_process");
      const said = spawnSync(process.execPath, ["-p", "JSON.stringify(process.env)"], { env: { OWN: "1" } });
      process.stdout.write(said.stdout);`;
    expect(inLibrary(script)).toEqual({ OWN: "1", FLAKY_RUN: "7-test", LD_PRELOAD: join(directory, "disturb.so") });
  });

  test("threads ask for the time at once", () => {
    const script = `
      const { Worker } = require("node:worker_threads");
      const spin = "const fs = require('node:fs'); let sum = 0;" +
        "for (let n = 0; n < 2e5; n++) sum += Date.now() > 1e12;" +
        "fs.fsyncSync(fs.openSync(process.execPath)); require('node:worker_threads').parentPort.postMessage(sum);";
      const sums = [];
      for (let count = 0; count < 4; count++)
        new Worker(spin, { eval: true }).on("message", (sum) => sums.push(sum));
      process.on("exit", () => console.log(JSON.stringify(sums)));`;
    expect(inLibrary(script)).toEqual([2e5, 2e5, 2e5, 2e5]);
  });
});
