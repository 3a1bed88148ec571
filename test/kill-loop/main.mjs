/** The kill loop as a command: `npm run kill-loop -- --kills 1000 --lanes 4 --seed 7`. */
import { spawn } from "node:child_process";
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: {
    kills: { type: "string", default: "1000" },
    lanes: { type: "string", default: "4" },
    seed: { type: "string" },
  },
});
for (const [name, value] of Object.entries(values)) {
  if (/^\d{1,9}$/.test(value)) continue;
  process.stderr.write(`kill-loop: --${name} must be a whole number, not '${value}'\n`);
  process.exit(2);
}
const env = {
  ...process.env,
  TOLLGATE_KILLS: values.kills,
  TOLLGATE_KILL_PROGRESS: "1",
  TOLLGATE_KILL_LANES: values.lanes,
  ...(values.seed === undefined ? {} : { TOLLGATE_KILL_SEED: values.seed }),
};
const runner = ["node_modules/vitest/vitest.mjs", "run", "test/kill-loop/kill-loop.prove.test.ts"];
const child = spawn(process.execPath, runner, { stdio: "inherit", env });
child.on("exit", (code) => process.exit(code ?? 1));
