/** Proves parts one after the other, each with a proof that later runs find, and runs their smokes. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isTouched, keepProof, namesOf, readProofs, stateOf } from "./proofs.mjs";
import { missingNeeds, runTask } from "./running.mjs";
import { tableOf } from "./table.mjs";
import { changedFiles, readTree } from "./tree.mjs";

/** No part takes nearly as long: the longest is a matter of two hours. */
const PART_MS_MAX = 8 * 3_600_000;
/** A smoke is made to take a minute. A slow machine is no failure. */
const SMOKE_MS_MAX = 300_000;
const SMOKE_SECONDS = 60;
const LOGS = "dist/proofs";
/** As a shell says it of a program that an interrupt ended. */
const EXIT_STOPPED = 130;

/**
 * A part of the proof. `smoke` is a small form of it, or a sentence that says where its small form runs. `touches` are
 * the files and folders whose change makes its proof stale; `!` leaves one out.
 * @typedef {import("./running.mjs").Task & { readonly name: string, readonly about: string,
 *   readonly touches: readonly string[], readonly smoke: import("./running.mjs").Task | string }} Part
 */

/**
 * `say` takes a line. `signal` stops the run after the part that runs is ended.
 * @typedef {{ readonly root: string, readonly parts: readonly Part[], readonly say: (line: string) => void,
 *   readonly signal: AbortSignal }} Run
 */

/**
 * Runs each part that is not proven for the working tree.
 * @param {Run} run
 * @param {{ readonly again: boolean }} how With `again` also those that are.
 * @returns {Promise<number>} The exit code: 0 where every part is proven but those that the machine cannot run.
 */
export async function prove(run, { again }) {
  const { root, parts, say, signal } = run;
  const startedMs = performance.now();
  const before = statesOf(root, parts).map(({ part, isProven }) => ({ part, isProven: isProven && !again }));
  let proven = before.filter(({ isProven }) => isProven).length;
  for (const [at, { part, isProven }] of before.entries()) {
    if (signal.aborted) break;
    if (isProven) continue;
    const minutes = Math.round((performance.now() - startedMs) / 60_000);
    say(`\npart ${at + 1} of ${parts.length}: ${part.name} (since ${minutes} min, ${proven} proven)`);
    say(`${part.about}\n`);
    if ((await provePart(run, part)) === "passed") proven += 1;
  }
  const states = listParts(run);
  if (signal.aborted) return EXIT_STOPPED;
  return states.every((state) => state.isProven || state.proof?.verdict === "not run") ? 0 : 1;
}

/** @param {Run} run @param {Part} part */
async function provePart({ root, say, signal }, part) {
  const before = readTree(root);
  const record = {
    part: part.name,
    commit: before.commit,
    tree: before.id,
    dirty: before.isDirty,
    command: commandOf(root, part),
  };
  const keep = (/** @type {import("./proofs.mjs").Verdict} */ verdict, seconds = 0, why = "") => {
    keepProof(root, { ...record, verdict, seconds, at: new Date().toISOString(), ...(why === "" ? {} : { why }) });
    say(`\n${part.name}: ${verdict}${why === "" ? "" : `: ${why}`} (${seconds} s)`);
    return verdict;
  };
  const missing = missingNeeds(part.needs ?? [], root);
  if (missing.length > 0) return keep("not run", 0, `needs ${missing.map(({ name }) => name).join(", ")}`);
  const log = join(LOGS, `${part.name}.log`);
  const { end, seconds } = await runTask(part, { root, log: join(root, log), msMax: PART_MS_MAX, signal });
  // What was proven before it was stopped stays so.
  if (end === "stopped") return "stopped";
  if (end !== "passed") return keep("failed", seconds, end === "over" ? "took too long" : `see ${log}`);
  const changed = changedFiles(root, before.id, readTree(root).id) ?? [];
  const touched = changed.filter((path) => isTouched(part.touches, path));
  if (touched.length > 0) return keep("unclear", seconds, `changed while it ran: ${namesOf(touched)}`);
  return keep("passed", seconds);
}

