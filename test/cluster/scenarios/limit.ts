/** One limit of requests a minute over all nodes: in no 60 seconds are there more. */
import { setTimeout as pause } from "node:timers/promises";
import { Cluster, FREE_MODEL } from "../cluster.js";
import { Load, type Outcome, tallyOf } from "../load.js";
import type { Scenario } from "../scenario.js";
import { readMetrics } from "../../support/metrics-reading.js";

const NODES = 4;
const LIMIT = 240;
const WINDOW_MS = 60_000;
const CALLERS_PER_NODE = 2;
const COUNTED_MS_MAX = 30_000;

type Served = Pick<Outcome, "startMs" | "endMs" | "node" | "isDegraded">;

export const limit: Scenario = {
  name: "limit",
  claim:
    "four nodes that are asked for four times a limit admit no more than it in any 60 seconds, alone no more than their shares",
  small: 70,
  full: 200,
  run: async (seconds, run) => {
    const cluster = await Cluster.open({ nodes: NODES });
    try {
      await everyNodeCounts(cluster);
      await cluster.makeAccount("acme", 0n);
      const { secret } = await cluster.makeKey("acme", { requests_per_minute: String(LIMIT) });
      // Four times the limit, over all callers, were each answered at once.
      const pauseMs = (WINDOW_MS * NODES * CALLERS_PER_NODE) / (4 * LIMIT);
      const load = new Load(
        cluster,
        { key: secret, callersPerNode: CALLERS_PER_NODE, pauseMs, model: FREE_MODEL },
        "x",
      );
      await pause(seconds * 1000);
      const outcomes = await load.stop();
      const served = outcomes.filter(({ status }) => status === 200);
      const alone = outcomes.filter(({ isDegraded }) => isDegraded).length;
      run.say(
        `limit ${LIMIT}, asked ${outcomes.length} times in ${seconds} s: ${tallyOf(outcomes)}; most that began and ended` +
          ` in 60 s: ${mostWithin(WINDOW_MS, served)}, most that came to the upstream:` +
          ` ${mostIn(WINDOW_MS, cluster.upstream.arrivalsMs)}; ${alone} decided without Redis`,
      );
      for (const problem of overLimit(served, LIMIT, NODES)) run.fail(problem);
      if (served.length < LIMIT * Math.floor(seconds / 61)) run.fail(`only ${served.length} were served: too few`);
      if (outcomes.some(({ status }) => status !== 200 && status !== 429)) run.fail("something else than 200 and 429");
    } finally {
      await cluster.close();
    }
  },
};

/** Resolves once each node knows of all: until then its share of a limit is too large. */
async function everyNodeCounts(cluster: Cluster): Promise<void> {
  const endMs = performance.now() + COUNTED_MS_MAX;
  for (const node of cluster.nodes) {
    while ((await readMetrics(node)).value("tollgate_nodes") !== NODES) {
      if (performance.now() > endMs) throw new Error("a node does not know how many there are");
      await pause(200);
    }
  }
}

/**
 * What is more than the rule allows: in any window Redis admits no more than the limit, and a node that decides without
 * it no more than its share.
 */
export function overLimit(served: readonly Served[], limit: number, nodes: number): readonly string[] {
  const problems: string[] = [];
  const judge = (calls: readonly Served[], most: number, whose: string): void => {
    const over = mostWithin(WINDOW_MS, calls) - most;
    if (over > 0) problems.push(`${over} over the ${most} of ${whose} in one window`);
  };
  judge(
    served.filter(({ isDegraded }) => !isDegraded),
    limit,
    "Redis",
  );
  for (let place = 0; place < nodes; place += 1) {
    const alone = served.filter(({ isDegraded, node }) => isDegraded && node === place);
    judge(alone, Math.floor(limit / nodes), `node ${place} alone`);
  }
  return problems;
}

/**
 * The most calls that began and ended in one window, and so were admitted in it: when a call comes to the upstream says
 * less, since some take longer to it than others.
 */
export function mostWithin(
  windowMs: number,
  calls: readonly { readonly startMs: number; readonly endMs: number }[],
): number {
  let most = 0;
  for (const { startMs: fromMs } of calls)
    most = Math.max(most, calls.filter(({ startMs, endMs }) => startMs >= fromMs && endMs < fromMs + windowMs).length);
  return most;
}

/** The most of sorted moments that lie in one window. */
export function mostIn(windowMs: number, momentsMs: readonly number[]): number {
  let most = 0;
  let first = 0;
  for (const [last, ms] of momentsMs.entries()) {
    while (ms - (momentsMs[first] ?? ms) >= windowMs) first += 1;
    most = Math.max(most, last - first + 1);
  }
  return most;
}
