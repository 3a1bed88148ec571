/** What a Redis that has become slow costs one caller, once the node has seen it. */
import { setTimeout as pause } from "node:timers/promises";
import { Cluster, FREE_MODEL } from "../cluster.js";
import { percentile } from "../load.js";
import type { Scenario } from "../scenario.js";
import { type SlowProxy, startSlowProxy } from "../slow-proxy.js";

const SLOW_MS = 50;
const ADDED_MS_MAX = 5;
/** How long the node may take to see that Redis is slow, or well again. */
const SEEN_MS_MAX = 20_000;

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
    const cluster = await Cluster.open({ nodes: 1, redisUrl });
    try {
      await cluster.makeAccount("acme", 0n);
      const { secret } = await cluster.makeKey("acme", { requests_per_minute: "1000000" });
      const ask = (name: string) => cluster.callers.chat(cluster.node(0).url, secret, name, { model: FREE_MODEL });
      const until = async (isDegraded: boolean): Promise<number> => {
        const startMs = performance.now();
        while ((await ask("until")).isDegraded !== isDegraded) {
          if (performance.now() - startMs > SEEN_MS_MAX) throw new Error(`degraded is not ${isDegraded}`);
          await pause(10);
        }
        return Math.round(performance.now() - startMs);
      };
      const timed = async (name: string): Promise<readonly [p50: number, p99: number]> => {
        const times: number[] = [];
        for (let call = 0; call < calls; call += 1) {
          const startMs = performance.now();
          const { status, code } = await ask(`${name}-${call}`);
          times.push(performance.now() - startMs);
          if (status !== 200) run.fail(`a call was answered ${status} ${code}`);
        }
        return [percentile(times, 0.5), percentile(times, 0.99)];
      };
      await timed("warm");
      await until(false);
      const quick = await timed("quick");
      for (const proxy of proxies) proxy.set(SLOW_MS);
      const openMs = await until(true);
      const slow = await timed("slow");
      for (const proxy of proxies) proxy.set(0);
      const closedMs = await until(false);
      const told = (ms: readonly number[]): string => ms.map((one) => one.toFixed(2)).join(" and ");
      run.say(
        `p50 and p99 ${told(quick)} ms beside a quick Redis, ${told(slow)} beside one that is ${SLOW_MS} ms late;` +
          ` the breaker opened after ${openMs} ms, and was closed ${closedMs} ms after Redis was quick again`,
      );
      const added = slow[0] - quick[0];
      if (added > ADDED_MS_MAX) run.fail(`${added.toFixed(2)} ms are added`);
    } finally {
      await cluster.close();
      for (const proxy of proxies) proxy.close();
    }
  },
};
