/** What was proven, when and of which tree: a file at the root that git ignores, and what changes make of it. */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { changedFiles } from "./tree.mjs";

export const PROOFS = ".proofs.json";
/** So many changed files are named; the others are counted. */
const NAMED_MAX = 3;

/**
 * One run of a part. `commit` is the one that was checked out; `tree` is what was tested, which differs from the commit
 * where `dirty` is true. `why` says what `verdict` does not. `unclear` is a run during which the tested files changed.
 *
 * @typedef {{
 *   part: string;
 *   commit: string;
 *   tree: string;
 *   dirty: boolean;
 *   verdict: Verdict;
 *   seconds: number;
 *   at: string;
 *   command: string;
 *   why?: string;
 * }} Proof
 *
 * @typedef {"passed" | "failed" | "not run" | "unclear"} Verdict
 */

/**
 * @param {string} root
 * @returns {Map<string, Proof>} By the names of parts.
 */
export function readProofs(root) {
  const path = join(root, PROOFS);
  if (!existsSync(path)) return new Map();
  /** @type {{ proofs: Proof[] }} */
  const { proofs } = JSON.parse(readFileSync(path, "utf8"));
  return new Map(proofs.map((proof) => [proof.part, proof]));
}

/**
 * Puts a proof in place of the part's last one. The file is whole at every moment.
 * @param {string} root
 * @param {Proof} proof
 */
export function keepProof(root, proof) {
  const proofs = [...readProofs(root).set(proof.part, proof).values()];
  const aside = join(root, "dist", "proofs", `${process.pid}.json`);
  mkdirSync(dirname(aside), { recursive: true });
  writeFileSync(aside, `${JSON.stringify({ proofs }, null, 2)}\n`);
  renameSync(aside, join(root, PROOFS));
}

/**
 * True where a change of the file makes the part's proof stale. A place that ends with `/` is a folder; one that begins
 * with `!` is left out.
 * @param {readonly string[]} touches
 * @param {string} path
 */
export function isTouched(touches, path) {
  const isIn = (/** @type {string} */ place) => (place.endsWith("/") ? path.startsWith(place) : path === place);
  const isLeftOut = touches.some((place) => place.startsWith("!") && isIn(place.slice(1)));
  return !isLeftOut && touches.some(isIn);
}

/**
 * Whether a part is proven for the tree, and if not, why.
 * @param {string} root
 * @param {{ readonly touches: readonly string[] }} part
 * @param {string} command What the part would run now.
 * @param {Proof | undefined} proof
 * @param {string} tree
 * @returns {{ isProven: boolean, why: string }}
 */
export function stateOf(root, { touches }, command, proof, tree) {
  if (proof === undefined) return { isProven: false, why: "never run" };
  const { verdict, why } = proof;
  if (verdict !== "passed") return { isProven: false, why: why ?? "" };
  if (proof.command !== command) return { isProven: false, why: "stale: its command changed" };
  const changed = changedFiles(root, proof.tree, tree);
  if (changed === undefined) return { isProven: false, why: "stale: git no longer has the tree that was tested" };
  const touched = changed.filter((path) => isTouched(touches, path));
  if (touched.length === 0) return { isProven: true, why: "proven" };
  return { isProven: false, why: `stale: ${namesOf(touched)}` };
}

/** @param {readonly string[]} paths */
export function namesOf(paths) {
  const more = paths.length - NAMED_MAX;
  return paths.slice(0, NAMED_MAX).join(", ") + (more > 0 ? ` and ${more} more` : "");
}
