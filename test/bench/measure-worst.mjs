/** Measures what worst cases of one tenant do to the streams of another: the gaps between events, and the loop. */
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { request } from "node:http";
import { constants, setPriority } from "node:os";
import { createInterface } from "node:readline";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { chatBody } from "./bodies.mjs";
import { OTHER_MODEL } from "./gateway-under-test.mjs";
import { runDirectory, start } from "./child.mjs";

/** @typedef {{ heldMs: number, wallMs: number }} Hold */

const WATCHED = join(runDirectory, "loop-holds.jsonl");
const PASS_THROUGH = fileURLToPath(new URL("baseline-pass-through.mjs", import.meta.url));
let read = 0;

/** What the watched gateway is started with. */
export function watchOptions() {
  const watch = new URL("loop-watch.mjs", import.meta.url);
  watch.searchParams.set("out", WATCHED);
  return ["--import", watch.href];
}

/**
 * @param {import("./scenarios.mjs").Scenario} scenario
 * @param {readonly import("./subjects.mjs").Subject[]} subjects
 * @param {number} otherMockPort The upstream of the attacker's own.
 * @param {readonly string[]} cases
 * @returns {Promise<Map<string, Record<string, number>[]>>}
 */
export async function measureWorst(scenario, subjects, otherMockPort, cases) {
  /** @type {Map<string, Record<string, number>[]>} */
  const turns = new Map();
  for (const subject of subjects) {
    const gaps = new Streams(scenario, subject);
    await sleep(3_000);
    gaps.take();
    await sleep(10_000);
    const aloneP99Ms = p99(gaps.take());
    // The same bytes past the gateway: what moving them takes of this machine anyway.
    const elsewhere = await start("pass-through", [
      process.execPath,
      PASS_THROUGH,
      `http://127.0.0.1:${otherMockPort}`,
    ]);
    const elsewhereHeldMs = await attack(subject, `http://127.0.0.1:${String(elsewhere.ready["port"])}`, "", cases);
    const elsewhereP99Ms = p99(gaps.take());
    await elsewhere.stop();
    const heldMs = await attack(subject, `http://${subject.host}:${subject.port}`, subject.grpc ?? "", cases);
    const besideP99Ms = p99(gaps.take());
    gaps.stop();
    const gapGrowth = besideP99Ms / elsewhereP99Ms;
    const told = { aloneP99Ms, elsewhereP99Ms, besideP99Ms, elsewhereHeldMs, heldMs };
    process.stdout.write(`${JSON.stringify({ name: "all", ...told })}\n`);
    turns.set(subject.name, [{ ...told, gapGrowth }]);
  }
  return turns;
}

/** The upstream whose answers are the worst, in a process that leaves the processor to what is measured. */
export async function startWorstUpstream() {
  const { pid, ready, stop } = await start("worst-upstream", [process.execPath, here("worst-upstream.mjs")]);
  setPriority(pid, constants.priority.PRIORITY_LOW);
  return { port: Number(ready["port"]), stop };
}

/**
 * The same of every worst answer, or of those that `cases` names.
 * @param {import("./scenarios.mjs").Scenario} scenario
 * @param {readonly import("./subjects.mjs").Subject[]} subjects
 * @param {number} worstPort
 * @param {readonly string[]} cases
 * @returns {Promise<Map<string, Record<string, number>[]>>}
 */
