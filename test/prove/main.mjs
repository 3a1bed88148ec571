/**
 * Proves all that `npm test` is too short for, and goes on where it stopped: `npm run prove`. Names of parts choose
 * those; `--list` prints what is proven and runs nothing, `--again` ignores what is, and `--smoke` runs a small form of
 * each part.
 */
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { PARTS } from "./parts.mjs";
import { listParts, prove, smoke } from "./runner.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
const say = (/** @type {string} */ line) => void process.stdout.write(`${line}\n`);

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    list: { type: "boolean", default: false },
    again: { type: "boolean", default: false },
    smoke: { type: "boolean", default: false },
  },
});
const unknown = positionals.filter((name) => !PARTS.some((part) => part.name === name));
if (unknown.length > 0) {
  process.stderr.write(`no part is called ${unknown.join(" or ")}: ${PARTS.map(({ name }) => name).join(", ")}\n`);
  process.exit(2);
}
const parts = PARTS.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
const stop = new AbortController();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => stop.abort());
const run = { root, parts, say, signal: stop.signal };
try {
  if (values.list) listParts(run);
  else process.exitCode = await (values.smoke ? smoke(run) : prove(run, { again: values.again }));
} catch (error) {
  process.stderr.write(`prove: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 2;
}
