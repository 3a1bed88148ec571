/**
 * What several workers cost: CPU of all processes of the gateway a call, in turns on the same machine. On two cores
 * that their callers share, a call costs whoever serves it more where two processes serve at once: workers are compared
 * with as many gateways apart, and one that serves alone is told beside them.
 */
import { readUsed } from "../../bench/process-stats.mjs";
import { CALL_NANOS, Cluster } from "../cluster.js";
import { percentile } from "../load.js";
import type { Run, Scenario } from "../scenario.js";

const WORKERS = 2;
const DEARER_MAX = 1.15;
/** Of each worker: what costs less a call where more of them come together should do so in both. */
const CALLERS = 32;
/** So many calls go to each worker before the other number of workers has its turn. */
const TURN_CALLS = 1_000;
/** A process that is new compiles what it runs. */
const WARM_UP_TURNS = 9;

export const workers = scenarioOf("workers", "on PostgreSQL", false);
export const embeddedWorkers = scenarioOf("workers-embedded", "beside the embedded database", true);

function scenarioOf(name: string, where: string, isEmbedded: boolean): Scenario {
  return {
    name,
    claim: `a call costs ${WORKERS} workers ${where} at most ${DEARER_MAX} times the CPU of as many gateways apart`,
    small: 15_000,
    full: 60_000,
    run: async (calls, run) => {
      const one = await Cluster.open({ nodes: 1, isEmbedded });
      const apart = await Promise.all(Array.from({ length: WORKERS }, () => Cluster.open({ nodes: 1, isEmbedded })));
      const several = await Cluster.open({ nodes: 1, isEmbedded, env: { TOLLGATE_WORKERS: String(WORKERS) } });
      try {
        const subjects = [await subjectOf([one]), await subjectOf(apart), await subjectOf([several], WORKERS)];
        await measure(subjects, Math.ceil(calls / TURN_CALLS), run);
      } finally {
        for (const cluster of [one, ...apart, several]) await cluster.close();
      }
    },
  };
}

interface Gateway {
  readonly cluster: Cluster;
  readonly secret: string;
}

interface Subject {
  readonly gateways: readonly Gateway[];
  /** Of all its gateways together. */
  readonly workerCount: number;
  readonly ownerPid: number | undefined;
  readonly cpuMs: number[];
  /** What of it the owner of an embedded database used, which is one however many workers ask it. */
  readonly ownerCpuMs: number[];
}

async function subjectOf(clusters: readonly Cluster[], workersOfEach = 1): Promise<Subject> {
  const gateways: Gateway[] = [];
  for (const cluster of clusters) {
    await cluster.makeAccount("acme", CALL_NANOS * 10_000_000n);
    gateways.push({ cluster, secret: (await cluster.makeKey("acme")).secret });
  }
  const [ownerPid] = clusters.map(ownerOf);
  return { gateways, workerCount: clusters.length * workersOfEach, ownerPid, cpuMs: [], ownerCpuMs: [] };
}

/** The process that owns an embedded database, as the one that keeps it said. */
function ownerOf(cluster: Cluster): number | undefined {
  const said = cluster.node(0).log.find((line) => line.includes("the owner of the workers' database is there"));
  return said === undefined ? undefined : (JSON.parse(said) as { readonly pid: number }).pid;
}

async function measure(subjects: readonly Subject[], turns: number, run: Run): Promise<void> {
  for (let turn = -WARM_UP_TURNS; turn < turns; turn += 1) {
    // In turns, so that all are measured in the same weather; each is the first as often as any other.
    for (const subject of inTurn(subjects, turn)) {
      const before = usedBy(subject);
      await callAll(subject, `turn-${turn}`, run);
      const after = usedBy(subject);
      if (turn < 0) continue;
      subject.cpuMs.push(after.cpuMs - before.cpuMs);
      subject.ownerCpuMs.push(after.ownerCpuMs - before.ownerCpuMs);
    }
  }
  const aCall = ({ workerCount }: Subject, cpuMs: readonly number[]): number =>
    cpuMs.reduce((sum, ms) => sum + ms, 0) / (turns * TURN_CALLS * workerCount);
  const [one = NaN, apart = NaN, several = NaN] = subjects.map((subject) => aCall(subject, subject.cpuMs));
  const [, , owner = 0] = subjects.map((subject) => aCall(subject, subject.ownerCpuMs));
  const ratio = several / apart;
  // How far one turn is from another says how much of the ratio is the weather's.
  const ratios = ratiosOf(subjects[2]?.cpuMs ?? [], subjects[1]?.cpuMs ?? []);
  const [low, high] = [percentile(ratios, 0.25), percentile(ratios, 0.75)];
  run.say(
    `${one.toFixed(3)} ms of CPU a call by one gateway alone, ${apart.toFixed(3)} ms by ${WORKERS} apart at once,` +
      ` ${several.toFixed(3)} ms by ${WORKERS} workers: ${ratio.toFixed(2)} times what those apart cost (half of` +
      ` the turns from ${low.toFixed(2)} to ${high.toFixed(2)}),` +
      ` ${(several / one).toFixed(2)} times one alone (${turns * TURN_CALLS} calls and ${CALLERS} callers of each)`,
  );
  if (owner > 0)
    run.say(
      `${owner.toFixed(3)} ms of it in the owner: one core of it is enough for` +
        ` ${Math.floor((several - owner) / owner)} workers with a core each`,
    );
  if (!(ratio <= DEARER_MAX)) run.fail(`${ratio.toFixed(2)} is more than ${DEARER_MAX}`);
}

/** The list, begun at another place each turn. */
function inTurn<Value>(values: readonly Value[], turn: number): Value[] {
  const first = (turn + WARM_UP_TURNS) % values.length;
  return [...values.slice(first), ...values.slice(0, first)];
}

/** Both are of as many workers. */
function ratiosOf(some: readonly number[], others: readonly number[]): number[] {
  return some.map((value, turn) => value / (others[turn] ?? NaN));
}

function usedBy({ gateways, ownerPid }: Subject): { readonly cpuMs: number; readonly ownerCpuMs: number } {
  const ownerCpuMs = ownerPid === undefined ? 0 : readUsed([ownerPid]).cpuMs;
  return { cpuMs: readUsed(gateways.map(({ cluster }) => cluster.node(0).pid)).cpuMs, ownerCpuMs };
}

async function callAll({ gateways, workerCount }: Subject, name: string, run: Run): Promise<void> {
  let left = TURN_CALLS * workerCount;
  const caller = async ({ cluster, secret }: Gateway): Promise<void> => {
    for (; left > 0;) {
      left -= 1;
      const { status, code } = await cluster.callers.chat(cluster.node(0).url, secret, `${name}-${left}`);
      if (status !== 200) run.fail(`a call was answered ${status} ${code}`);
    }
  };
  const callers = Array.from({ length: CALLERS * workerCount }, (_, at) => gateways[at % gateways.length]);
  await Promise.all(callers.map((gateway) => gateway && caller(gateway)));
}
