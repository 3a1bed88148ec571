/** The fuzz of formatting as a command: `npm run fuzz:formatting -- --cases 100000 --seed 7`. */
import { spawn } from "node:child_process";
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: { cases: { type: "string", default: "100000" }, seed: { type: "string", default: "1" } },
});
for (const [name, value] of Object.entries(values)) {
  if (/^\d{1,9}$/.test(value)) continue;
  process.stderr.write(`fuzz:formatting: --${name} must be a whole number, not '${value}'\n`);
  process.exit(2);
}
const env = { ...process.env, TOLLGATE_FORMATTING_CASES: values.cases, TOLLGATE_FORMATTING_SEED: values.seed };
const runner = ["node_modules/vitest/vitest.mjs", "run", "test/formatting/formatting.test.ts"];
const child = spawn(process.execPath, runner, { stdio: "inherit", env });
child.on("exit", (code) => process.exit(code ?? 1));
