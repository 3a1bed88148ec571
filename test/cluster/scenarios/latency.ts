/**
 * What a gateway adds to one caller's calls where its PostgreSQL is 2 ms away, and how much of that is the distance:
 * the same calls are made with the database as near as it can be, and through a bare pass-through, in turns.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { BUILD, CALL_NANOS, Cluster } from "../cluster.js";
import { percentile } from "../load.js";
import type { Run, Scenario } from "../scenario.js";
import { type SlowProxy, startSlowProxy } from "../slow-proxy.js";

const AWAY_MS = 2;
const ADDED_MS_MAX = 0.4;
const WARM_UP = 300;
/** So many calls are made at one distance before the other. */
const TURN_CALLS = 50;

export const latency: Scenario = {
  name: "latency",
  claim: `beside a PostgreSQL that is ${AWAY_MS} ms away one caller waits at most ${ADDED_MS_MAX} ms longer (p50)`,
  small: 500,
  full: 3_000,
  run: async (calls, run) => {
    const proxies: SlowProxy[] = [];
    const databaseUrl = async (url: string): Promise<string> => {
      const proxy = await startSlowProxy(url, AWAY_MS);
      proxies.push(proxy);
      return proxy.url;
    };
    const cluster = await Cluster.open({ nodes: 1, databaseUrl });
    const passThrough = await startPassThrough(new URL(cluster.upstream.url).origin);
    try {
      await measure(cluster, passThrough.url, { calls, setAwayMs: (ms) => proxies.forEach((one) => one.set(ms)) }, run);
    } finally {
      passThrough.child.kill();
      await cluster.close();
      for (const proxy of proxies) proxy.close();
    }
  },
};

async function measure(
  cluster: Cluster,
  passThroughUrl: string,
  { calls, setAwayMs }: { readonly calls: number; readonly setAwayMs: (ms: number) => void },
  run: Run,
): Promise<void> {
  await cluster.makeAccount("acme", CALL_NANOS * 1_000_000n);
  const { secret } = await cluster.makeKey("acme");
  const time = async (url: string, name: string): Promise<number> => {
    const startMs = performance.now();
    const { status } = await cluster.callers.chat(url, secret, name);
    if (status !== 200) run.fail(`a call was answered ${status}`);
    return performance.now() - startMs;
  };
  const [far, near, bare, past]: [number[], number[], number[], number[]] = [[], [], [], []];
  for (let call = -WARM_UP; call < 2 * calls; call += 1) {
    const isFar = Math.floor(call / TURN_CALLS) % 2 === 0;
    setAwayMs(isFar ? AWAY_MS : 0);
    // In turns, so that all are measured in the same weather.
    const through = await time(cluster.node(0).url, `through-${call}`);
    const times = [
      await time(passThroughUrl, `bare-${call}`),
      await time(new URL(cluster.upstream.url).origin, `past-${call}`),
    ];
    if (call < 0) continue;
    (isFar ? far : near).push(through);
    bare.push(times[0] ?? NaN);
    past.push(times[1] ?? NaN);
  }
  const p50 = (ms: readonly number[]): number => percentile(ms, 0.5);
  const added = p50(far) - p50(past);
  const told = (ms: number): string => ms.toFixed(2);
  run.say(
    `p50 ${told(p50(far))} ms through, ${told(p50(past))} ms past: ${told(added)} ms added (p99` +
      ` ${told(percentile(far, 0.99))} and ${told(percentile(past, 0.99))}); of it ${told(p50(far) - p50(near))} ms by` +
      ` the distance of the database, and ${told(p50(bare) - p50(past))} ms are those of a bare pass-through`,
  );
  if (added > ADDED_MS_MAX) run.fail(`${told(added)} ms are added, more than ${ADDED_MS_MAX}`);
}

/** The least that a gateway can be, in a process of its own as the gateway is. */
async function startPassThrough(upstream: string): Promise<{ readonly url: string; readonly child: ChildProcess }> {
  const program = join(BUILD, "test/bench/baseline-pass-through.mjs");
  const child = spawn(process.execPath, [program, upstream], { stdio: ["pipe", "pipe", "inherit"] });
  const port = await new Promise<number>((resolve, reject) => {
    child.once("exit", (code) => reject(new Error(`the pass-through ended with ${code}`)));
    createInterface({ input: child.stdout }).once("line", (line) => resolve(Number(/\d+/.exec(line)?.[0])));
  });
  return { url: `http://127.0.0.1:${port}`, child };
}
