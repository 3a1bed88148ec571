/** A node, or its workers, stop and start under clients that nothing stands before: each that connects is answered. */
import { setTimeout as pause } from "node:timers/promises";
import { CALL_NANOS, Cluster } from "../cluster.js";
import type { Run, Scenario } from "../scenario.js";
import { StraightClients } from "../straight-clients.js";

const OF_EACH_KIND = 8;
/** Short, so that many come as the port closes. */
const LAME_DUCK_MS = 500;
const CALLS_PER_STOP = 500;
const PROBLEMS_TOLD = 10;
/**
 * The system resets what a closing port has not handed over yet. Between a process's last look and its close lie some
 * microseconds, and more where another process has the core meanwhile (decision 0447): then all that came by then are
 * reset together, so a few stops tell of one such moment, and not of a rate. Workers have a process that keeps the
 * port.
 */
const CALLS_PER_RESET_ALONE = 1_000;
/** As many as clients of one kind: of a long run the rate allows more. */
const RESETS_OF_A_MOMENT = OF_EACH_KIND;

export const straight: readonly Scenario[] = [
  scenario("straight", "at most 1 in 1,000 calls is reset by a node that stops", "1", CALLS_PER_RESET_ALONE),
  scenario("straight-workers", "no connection that stopping workers accepted is reset", "2", Infinity),
];

function scenario(name: string, claim: string, workers: string, callsPerReset: number): Scenario {
  return { name, claim, small: 3, full: 20, run: (stops, run) => stopOften(stops, workers, callsPerReset, run) };
}

async function stopOften(stops: number, workers: string, callsPerReset: number, run: Run): Promise<void> {
  const cluster = await Cluster.open({
    nodes: 1,
    isEmbedded: true,
    hasGrpc: true,
    env: { TOLLGATE_LAME_DUCK_MS: String(LAME_DUCK_MS), TOLLGATE_WORKERS: workers },
  });
  try {
    await cluster.makeAccount("acme", CALL_NANOS * 1_000_000n);
    const { secret: key } = await cluster.makeKey("acme");
    const node = cluster.node(0);
    const clients = new StraightClients(node, key, OF_EACH_KIND);
    for (let stop = 0; stop < stops; stop += 1) {
      while (clients.total < (stop + 1) * CALLS_PER_STOP) await pause(50);
      const startMs = performance.now();
      const code = await node.stop();
      if (code !== 0) run.fail(`the node ended with ${code}`);
      run.say(`stopped in ${Math.round(performance.now() - startMs)} ms; ${clients.resets.length} resets so far`);
      await node.start();
    }
    await clients.stop();
    const told = [...clients.served].map(([kind, count]) => `${kind}: ${count}`).join(", ");
    run.say(`${told}; ${clients.refused} times no connection was made`);
    for (const reset of clients.resets.slice(0, PROBLEMS_TOLD)) run.say(reset);
    const rated = Math.floor(clients.total / callsPerReset);
    const resetsMax = callsPerReset === Infinity ? 0 : Math.max(rated, RESETS_OF_A_MOMENT);
    if (clients.resets.length > resetsMax) run.fail(`${clients.resets.length} resets, where ${resetsMax} may be`);
    for (const problem of clients.problems.slice(0, PROBLEMS_TOLD)) run.fail(problem);
    if (clients.problems.length > 0) run.fail(`${clients.problems.length} accepted calls were refused`);
    for (const problem of await cluster.verify()) run.fail(`the ledger: ${problem}`);
  } finally {
    await cluster.close();
  }
}
