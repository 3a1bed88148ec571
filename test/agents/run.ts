/** One run of an agent: a process of its own with an empty home, ended when it takes too long. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Agent, AgentPlace } from "./agent.js";

const RUN_MS_MAX = 90_000;

export interface AgentRun {
  readonly code: number | null;
  /** What it printed, both ways. */
  readonly printed: string;
}

export async function runAgent(agent: Agent, place: Omit<AgentPlace, "home">, prompt: string): Promise<AgentRun> {
  const home = mkdtempSync(join(tmpdir(), "tollgate-agent-"));
  const work = join(home, "work");
  mkdirSync(work);
  const { command, env, files = {} } = agent.commandFor({ ...place, home }, prompt);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), text);
  }
  const [file = "", ...args] = command;
  const child = spawn(file, args, {
    cwd: work,
    // Nothing of the tester's own settings and keys.
    env: { PATH: process.env["PATH"] ?? "", HOME: home, TMPDIR: work, TERM: "dumb", NO_COLOR: "1", ...env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  const printed: Buffer[] = [];
  child.stdout.on("data", (bytes: Buffer) => printed.push(bytes));
  child.stderr.on("data", (bytes: Buffer) => printed.push(bytes));
  // A group of its own, so that what it started ends with it.
  const end = (): void => {
    if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
  };
  const timer = setTimeout(end, RUN_MS_MAX);
  await once(child, "close");
  clearTimeout(timer);
  endLeft(home);
  rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  return { code: child.exitCode, printed: Buffer.concat(printed).toString() };
}

/** Ends the daemons that an agent left, which are in a group of their own: by its home, which nothing else has. */
function endLeft(home: string): void {
  if (!existsSync("/proc/self/environ")) return;
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name)))
    try {
      if (readFileSync(`/proc/${pid}/environ`, "utf8").includes(`HOME=${home}\0`)) process.kill(Number(pid), "SIGKILL");
    } catch {
      // It has ended meanwhile, or is somebody else's.
    }
}
