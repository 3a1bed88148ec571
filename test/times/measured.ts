/** What a process does while it runs test files: processor time, processes that it starts, timers that tests await. */
import childProcess from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { basename } from "node:path";
import timers from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { ProcessTimes } from "./report.js";

const TESTS = fileURLToPath(new URL("../", import.meta.url));
/** Of the ticks in which Linux tells processor time. */
const TICK_MS = 10;
const now = performance.now.bind(performance);

type Call = (...args: unknown[]) => unknown;

/** What was noted since the process began. */
interface Noted {
  cpuMs: number;
  childCpuMs: number;
  started: Record<string, number>;
  /** Times in which timers were awaited, from and to, which do not overlap; the oldest first. */
  sleeps: [number, number][];
}

/** Begins with a test file. What it returns tells what came since the file before, and forgets it. */
export function measured(): () => Omit<ProcessTimes, "file"> {
  const noted = notedHere();
  return () => {
    const [cpuMs, childCpuMs] = [ownCpuMs(), childrenCpuMs()];
    const times = {
      ownCpuMs: cpuMs - noted.cpuMs,
      childCpuMs: childCpuMs === undefined ? undefined : childCpuMs - noted.childCpuMs,
      sleptMs: noted.sleeps.reduce((sum, [fromMs, toMs]) => sum + toMs - fromMs, 0),
      started: noted.started,
    };
    Object.assign(noted, { cpuMs, childCpuMs: childCpuMs ?? 0, started: {}, sleeps: [] });
    return times;
  };
}

/** One for all files of the process: this module is loaded anew with each. */
function notedHere(): Noted {
  const key = Symbol.for("tollgate test times");
  const before: Noted | undefined = Reflect.get(globalThis, key);
  if (before !== undefined) return before;
  const noted: Noted = { cpuMs: 0, childCpuMs: 0, started: {}, sleeps: [] };
  Reflect.set(globalThis, key, noted);
  noteProcesses(noted);
  noteTimers(noted);
  syncBuiltinESMExports();
  return noted;
}

function ownCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** Of those that are over, and of those that run; undefined where there is no /proc. */
function childrenCpuMs(): number | undefined {
  const self = statOf(String(process.pid));
  if (self === undefined) return undefined;
  const all = readdirSync("/proc").flatMap((pid) => (/^\d+$/.test(pid) ? (statOf(pid) ?? []) : []));
  const below = (pid: number): number =>
    all.reduce((sum, one) => sum + (one.parent === pid ? one.ticks + below(one.pid) : 0), 0);
  return (self.endedTicks + below(process.pid)) * TICK_MS;
}

function statOf(pid: string): { pid: number; parent: number; ticks: number; endedTicks: number } | undefined {
  try {
    // Behind the name, which may hold anything, come the state, the parent, and others.
    const fields = (readFileSync(`/proc/${pid}/stat`, "latin1").split(") ").at(-1) ?? "").split(" ").map(Number);
    const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields.slice(11, 15);
    const endedTicks = endedUser + endedSystem;
    return { pid: Number(pid), parent: fields[1] ?? 0, ticks: user + system + endedTicks, endedTicks };
  } catch {
    return undefined;
  }
}

/** Puts another function in the place of one, with all that hangs on it. */
function replace(holder: object, name: string, make: (given: Call) => Call): void {
  const given: Call = Reflect.get(holder, name);
  Reflect.set(holder, name, Object.defineProperties(make(given), Object.getOwnPropertyDescriptors(given)));
}

function noteProcesses(noted: Noted): void {
  const note = (file: unknown, args: unknown): void => {
    const program = programOf(String(file), Array.isArray(args) ? args.map(String) : []);
    noted.started[program] = (noted.started[program] ?? 0) + 1;
  };
  // All that does not wait for the end of what it starts comes here.
  replace(childProcess.ChildProcess.prototype, "spawn", (given) => {
    return function spawn(this: unknown, options) {
      note(Reflect.get(Object(options), "file"), Reflect.get(Object(options), "args"));
      return given.call(this, options);
    };
  });
  for (const name of ["spawnSync", "execFileSync", "execSync"])
    replace(childProcess, name, (given) => (file, args, ...more) => {
      note(file, args);
      return given(file, args, ...more);
    });
}

export function programOf(file: string, args: readonly string[]): string {
  const name = basename(file);
  if (name === basename(process.execPath)) return args.includes("serve") ? "gateway" : "command";
  if (/^(postgres|initdb|psql|pg_\w+)$/.test(name)) return "postgres";
  return name.startsWith("redis-") ? "redis" : "other";
}

/** Timers that tests set and that run out: those of the program are its own, and cleared ones delay nothing. */
function noteTimers(noted: Noted): void {
  replace(globalThis, "setTimeout", (given) => {
    const set: Call = (callback, ...more) => {
      if (typeof callback !== "function" || !isAskedByTest(set)) return given(callback, ...more);
      const fromMs = now();
      const ended = (...args: unknown[]): unknown => {
        addSleep(noted.sleeps, fromMs, now());
        return Reflect.apply(callback, undefined, args) as unknown;
      };
      return given(ended, ...more);
    };
    return set;
  });
  replace(timers, "setTimeout", (given) => {
    const sleep: Call = (ms, value, options) => {
      const fromMs = now();
      const slept = given(ms, value, options) as Promise<unknown>;
      // One that keeps no process alive is a bound on something else.
      if (Reflect.get(Object(options), "ref") === false || !isAskedByTest(sleep)) return slept;
      void slept.then(
        () => addSleep(noted.sleeps, fromMs, now()),
        () => undefined,
      );
      return slept;
    };
    return sleep;
  });
}

/** True where the caller of this function is code of a test. */
function isAskedByTest(called: Call): boolean {
  const { prepareStackTrace, stackTraceLimit } = Error;
  const asked: { stack?: NodeJS.CallSite[] } = {};
  Error.stackTraceLimit = 1;
  Error.prepareStackTrace = (_error, sites) => sites;
  Error.captureStackTrace(asked, called);
  const file = asked.stack?.[0]?.getFileName() ?? "";
  Object.assign(Error, { prepareStackTrace, stackTraceLimit });
  return file.includes(TESTS);
}

/** Adds a time that ends now, so that what overlaps counts once. */
export function addSleep(sleeps: [number, number][], fromMs: number, toMs: number): void {
  let [from, to] = [fromMs, toMs];
  for (let last = sleeps.at(-1); last !== undefined && last[1] >= from; last = sleeps.at(-1)) {
    [from, to] = [Math.min(from, last[0]), Math.max(to, last[1])];
    sleeps.pop();
  }
  sleeps.push([from, to]);
}
