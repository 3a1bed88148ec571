/** Nodes of two builds on one PostgreSQL and one Redis: what is begun at one goes on at the other, and back. */
import { performance } from "node:perf_hooks";
import { join } from "node:path";
import { type Browser, firstOperator } from "../../support/browser.js";
import { newerBuild } from "../../support/newer-build.js";
import { BUILD, CALL_NANOS, Cluster } from "../cluster.js";
import { Crossing, type Subject } from "../crossing.js";
import { frontEnds, replays, resume, webSockets } from "../crossings/answers.js";
import { limits, records, usage } from "../crossings/figures.js";
import { keys, people } from "../crossings/keys.js";
import { alerts, corrections, leases } from "../crossings/money.js";
import { Load, tallyOf } from "../load.js";
import { GatewayNode } from "../node.js";
import type { Run, Scenario } from "../scenario.js";

const SUBJECTS: readonly Subject[] = [
  keys,
  people,
  records,
  usage,
  limits,
  leases,
  corrections,
  alerts,
  resume,
  replays,
  webSockets,
  frontEnds,
];

export const upgradeAll: Scenario = {
  name: "upgrade-all",
  claim: "between nodes of two builds all that is begun at one goes on at the other, without a refused request",
  small: 1,
  full: 10,
  run: async (rounds, run) => {
    const newer = newerBuild();
    const builds = [BUILD, newer.directory];
    const cluster = await Cluster.open({
      nodes: builds.length,
      hasGrpc: true,
      env: { TOLLGATE_WEBHOOK_NETWORKS: "127.0.0.0/8" },
    });
    const fronts: GatewayNode[] = [];
    try {
      const first = cluster.node(0);
      const operator = await firstOperator({ url: first.url, told: first.log });
      const code = await cluster.node(1).stop();
      if (code !== 0) run.fail(`${cluster.node(1).name} ended with ${code}`);
      await cluster.node(1).start(builds[1]);
      for (const [place, core] of cluster.nodes.entries()) {
        const front = frontOf(cluster, core, builds[1 - place] ?? "");
        fronts.push(front);
        await front.start();
      }
      await cluster.makeAccount("load", CALL_NANOS * 1_000_000n);
      const { secret } = await cluster.makeKey("load");
      const load = new Load(cluster, { key: secret, callersPerNode: 1, pauseMs: 50 }, "all");
      await crossAll({ cluster, fronts, operator }, rounds, run);
      const outcomes = await load.stop();
      run.say(`beside them ${tallyOf(outcomes)}`);
      if (outcomes.some(({ status }) => status !== 200)) run.fail("a request was refused");
      for (const problem of await cluster.verify()) run.fail(`the ledger: ${problem}`);
    } finally {
      await Promise.all(fronts.map((front) => front.kill()));
      await cluster.close();
      newer.remove();
    }
  },
};

interface Builds {
  readonly cluster: Cluster;
  /** Of each node's core one, of the other build. */
  readonly fronts: readonly GatewayNode[];
  readonly operator: Browser;
}

/** From the older build to the newer, and from the newer to the older. */
async function crossAll({ cluster, fronts, operator }: Builds, rounds: number, run: Run): Promise<void> {
  for (const { name, cross } of SUBJECTS) {
    const counts = [0, 0];
    const startMs = performance.now();
    for (let turn = 0; turn < rounds * 2; turn += 1) {
      const place = turn % 2;
      const [here, there, front] = [cluster.node(place), cluster.node(1 - place), fronts[place]];
      if (front === undefined) throw new Error("each core has a front end");
      const account = `${name.toLowerCase().replaceAll(" ", "-")}-${turn}`;
      const crossing = new Crossing({ cluster, here, there, front, operator, account });
      const way = place === 0 ? "from older to newer" : "from newer to older";
      await cross(crossing).catch((error: unknown) => run.fail(`${name}, ${way}: ${String(error)}`));
      counts[place] = (counts[place] ?? 0) + crossing.count;
    }
    const tookMs = Math.round(performance.now() - startMs);
    run.say(`${name}: ${counts[0]} requests from older to newer and ${counts[1]} back, in ${tookMs} ms`);
  }
}

function frontOf(cluster: Cluster, core: GatewayNode, build: string): GatewayNode {
  return new GatewayNode({
    name: `front of ${core.name}`,
    directory: join(cluster.directory, `front-of-${core.name}`),
    settings: "",
    env: { TOLLGATE_CORE: core.grpc },
    build,
    within: [],
    host: "127.0.0.1",
    hasGrpc: false,
  });
}
