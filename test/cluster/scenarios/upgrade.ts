/** One node after the other is stopped and started with another build, and no request is refused. */
import { setTimeout as pause } from "node:timers/promises";
import { BUILD, CALL_NANOS, Cluster, type Json } from "../cluster.js";
import { newerBuild } from "../../support/newer-build.js";
import { Load, tallyOf } from "../load.js";
import type { Scenario } from "../scenario.js";

const NODES = 3;
/** How soon a load balancer knows that a node is not ready. */
const LOOK_MS = 100;

export const upgrade: Scenario = {
  name: "upgrade",
  claim: "nodes go from one build to another, one after the other, without a refused request",
  small: 1,
  full: 3,
  run: async (rounds, run) => {
    const other = newerBuild();
    const cluster = await Cluster.open({ nodes: NODES });
    const ready = new Set(cluster.nodes.keys());
    const look = setInterval(() => void lookAtAll(cluster, ready), LOOK_MS);
    try {
      await cluster.makeAccount("acme", CALL_NANOS * 1_000_000n);
      const { secret } = await cluster.makeKey("acme");
      const load = new Load(
        cluster,
        { key: secret, callersPerNode: 3, pauseMs: 20, isAsked: (node) => ready.has(node) },
        "rolling",
      );
      await pause(1_000);
      for (let round = 0; round < rounds; round += 1) {
        for (const [place, node] of cluster.nodes.entries()) {
          const code = await node.stop();
          if (code !== 0) run.fail(`${node.name} ended with ${code}`);
          await node.start(round % 2 === 0 ? other.directory : BUILD);
          await pause(500);
          const versions = (await cluster.manage(place, "GET", "/nodes"))["nodes"] as readonly Json[];
          run.say(versions.map((one) => `${String(one["version"])}`).join(" "));
        }
      }
      const outcomes = await load.stop();
      run.say(tallyOf(outcomes));
      if (outcomes.some(({ status }) => status !== 200)) run.fail("a request was refused");
      for (const problem of await cluster.verify()) run.fail(`the ledger: ${problem}`);
    } finally {
      clearInterval(look);
      await cluster.close();
      other.remove();
    }
  },
};

async function lookAtAll(cluster: Cluster, ready: Set<number>): Promise<void> {
  for (const [place, node] of cluster.nodes.entries()) {
    const asked = { method: "GET", path: "/readyz", key: "", timeoutMs: 1_000 };
    if ((await cluster.callers.ask(node.url, asked)).status === 200) ready.add(place);
    else ready.delete(place);
  }
}