export async function measureWorstAnswers(scenario, subjects, worstPort, cases) {
  /** @type {Map<string, Record<string, number>[]>} */
  const turns = new Map();
  for (const subject of subjects) {
    const gaps = new Streams(scenario, subject);
    await sleep(3_000);
    gaps.take();
    await sleep(10_000);
    const aloneP99Ms = p99(gaps.take());
    const base = `http://${subject.host}:${subject.port}`;
    const upstream = `http://127.0.0.1:${worstPort}`;
    const script = here("worst-answer-attack.mjs");
    // The same answers past the gateway, as above.
    const elsewhere = await start("pass-through", [process.execPath, PASS_THROUGH, upstream]);
    const passed = `http://127.0.0.1:${String(elsewhere.ready["port"])}`;
    const elsewhereHeldMs = await follow([script, passed, upstream, "", ...cases]);
    const elsewhereP99Ms = p99(gaps.take());
    await elsewhere.stop();
    const heldMs = await follow([script, base, upstream, subject.otherKey ?? "", ...cases]);
    const besideP99Ms = p99(gaps.take());
    gaps.stop();
    const gapGrowth = besideP99Ms / elsewhereP99Ms;
    const told = { aloneP99Ms, elsewhereP99Ms, besideP99Ms, elsewhereHeldMs, heldMs, gapGrowth };
    process.stdout.write(`${JSON.stringify({ name: "all", ...told })}\n`);
    turns.set(subject.name, [told]);
  }
  return turns;
}

/** @param {string} name */
function here(name) {
  return fileURLToPath(new URL(name, import.meta.url));
}

/**
 * The subject's longest stall while the cases are sent to an address.
 * @param {import("./subjects.mjs").Subject} subject
 * @param {string} base
 * @param {string} grpc host:port; empty where it has none.
 * @param {readonly string[]} cases
 */
function attack(subject, base, grpc, cases) {
  return follow([here("worst-attack.mjs"), base, grpc, subject.otherKey ?? "", OTHER_MODEL, ...cases]);
}

/**
 * Runs a script that does harm, one case for each line that it is given. Tells what each did; resolves with the longest
 * stall of all.
 * @param {string[]} script
 */
async function follow(script) {
  const child = spawn(process.execPath, script, { stdio: ["pipe", "pipe", "inherit"] });
  readHolds();
  // An attacker has a machine of its own: on this one it must not take the processor from what is measured.
  if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW);
  let longestMs = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    // A callback is told when the next one begins.
    await sleep(20);
    const longest = readHolds().toSorted((one, other) => other.heldMs - one.heldMs)[0];
    longestMs = Math.max(longestMs, longest?.heldMs ?? 0);
    process.stdout.write(`${JSON.stringify({ ...JSON.parse(line), ...longest })}\n`);
    child.stdin.write("\n");
  }
  return longestMs;
}

/** How long the loop was held at a stretch, each time since the last look. @returns {Hold[]} */
function readHolds() {
  const lines = existsSync(WATCHED) ? readFileSync(WATCHED, "utf8").split("\n").slice(0, -1) : [];
  const fresh = lines.slice(read).map((line) => JSON.parse(line));
  read = lines.length;
  return fresh;
}

/** @param {readonly number[]} sorted */
function p99(sorted) {
  return sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN;
}

/** Streams that begin anew when they end, and the time between their events. */
class Streams {
  /** @type {number[]} */
  #gapsMs = [];
  #stopped = false;

  /**
   * @param {import("./scenarios.mjs").Scenario} scenario
   * @param {import("./subjects.mjs").Subject} subject
   */
  constructor(scenario, subject) {
    for (let caller = 0; caller < scenario.callers; caller++) this.#open(scenario, subject);
  }

  /** The gaps since the last look. */
  take() {
    return this.#gapsMs.splice(0).toSorted((one, other) => one - other);
  }

  stop() {
    this.#stopped = true;
  }

  /**
   * @param {import("./scenarios.mjs").Scenario} scenario
   * @param {import("./subjects.mjs").Subject} subject
   */
  #open(scenario, subject) {
    if (this.#stopped) return;
    const { host, port, basePath, headers, model } = subject;
    const path = `${basePath}/chat/completions`;
    const call = request({
      host,
      port,
      path,
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
    });
    call.on("response", (response) => {
      let lastMs = 0;
      response.on("data", () => {
        const nowMs = performance.now();
        if (lastMs > 0) this.#gapsMs.push(nowMs - lastMs);
        lastMs = nowMs;
      });
      response.on("close", () => this.#open(scenario, subject));
    });
    call.on("error", () => setTimeout(() => this.#open(scenario, subject), 100));
    call.end(chatBody(scenario.body, model, scenario.mock));
  }
}
