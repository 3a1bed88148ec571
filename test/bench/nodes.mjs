/**
 * The benchmark on the newest LTS and on the oldest Node that is served, and the tables of docs/lab-book.md of both.
 * Run: `npm run bench:nodes [-- --only SCENARIO --rounds N ...]`, on the oldest.
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { installNode, NEWEST_LTS } from "../nodes/install.mjs";
import { runDirectory } from "./child.mjs";
import { writeDocs } from "./docs-table.mjs";

/** @typedef {{ results: import("./result.mjs").Result[], skipped: string[], circumstances: string[] }} Run */

const MAIN = fileURLToPath(new URL("main.mjs", import.meta.url));

/** @param {string} node @param {string} name @returns {Run} */
function benchOn(node, name) {
  const json = join(runDirectory, `${name}.json`);
  const { status } = spawnSync(node, [MAIN, ...process.argv.slice(2), "--json", json], { stdio: "inherit" });
  if (status !== 0) throw new Error(`the benchmark failed on Node ${name}: nothing was written`);
  return JSON.parse(readFileSync(json, "utf8"));
}

const newest = benchOn(join(installNode(NEWEST_LTS), "bin", "node"), NEWEST_LTS);
const oldest = benchOn(process.execPath, process.versions.node);
const beside = process.versions.node.split(".")[0];
const results = newest.results.map((result) => {
  const rows = oldest.results.find(({ scenario }) => scenario === result.scenario)?.rows ?? [];
  for (const row of rows) row.subject += `, Node ${beside}`;
  result.rows.push(...rows);
  return result;
});
const skipped = [...new Set([...newest.skipped, ...oldest.skipped])];
writeDocs(results, [...newest.circumstances, ...oldest.circumstances], skipped);
process.exit(0);
