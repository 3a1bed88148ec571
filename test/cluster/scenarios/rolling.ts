/** One node after the other is told to stop and starts again, under clients of every kind: nobody is refused or cut. */
import { setTimeout as pause } from "node:timers/promises";
import { balancerMissing, startBalancer } from "../balancer.js";
import { Clients } from "../clients.js";
import { CALL_NANOS, Cluster } from "../cluster.js";
import type { Scenario } from "../scenario.js";

const NODES = 3;
const OF_EACH_KIND = 3;
/** So many calls are served for each stop, at least. */
const CALLS_PER_STOP = 2_500;
/** As nodes have it where nobody says, and the balancer's file counts on. */
const LAME_DUCK_MS = 5_000;
/** Streams that go on after the ports are closed. */
const LONG_MS = LAME_DUCK_MS + 3_000;
const PROBLEMS_TOLD = 10;

export const rolling: Scenario = {
  name: "rolling",
  claim: "nodes behind nginx stop and start one after the other, and no call is refused or cut",
  small: 3,
  full: 20,
  run: async (stops, run) => {
    const missing = balancerMissing();
    if (missing !== undefined) throw new Error(missing);
    const cluster = await Cluster.open({
      nodes: NODES,
      hasGrpc: true,
      env: { TOLLGATE_LAME_DUCK_MS: String(LAME_DUCK_MS) },
    });
    const balancer = await startBalancer(cluster.nodes);
    try {
      await cluster.makeAccount("acme", CALL_NANOS * 1_000_000n);
      const { secret: key } = await cluster.makeKey("acme");
      const grpc = cluster.nodes.map((node) => node.grpc);
      const clients = new Clients(
        { url: balancer.url, grpcUrl: balancer.grpc, grpc, key, longMs: LONG_MS },
        OF_EACH_KIND,
      );
      await pause(2_000);
      for (let turn = 0; turn < stops; turn += 1) {
        const node = cluster.node(turn);
        const startMs = performance.now();
        const code = await node.stop();
        const tookMs = Math.round(performance.now() - startMs);
        if (code !== 0) run.fail(`${node.name} ended with ${code}`);
        await node.start();
        while (clients.total < (turn + 1) * CALLS_PER_STOP) await pause(200);
        run.say(`${node.name} stopped in ${tookMs} ms and is back; ${clients.problems.length} problems so far`);
      }
      await clients.stop();
      const told = [...clients.served].map(([kind, count]) => `${kind}: ${count}`).join(", ");
      run.say(`${clients.total} calls: ${told}; ${clients.moved} WebSockets closed at rest while they were asked`);
      for (const problem of clients.problems.slice(0, PROBLEMS_TOLD)) run.fail(problem);
      if (clients.problems.length > 0) run.say(balancer.errors());
      if (clients.problems.length > 0) run.fail(`${clients.problems.length} calls were refused or cut`);
      for (const problem of await cluster.verify()) run.fail(`the ledger: ${problem}`);
    } finally {
      await balancer.close();
      await cluster.close();
    }
  },
};
