/** The command `tollgate` as a person runs it: a process of its own, from the built program. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { PATIENCE_MS } from "./patience.js";
import { programOf } from "./program.js";

export const THIS_BUILD = new URL("../../", import.meta.url).pathname;

export interface CommandResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `tollgate` with arguments and waits for its end. Only the given variables and PATH are set. */
export async function tollgate(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  directory?: string,
  timeoutMs = PATIENCE_MS,
  build = THIS_BUILD,
): Promise<CommandResult> {
  const program = programOf(build);
  const child = spawn(process.execPath, [program, ...args], {
    cwd: directory,
    env: environmentOf(env),
    stdio: ["ignore", "pipe", "pipe"],
    timeout: timeoutMs,
  });
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout.on("data", (bytes: Buffer) => stdout.push(bytes));
  child.stderr.on("data", (bytes: Buffer) => stderr.push(bytes));
  await once(child, "close");
  return { code: child.exitCode, stdout: Buffer.concat(stdout).toString(), stderr: Buffer.concat(stderr).toString() };
}

/** The given variables beside those of every command. */
export function environmentOf(env: Readonly<Record<string, string>>): Record<string, string> {
  // Tests run side by side, and the address of each process must be its own.
  return { PATH: process.env["PATH"] ?? "", TOLLGATE_ADMIN: "127.0.0.1:0", ...env };
}
