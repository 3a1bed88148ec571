/** The command that finds tests which fail now and then, over toy tests in a directory of their own. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { compileDisturbance } from "./disturbance.mjs";

const COMMAND = resolve("test/flaky/main.mjs");
const QUICK = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();
const built = mkdtempSync(join(tmpdir(), "tollgate-flaky-library-"));
const disturbance = compileDisturbance(built);
afterAll(() => rmSync(built, { recursive: true }));

const TOYS = {
  sound: `test("holds", () => {});
    test.skip("is left out", () => {});`,

  second: `test("fails every second run", () => {
      const isSecond = existsSync("seen");
      if (isSecond) rmSync("seen");
      else writeFileSync("seen", "");
      expect(isSecond, "it ran before").toBe(false);
    });`,

  order: `let made = false;
    test("makes", () => void (made = true));
    test("finds", () => expect(made, "it was made").toBe(true));`,

  time: `test("syncs within an instant", () => {
      const file = openSync("synced", "w");
      const startedMs = performance.now();
      for (let count = 0; count < 40; count++) fsyncSync(file);
      expect(performance.now() - startedMs, "as fast as memory").toBeLessThan(100);
    });`,

  hook: `describe("a part", () => {
      afterAll(() => { throw new Error("not put back"); });
      test("passes", () => {});
    });`,

  outside: `test("passes", async () => {
      void Promise.reject(new Error("nothing awaits this"));
      await new Promise((resolve) => setTimeout(resolve, 50));
    });`,

  leaves: `test("leaves a process and a directory", () => {
      const sleeps = ["-e", "setTimeout(() => {}, 600_000)"];
      const left = spawn(process.execPath, sleeps, { detached: true, stdio: "ignore" });
      left.unref();
      const directory = "${QUICK}/tollgate-postgres-" + process.ppid;
      mkdirSync(directory);
      writeFileSync("left", JSON.stringify([left.pid, directory]));
    });`,

  hangs: `test("hangs", async () => {
      writeFileSync("hanging", JSON.stringify([process.pid, process.ppid]));
      await new Promise(() => {});
    });`,

  one: `test.each([1, 2, 3, 4])("%i", (id) => appendFileSync("ran", \`one \${id}\\n\`));`,
  two: `test.each([1, 2, 3, 4])("%i", (id) => appendFileSync("ran", \`two \${id}\\n\`));`,
  three: `test.each([1, 2, 3, 4])("%i", (id) => appendFileSync("ran", \`three \${id}\\n\`));`,
};

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "tollgate-toys-"));
  mkdirSync(join(directory, "node_modules"));
  symlinkSync(resolve("node_modules/vitest"), join(directory, "node_modules", "vitest"));
  writeFileSync(
    join(directory, "vitest.config.mjs"),
    'export default { test: { include: ["*.toy.mjs"], pool: "forks", maxWorkers: 1, testTimeout: 600_000 } };',
  );
  for (const [name, text] of Object.entries(TOYS))
    writeFileSync(
      join(directory, `${name}.toy.mjs`),
      `import { spawn } from "node:child_process";
       import { appendFileSync, existsSync, fsyncSync, mkdirSync, openSync, rmSync, writeFileSync } from "node:fs";
       import { afterAll, describe, expect, test } from "vitest";
       ${text}`,
    );
  return () => rmSync(directory, { recursive: true });
});

function start(args: readonly string[], env: NodeJS.ProcessEnv = {}): ChildProcess {
  const { PATH, HOME, TMPDIR } = process.env;
  return spawn(process.execPath, [COMMAND, ...args], {
    cwd: directory,
    env: { PATH, HOME, TMPDIR, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

async function run(args: readonly string[], env?: NodeJS.ProcessEnv): Promise<{ code: unknown; said: string }> {
  const child = start(args, env);
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (bytes: Buffer) => (said += bytes.toString()));
  const [code]: unknown[] = await once(child, "close");
  return { code, said };
}

/** What the file says that a toy wrote. */
function written(name: string): unknown[] {
  const path = join(directory, name);
  const text = existsSync(path) ? readFileSync(path, "utf8") : "";
  return text === "" ? [] : (JSON.parse(text) as unknown[]);
}

function runs(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test("what fails once, in a test or outside of one, is named with how often, the seeds and why", async () => {
  const toys = ["sound", "second", "order", "hook", "outside", ...("missing" in disturbance ? [] : ["time"])];
  const { code, said } = await run(["--runs", "2", "--hogs", "1", "--seed", "2", ...toys]);
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
  const { code, said } = await run(["--runs", "1", "--hogs", "0", "sound"], { CC: "/nowhere/cc" });
  expect(said).toContain("No test failed in 1 run.");
  expect(said).toContain("NOT RUN: 1 of the tests");
  expect(said).toMatch(/^NOT RUN: slow syncs and a clock that drifts: they take /m);
  expect(code).toBe(0);
});

test("a run of no test is a failure", async () => {
  const { code, said } = await run(["--runs", "1", "--hogs", "0", "nowhere"]);
  expect(said).toMatch(/no test ran/);
  expect(code).toBe(1);
});

test("files and tests run in an order that the seed alone gives", async () => {
  const orderOf = async (seed: string): Promise<string[]> => {
    rmSync(join(directory, "ran"), { force: true });
    await run(["--runs", "1", "--hogs", "0", "--seed", seed, "one", "two", "three"]);
    return readFileSync(join(directory, "ran"), "utf8").trim().split("\n");
  };
  const first = await orderOf("11");
  const other = await orderOf("12");
  expect(await orderOf("11")).toEqual(first);
  expect(first.toSorted()).toEqual(other.toSorted());
  expect(first).toHaveLength(12);
  const filesOf = (order: readonly string[]): string[] => [...new Set(order.map((line) => line.split(" ")[0] ?? ""))];
  expect(filesOf(other)).not.toEqual(filesOf(first));
  const testsOf = (order: readonly string[]): string[] => order.filter((line) => line.startsWith("one"));
  expect(testsOf(other)).not.toEqual(testsOf(first));
});

test("what a run leaves behind is a failure, and its processes are ended", async ({ skip }) => {
  skip(process.platform !== "linux", "processes are looked for on Linux");
  const { code, said } = await run(["--runs", "1", "--hogs", "0", "--wait", "1", "leaves"]);
  const [pid, left] = written("left");
  rmSync(String(left), { recursive: true });
  expect(said).toMatch(/^1 of 1 {6}left behind: process .*setTimeout/m);
  expect(said).toContain(`${String(left)} outlives the run`);
  await expect.poll(() => runs(Number(pid))).toBe(false);
  expect(code).toBe(1);
});

test.each([{ how: "SIGKILL" }, { how: "SIGTERM" }] as const)(
  "nothing outlives the command, ended by $how",
  async ({ how }) => {
    const command = start(["--runs", "1", "--hogs", "2", "hangs"]);
    onTestFinished(() => void command.kill("SIGKILL"));
    let said = "";
    command.stdout?.on("data", (bytes: Buffer) => (said += bytes.toString()));
    await expect.poll(() => written("hanging")).toHaveLength(2);
    const [, first, second] = /spin the processes (\d+), (\d+)/.exec(said) ?? [];
    const all = [...written("hanging"), first, second].map(Number);
    expect(all.filter(runs)).toEqual(all);
    command.kill(how);
    await expect.poll(() => all.filter(runs)).toEqual([]);
  },
);

test("arguments that are wrong are refused", async () => {
  const { code, said } = await run(["--runs", "none"]);
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
