/** The real gateway as a process of its own, started from the built program with settings of a test. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { misfitsIn, statusesIn } from "./answer-check.js";
import { PATIENCE_MS } from "./patience.js";
import { programOf } from "./program.js";
import { backendOf } from "./test-store.js";

/** A key for a test's operator; it is no secret, since each test has its own gateway. */
export const OPERATOR_KEY = "sk-operator-of-this-test-0123456789";
/** For the last words of a process that is gone. */
const OUTPUT_MS = 5_000;
const TAP = new URL("./answer-tap.mjs", import.meta.url).href;
/** A test that fails or is ended while a gateway runs leaves none. */
const ENDS_WITH_PARENT = new URL("./ends-with-parent.mjs", import.meta.url).href;

export interface GatewayProcess {
  /** Such as http://127.0.0.1:40123. */
  readonly url: string;
  /** Such as 127.0.0.1:40124; empty for a front end. */
  readonly grpc: string;
  /** Where metrics, health and reflection are, such as 127.0.0.1:40125. */
  readonly admin: string;
  readonly dataDirectory: string;
  readonly pid: number;
  /** Every log line so far. */
  readonly log: readonly string[];
  /** Every line of its standard error so far: what it tells a person. */
  readonly told: readonly string[];
  /** The first log line that holds these words. It may come after the answer that it tells of, and is waited for. */
  logged(...words: readonly string[]): Promise<string>;
  /** Every answer so far, such as `POST /v1/messages 200`. */
  statuses(): string[];
  /** Ends it as an operator would, and returns its exit code. Throws where an answer did not fit the clients' SDKs. */
  stop(): Promise<number | null>;
  /** The code that it ends with by itself, once it has. */
  ended(): Promise<number | null>;
  /** Its answers need not fit: the test's upstreams say what none does, and it comes through. */
  expectOddAnswers(): void;
  /** Ends it as a crash would. */
  kill(): Promise<void>;
  writeSettings(yaml: string): void;
}

export interface StartOptions {
  /** The settings file; none where undefined. */
  readonly settings?: string;
  /** Kept from an earlier start, to start again on the same data. */
  readonly dataDirectory?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  /** The build that runs, a directory with `dist` in it. Default: this one. */
  readonly build?: string;
  /** How many files and connections it may have open at once. Default: as many as this process. */
  readonly openFilesMax?: number;
}

export async function startGateway(options: StartOptions = {}): Promise<GatewayProcess> {
  const dataDirectory = options.dataDirectory ?? mkdtempSync(join(tmpdir(), "tollgate-"));
  const settingsPath = join(dataDirectory, "tollgate.yaml");
  if (options.settings !== undefined) writeFileSync(settingsPath, options.settings);
  const backend = await backendOf(dataDirectory, options.env ?? {});
  const answers = join(mkdtempSync(join(tmpdir(), "tollgate-answers-")), "answers.jsonl");
  const loaded = ["--import", ENDS_WITH_PARENT, "--import", TAP];
  const program = [...loaded, programOf(options.build ?? ""), "serve", ...(options.args ?? [])];
  const { openFilesMax } = options;
  const bounds = openFilesMax === undefined ? [] : ["prlimit", `--nofile=${openFilesMax}:${openFilesMax}`];
  const [command = "", ...args] = [...bounds, process.execPath, ...program];
  const child = spawn(command, args, {
    stdio: ["pipe", "pipe", "pipe"],
    env: {
      PATH: process.env["PATH"] ?? "",
      TOLLGATE_HTTP: "127.0.0.1:0",
      TOLLGATE_GRPC: "127.0.0.1:0",
      TOLLGATE_ADMIN: "127.0.0.1:0",
      TOLLGATE_LAME_DUCK_MS: "0",
      // A machine that tests share is as slow as an overload: what is refused then is the business of its own tests.
      TOLLGATE_LOAD_SHEDDING: "off",
      ANSWERS_KEPT_IN: answers,
      TOLLGATE_DATA: dataDirectory,
      TOLLGATE_OPERATOR_KEY: OPERATOR_KEY,
      ...(options.settings === undefined ? {} : { TOLLGATE_CONFIG: settingsPath }),
      ...backend,
      ...workersOf(options.env ?? {}),
      ...options.env,
    },
  });
  let isOdd = false;
  const log: string[] = [];
  const told: string[] = [];
  const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const ready = await readReady(child, log, told);
  return {
    url: `${options.env?.["TOLLGATE_TLS_CERT"] === undefined ? "http" : "https"}://${ready.http}`,
    grpc: ready.grpc ?? "",
    admin: ready.admin ?? "",
    dataDirectory,
    pid: child.pid ?? 0,
    log,
    told,
    logged: (...words) => lineOf(log, words),
    statuses: () => statusesIn(answers),
    expectOddAnswers: () => {
      isOdd = true;
    },
    stop: async () => {
      const code = await end(child, "SIGTERM", closed);
      if (!isOdd) checkAnswers(answers);
      return code;
    },
    ended: async () => {
      await closed;
      return child.exitCode;
    },
    kill: async () => {
      await end(child, "SIGKILL", closed);
      if (!isOdd) checkAnswers(answers);
    },
    writeSettings: (yaml) => writeFileSync(settingsPath, yaml),
  };
}

