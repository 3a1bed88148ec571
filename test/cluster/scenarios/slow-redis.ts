/**
 * What a Redis that is slow for one node costs that node's callers: they are timed in turns with those of a node beside
 * the same Redis for which it is quick, so that both meet the same weather.
 */
import { setTimeout as pause } from "node:timers/promises";
import { Cluster, FREE_MODEL } from "../cluster.js";
import { percentile } from "../load.js";
import type { Run, Scenario } from "../scenario.js";
import { type SlowProxy, startSlowProxy } from "../slow-proxy.js";

const SLOW_MS = 50;
const ADDED_MS_MAX = 5;
/** How long the node may take to see that Redis is slow, or well again. */
const SEEN_MS_MAX = 20_000;
const [QUICK, SLOWED] = [0, 1];

export const slowRedis: Scenario = {
  name: "slow-redis",
  claim: `a Redis that answers ${SLOW_MS} ms late adds at most ${ADDED_MS_MAX} ms (p50) once the breaker is open`,
  small: 300,
  full: 3_000,
  run: async (calls, run) => {
    const proxies: SlowProxy[] = [];
    const redisUrl = async (url: string): Promise<string> => {
      const proxy = await startSlowProxy(url, 0);
      proxies.push(proxy);
      return proxy.url;
    };
    const cluster = await Cluster.open({ nodes: 2, redisUrl });
    try {
      await measure(cluster, calls, (ms) => proxies[SLOWED]?.set(ms), run);
    } finally {
      await cluster.close();
      for (const proxy of proxies) proxy.close();
    }
  },
};

async function measure(cluster: Cluster, calls: number, setSlowMs: (ms: number) => void, run: Run): Promise<void> {
  await cluster.makeAccount("acme", 0n);
  const { secret } = await cluster.makeKey("acme", { requests_per_minute: "1000000" });
  const ask = (place: number, name: string) =>
    cluster.callers.chat(cluster.node(place).url, secret, name, { model: FREE_MODEL });
  const until = async (isDegraded: boolean): Promise<number> => {
    const startMs = performance.now();
    while ((await ask(SLOWED, "until")).isDegraded !== isDegraded) {
      if (performance.now() - startMs > SEEN_MS_MAX) throw new Error(`degraded is not ${isDegraded}`);
      await pause(10);
    }
    return Math.round(performance.now() - startMs);
  };
  const timed = async (name: string): Promise<readonly [quick: readonly number[], slowed: readonly number[]]> => {
    const times: [number[], number[]] = [[], []];
    let alone = 0;
    for (let call = 0; call < 2 * calls; call += 1) {
      // Neither is always the first.
      const place = (call + (call >> 1)) % 2 === 0 ? QUICK : SLOWED;
      const startMs = performance.now();
      const { status, code, isDegraded } = await ask(place, `${name}-${call}`);
      times[place]?.push(performance.now() - startMs);
      if (status !== 200) run.fail(`a call was answered ${status} ${code}`);
      if (isDegraded) alone += 1;
    }
    const told = times.map((some) => [0.5, 0.99].map((share) => percentile(some, share).toFixed(2)).join(" and "));
    run.say(`${name}: p50 and p99 ${told[QUICK]} ms on one node, ${told[SLOWED]} on the other; ${alone} decided alone`);
    return times;
  };
  await timed("warm");
  await until(false);
  const even = await timed("both quick");
  setSlowMs(SLOW_MS);
  const openMs = await until(true);
  const apart = await timed("one slow");
  setSlowMs(0);
  const closedMs = await until(false);
  const differenceMs = ([quick, slowed]: readonly [readonly number[], readonly number[]]): number =>
    percentile(slowed, 0.5) - percentile(quick, 0.5);
  run.say(
    `the breaker opened after ${openMs} ms, and was closed ${closedMs} ms after Redis was quick again; one node is` +
      ` ${differenceMs(apart).toFixed(2)} ms slower than the other, where it was ${differenceMs(even).toFixed(2)} before`,
  );
  const added = differenceMs(apart);
  if (added > ADDED_MS_MAX) run.fail(`${added.toFixed(2)} ms are added`);
}
