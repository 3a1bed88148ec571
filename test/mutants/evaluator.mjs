/** A process that runs tests against one mutant after another, and is ended and started anew where it hangs. */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

/**
 * @typedef {import("./evaluate.mjs").FileResult} FileResult
 *
 * @typedef {{ files: FileResult[]; errors: string[]; hung?: string }} Result `hung` is the file that did not end.
 *
 * @typedef {{
 *   copy: string;
 *   workers?: number;
 *   isIsolated?: boolean;
 *   bail?: boolean;
 *   env?: Readonly<Record<string, string>>;
 * }} Settings
 */

const START_MS = 300_000;

/** Ends a process with all that its tests started. @param {number} pid */
function endGroup(pid) {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It ended by itself.
  }
}

/** @param {import("node:child_process").ChildProcess} child */
function hasEnded({ exitCode, signalCode }) {
  return exitCode !== null || signalCode !== null;
}

export class Evaluator {
  /** @type {Settings} */
  #settings;
  /** @type {Promise<import("node:child_process").ChildProcess> | undefined} */
  #child;

  /** @param {Settings} settings */
  constructor(settings) {
    this.#settings = settings;
  }

  /**
   * Runs these files, one after another, against a mutant; 0 is none. `limitMs` is how long each may take.
   *
   * @param {number} mutant
   * @param {readonly string[]} files
   * @param {(file: string) => number} limitMs
   * @returns {Promise<Result>}
   */
  async run(mutant, files, limitMs) {
    this.#child ??= this.#start();
    const child = await this.#child;
    /** @type {string | undefined} */
    let running;
    /** @type {NodeJS.Timeout | undefined} */
    let timer;
    /** @type {Result} */
    const result = await new Promise((resolve) => {
      const giveUp = () => resolve({ files: [], errors: [], hung: running ?? "the start of a test file" });
      const onExit = () => resolve({ files: [], errors: ["the process of the tests ended"] });
      timer = setTimeout(giveUp, START_MS);
      child.once("exit", onExit);
      const onMessage = (/** @type {import("./evaluate.mjs").Message} */ message) => {
        if (message.kind === "running") {
          running = message.file;
          clearTimeout(timer);
          timer = setTimeout(giveUp, limitMs(message.file));
        }
        if (message.kind !== "done") return;
        child.off("message", onMessage).off("exit", onExit);
        resolve(message);
      };
      child.on("message", onMessage);
      child.send({ mutant, files });
    });
    clearTimeout(timer);
    if (result.hung !== undefined || hasEnded(child)) await this.close();
    return result;
  }

  async close() {
    const child = await this.#child?.catch(() => undefined);
    this.#child = undefined;
    if (child?.pid === undefined) return;
    const ended = hasEnded(child) ? undefined : new Promise((resolve) => child.once("exit", resolve));
    endGroup(child.pid);
    await ended;
  }

  /** @returns {Promise<import("node:child_process").ChildProcess>} */
  #start() {
    const { copy, workers = 1, isIsolated = false, bail = true, env = {} } = this.#settings;
    const program = fileURLToPath(new URL("evaluate.mjs", import.meta.url));
    const child = spawn(process.execPath, [program, String(workers), isIsolated ? "yes" : "no", bail ? "1" : "0"], {
      cwd: copy,
      detached: true,
      env: { ...process.env, ...env },
      // What the program's build or a test writes is of no use here, but where nothing can start.
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
    const end = () => child.pid !== undefined && endGroup(child.pid);
    process.once("exit", end);
    child.once("exit", () => process.off("exit", end));
    let said = "";
    child.stderr?.on("data", (part) => {
      said = (said + String(part)).slice(-4000);
    });
    return new Promise((resolve, reject) => {
      const onExit = () => reject(new Error(`the tests of the copy cannot start:\n${said}`));
      child.once("exit", onExit);
      child.once("message", () => {
        child.off("exit", onExit);
        resolve(child);
      });
    });
  }
}
