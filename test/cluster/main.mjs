/**
 * What must hold of many nodes on one backend: `npm run cluster -- --scenario balance --count 20`. Without a scenario
 * all of them run, small; `--full` proves as much as is claimed.
 */
import { spawn } from "node:child_process";
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: {
    scenario: { type: "string", multiple: true, default: [] },
    count: { type: "string", default: "0" },
    full: { type: "boolean", default: false },
    other: { type: "string" },
  },
});
if (!/^\d{1,9}$/.test(values.count)) {
  process.stderr.write(`cluster: --count must be a whole number, not '${values.count}'\n`);
  process.exit(2);
}
const env = {
  ...process.env,
  TOLLGATE_CLUSTER: values.scenario.join(",") || "all",
  TOLLGATE_CLUSTER_COUNT: values.count,
  ...(values.full ? { TOLLGATE_CLUSTER_FULL: "1" } : {}),
  ...(values.other === undefined ? {} : { TOLLGATE_CLUSTER_OTHER: values.other }),
};
const runner = ["node_modules/vitest/vitest.mjs", "run", "test/cluster", "--testTimeout", "7200000"];
const child = spawn(process.execPath, [...runner, "--disableConsoleIntercept"], { stdio: "inherit", env });
child.on("exit", (code) => process.exit(code ?? 1));
