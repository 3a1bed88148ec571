/**
 * What a gateway adds to one caller's calls where its PostgreSQL is 2 ms away, and how much of that is the distance:
 * the same calls are made with the database as near as it can be, and through a bare pass-through, in turns. A turn is
 * some calls one right after the other, so that no process is timed as it is woken after those of the others.
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
/** So many calls are made in one way before the next. */
const TURN_CALLS = 50;
/** Before anything is timed: V8 goes on compiling what a call runs for a few thousand of them. */
const WARM_UP_TURNS = 80;

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
  const turn = async (url: string, name: string): Promise<number[]> => {
    const times: number[] = [];
    for (let call = 0; call < TURN_CALLS; call += 1) {
      const startMs = performance.now();
      const { status } = await cluster.callers.chat(url, secret, `${name}-${call}`);
      if (status !== 200) run.fail(`a call was answered ${status}`);
      times.push(performance.now() - startMs);
    }
    return times;
  };
  const [far, near, bare, past]: [number[], number[], number[], number[]] = [[], [], [], []];
  const turns = Math.ceil((2 * calls) / TURN_CALLS);
  for (let place = -WARM_UP_TURNS; place < turns; place += 1) {
    const isFar = place % 2 === 0;
    setAwayMs(isFar ? AWAY_MS : 0);
    const through = await turn(cluster.node(0).url, `through-${place}`);
    const bareTimes = await turn(passThroughUrl, `bare-${place}`);
    const pastTimes = await turn(new URL(cluster.upstream.url).origin, `past-${place}`);
    if (place < 0) continue;
    (isFar ? far : near).push(...through);
    bare.push(...bareTimes);
    past.push(...pastTimes);
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