/** Prints the last proof of each part, and what makes it stale. @param {Omit<Run, "signal">} run */
export function listParts({ root, parts, say }) {
  const states = statesOf(root, parts);
  const rows = states.map(({ part, proof, why }) => [
    part.name,
    proof === undefined ? "" : `${proof.commit.slice(0, 8)}${proof.dirty ? "+" : ""}`,
    proof?.verdict ?? "",
    proof === undefined ? "" : String(proof.seconds),
    why,
  ]);
  say(`\n${tableOf(["part", "commit", "verdict", "seconds", "now"], rows)}`);
  const count = (/** @type {(state: (typeof states)[number]) => boolean} */ is) => states.filter(is).length;
  const proven = count(({ isProven }) => isProven);
  const failed = count(({ proof }) => proof?.verdict === "failed");
  const notRun = count(({ proof }) => proof?.verdict === "not run");
  const stale = parts.length - proven - failed - notRun;
  say(
    `\n${proven} of ${parts.length} parts are proven, ${failed} failed, ${notRun} could not run, ${stale} are stale or new.`,
  );
  return states;
}

/** @param {string} root @param {readonly Part[]} parts */
function statesOf(root, parts) {
  const proofs = readProofs(root);
  const { id } = readTree(root);
  return parts.map((part) => {
    const proof = proofs.get(part.name);
    return { part, proof, ...stateOf(root, part, commandOf(root, part), proof, id) };
  });
}

/** What a task runs, with what an npm script stands for. @param {string} root @param {Part} part */
function commandOf(root, { command, env = {} }) {
  const [program, verb, script = ""] = command;
  const told = [...Object.entries(env).map(([name, value]) => `${name}=${value}`), ...command].join(" ");
  if (program !== "npm" || verb !== "run") return told;
  const manifest = join(root, "package.json");
  const scripts = existsSync(manifest) ? JSON.parse(readFileSync(manifest, "utf8")).scripts : {};
  return `${told} = ${[scripts?.[`pre${script}`], scripts?.[script]].filter(Boolean).join(" && ")}`;
}

/**
 * Runs the smoke of each part. Nothing of it counts as a proof.
 * @param {Run} run
 * @param {{ readonly msMax?: number }} [bounds]
 * @returns {Promise<number>} The exit code: 1 where one failed.
 */
export async function smoke({ root, parts, say, signal }, { msMax = SMOKE_MS_MAX } = {}) {
  /** @type {string[][]} */
  const rows = [];
  let failed = 0;
  for (const [at, { name, smoke: task }] of parts.entries()) {
    if (signal.aborted) break;
    if (typeof task === "string") {
      rows.push([name, "", "", task]);
      continue;
    }
    say(`\nsmoke ${at + 1} of ${parts.length}: ${name}\n`);
    const missing = missingNeeds(task.needs ?? [], root);
    if (missing.length > 0) {
      rows.push([name, "not run", "", `needs ${missing.map((need) => need.name).join(", ")}`]);
      continue;
    }
    const log = join(LOGS, `${name}.smoke.log`);
    const { end, seconds } = await runTask(task, { root, log: join(root, log), msMax, signal });
    if (end === "failed" || end === "over") failed += 1;
    const slow = seconds > SMOKE_SECONDS ? `meant to take ${SMOKE_SECONDS} s` : "";
    const why = { passed: slow, failed: `see ${log}`, stopped: "", over: `ended after ${seconds} s` }[end];
    rows.push([name, end === "over" ? "failed" : end, String(seconds), why]);
  }
  say(`\n${tableOf(["smoke", "verdict", "seconds", "note"], rows)}`);
  if (signal.aborted) return EXIT_STOPPED;
  return failed === 0 ? 0 : 1;
}