async function lineOf(log: readonly string[], words: readonly string[]): Promise<string> {
  const deadlineMs = performance.now() + PATIENCE_MS;
  for (;;) {
    const line = log.find((told) => words.every((word) => told.includes(word)));
    if (line !== undefined) return line;
    if (performance.now() > deadlineMs) throw new Error(`no log line holds ${words.join(" and ")}`);
    await sleep(20);
  }
}

/** With `TOLLGATE_TEST_WORKERS` each gateway serves by so many processes; a front end has no state that they share. */
function workersOf(env: Readonly<Record<string, string>>): Record<string, string> {
  const count = process.env["TOLLGATE_TEST_WORKERS"];
  return count === undefined || "TOLLGATE_CORE" in env ? {} : { TOLLGATE_WORKERS: count };
}

interface Ready {
  readonly msg: string;
  readonly http: string;
  readonly grpc?: string;
  readonly admin?: string;
}

async function readReady(child: ChildProcess, log: string[], errors: string[]): Promise<Ready> {
  if (child.stdout === null || child.stderr === null) throw new Error("the gateway's output is not read");
  createInterface({ input: child.stderr }).on("line", (line) => errors.push(line));
  const timer = setTimeout(() => child.kill("SIGKILL"), PATIENCE_MS);
  const ready = await new Promise<Ready>((resolve, reject) => {
    createInterface({ input: child.stdout! }).on("line", (line) => {
      log.push(line);
      const entry: unknown = line.startsWith("{") ? JSON.parse(line) : undefined;
      if (isReady(entry)) resolve(entry);
    });
    // Its last words come behind its exit.
    const words = (): string => [...log, ...errors].join("\n");
    child.once("close", () => reject(new Error(`the gateway did not start: ${words()}`)));
  });
  clearTimeout(timer);
  return ready;
}

function isReady(entry: unknown): entry is Ready {
  return typeof entry === "object" && entry !== null && "msg" in entry && entry.msg === "ready";
}

/** Resolves once it is gone and what it said was read; processes that it started may hold its output longer. */
async function end(child: ChildProcess, signal: NodeJS.Signals, closed: Promise<void>): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) {
    const exited = once(child, "exit");
    child.kill(signal);
    await exited;
  }
  await Promise.race([closed, sleep(OUTPUT_MS, undefined, { ref: false })]);
  return child.exitCode;
}

/** Every answer of a gateway is one that the official SDKs declare. */
function checkAnswers(file: string): void {
  const misfits = misfitsIn(file);
  rmSync(dirname(file), { recursive: true, force: true });
  if (misfits.length === 0) return;
  throw new Error(
    `answers that do not fit the SDKs (what may be more: test/support/beyond-sdks.ts):\n${misfits.join("\n")}`,
  );
}
