/** No gateway outlives what started it: a test however it ends, and the process whose id `npm start` gave. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { programOf } from "../../support/program.js";

const ENDS_WITH_PARENT = new URL("../../support/ends-with-parent.mjs", import.meta.url).href;

/** The environment of a gateway that disturbs no other one. */
function ownEnvironment(): NodeJS.ProcessEnv {
  const { PATH, HOME } = process.env;
  const doors = { TOLLGATE_HTTP: "127.0.0.1:0", TOLLGATE_GRPC: "off", TOLLGATE_ADMIN: "127.0.0.1:0" };
  const data = mkdtempSync(join(tmpdir(), "tollgate-orphan-"));
  return { PATH, HOME, ...doors, TOLLGATE_DATA: data, TOLLGATE_LAME_DUCK_MS: "0" };
}

/** The process id that a gateway says in its line of being ready, and all that was said so far. */
async function gatewayOf(starter: ChildProcess): Promise<{ pid: number; said: () => string }> {
  let said = "";
  starter.stdout?.on("data", (bytes: Buffer) => (said += bytes.toString()));
  const readyLine = (): string => said.split("\n").find((line) => line.includes('"msg":"ready"')) ?? "";
  await expect.poll(readyLine).not.toBe("");
  const { pid }: { pid: number } = JSON.parse(readyLine());
  return { pid, said: () => said };
}

function runs(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe("a gateway ends with the test that started it", () => {
  const start = `require("node:child_process").spawn(process.execPath, process.argv.slice(1), {
    stdio: ["pipe", "inherit", "inherit"],
  })`;
  const program = ["--import", ENDS_WITH_PARENT, programOf(""), "serve"];

  test.each([{ how: "SIGKILL" }, { how: "SIGTERM" }] as const)("ended by $how", async ({ how }) => {
    const starter = spawn(process.execPath, ["-e", start, "--", ...program], {
      stdio: ["ignore", "pipe", "ignore"],
      env: ownEnvironment(),
    });
    const { pid } = await gatewayOf(starter);
    starter.kill(how);
    await expect.poll(() => runs(pid)).toBe(false);
  });
});

describe("the process that npm start is stops the gateway in an orderly way", () => {
  test.each([{ signal: "SIGTERM" }, { signal: "SIGINT" }] as const)("by $signal", async ({ signal }) => {
    // What is compiled and installed is there: only the command itself is looked at.
    const npm = spawn("npm", ["start", "--ignore-scripts"], {
      stdio: ["ignore", "pipe", "ignore"],
      env: ownEnvironment(),
    });
    const { pid, said } = await gatewayOf(npm);
    try {
      const ended = once(npm, "close");
      npm.kill(signal);
      expect(await ended).toEqual([0, null]);
      expect(said()).toContain('"msg":"stopped"');
      expect(runs(pid)).toBe(false);
    } finally {
      if (runs(pid)) process.kill(pid, "SIGKILL");
    }
  });
});
