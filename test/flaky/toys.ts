/** Toy tests in a directory of their own, and the command that finds those which fail now and then, over them. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { onTestFinished } from "vitest";

const COMMAND = resolve("test/flaky/main.mjs");
const QUICK = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

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

/** A directory of toys, gone behind the test. */
export function makeToys(): string {
  const directory = mkdtempSync(join(tmpdir(), "tollgate-toys-"));
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
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return directory;
}

/** Starts the command in a directory of toys. */
export function start(directory: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): ChildProcess {
  const { PATH, HOME, TMPDIR } = process.env;
  return spawn(process.execPath, [COMMAND, ...args], {
    cwd: directory,
    env: { PATH, HOME, TMPDIR, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

/** Runs it to its end. */
export async function run(
  directory: string,
  args: readonly string[],
  env?: NodeJS.ProcessEnv,
): Promise<{ code: unknown; said: string }> {
  const child = start(directory, args, env);
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (bytes: Buffer) => (said += bytes.toString()));
  const [code]: unknown[] = await once(child, "close");
  return { code, said };
}

/** What the file says that a toy wrote. */
export function written(directory: string, name: string): unknown[] {
  const path = join(directory, name);
  const text = existsSync(path) ? readFileSync(path, "utf8") : "";
  return text === "" ? [] : (JSON.parse(text) as unknown[]);
}

/** Whether there is such a process. */
export function runs(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
