/** What several workers cost beside one: CPU of all processes of the gateway a call, in turns on the same machine. */
import { readUsed } from "../../bench/process-stats.mjs";
import { CALL_NANOS, Cluster } from "../cluster.js";
import type { Run, Scenario } from "../scenario.js";

const WORKERS = 2;
const DEARER_MAX = 1.15;
const CALLERS = 16;
/** Each number of workers makes so many calls before the other. */
const TURN_CALLS = 400;
const WARM_UP_TURNS = 3;

export const workers: Scenario = {
  name: "workers",
  claim: `a call costs ${WORKERS} workers at most ${DEARER_MAX} times the CPU of one`,
  small: 4_000,
  full: 40_000,
  run: async (calls, run) => {
    const one = await Cluster.open({ nodes: 1 });
    const several = await Cluster.open({ nodes: 1, env: { TOLLGATE_WORKERS: String(WORKERS) } });
    try {
      await measure(await Promise.all([one, several].map(subjectOf)), Math.ceil(calls / TURN_CALLS), run);
    } finally {
      await one.close();
      await several.close();
    }
  },
};

interface Subject {
  readonly cluster: Cluster;
  readonly secret: string;
  readonly cpuMs: number[];
}

async function subjectOf(cluster: Cluster): Promise<Subject> {
  await cluster.makeAccount("acme", CALL_NANOS * 10_000_000n);
  const { secret } = await cluster.makeKey("acme");
  return { cluster, secret, cpuMs: [] };
}

async function measure(subjects: readonly Subject[], turns: number, run: Run): Promise<void> {
  for (let turn = -WARM_UP_TURNS; turn < turns; turn += 1) {
    // In turns, so that both are measured in the same weather.
    for (const subject of subjects) {
      const before = readUsed([subject.cluster.node(0).pid]).cpuMs;
      await callAll(subject, `turn-${turn}`, run);
      if (turn >= 0) subject.cpuMs.push(readUsed([subject.cluster.node(0).pid]).cpuMs - before);
    }
  }
  const [one = NaN, several = NaN] = subjects.map(({ cpuMs }) => cpuMs.reduce((sum, ms) => sum + ms, 0));
  const calls = turns * TURN_CALLS;
  const ratio = several / one;
  run.say(
    `${(one / calls).toFixed(3)} ms of CPU a call by one worker, ${(several / calls).toFixed(3)} ms by ${WORKERS}:` +
      ` ${ratio.toFixed(2)} times as much (${calls} calls each, ${CALLERS} callers)`,
  );
  if (!(ratio <= DEARER_MAX)) run.fail(`${ratio.toFixed(2)} is more than ${DEARER_MAX}`);
}

async function callAll({ cluster, secret }: Subject, name: string, run: Run): Promise<void> {
  let left = TURN_CALLS;
  const caller = async (): Promise<void> => {
    for (; left > 0;) {
      left -= 1;
      const { status, code } = await cluster.callers.chat(cluster.node(0).url, secret, `${name}-${left}`);
      if (status !== 200) run.fail(`a call was answered ${status} ${code}`);
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
}
