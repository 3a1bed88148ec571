/**
 * The deployment of the pages under what they are for: the database is away for 3 s, straight or behind PgBouncer, and
 * all nodes are. Every refusal is in the gateway's envelope, and no call fails that begins a second after the outage.
 */
import { setTimeout as pause } from "node:timers/promises";
import { OPERATOR_KEY } from "../../support/gateway-process.js";
import { startPgbouncer } from "../../support/pgbouncer.js";
import { type Balancer, balancerMissing, startBalancer } from "../balancer.js";
import type { Asked } from "../callers.js";
import { CALL_NANOS, Cluster, type ClusterOptions, MODEL } from "../cluster.js";
import { tallyOf } from "../load.js";
import type { Run, Scenario } from "../scenario.js";

const NODES = 2;
const AWAY_MS = 3_000;
const BACK_MS_MAX = 1_000;
/** For how long after the outage calls are watched. */
const AFTER_MS = 8_000;
const PROBE_MS = 25;
/** Each needs the database once before a node serves it without. */
const ACCOUNTS = 40;
const ENVELOPE = ["code", "message", "param", "type"];

interface Probe {
  readonly startMs: number;
  readonly status: number;
  readonly code: string;
  readonly isEnvelope: boolean;
}

/** Brings something down, and back; resolves with the moment at which it was back. */
type Outage = (cluster: Cluster) => Promise<number>;

export const outages: readonly Scenario[] = [
  scenario("outage-database", "the database was away", loseDatabase, {}),
  scenario("outage-pgbouncer", "the database was away behind the PgBouncer of the page", loseDatabase, {
    databaseUrl: startPgbouncer,
  }),
  scenario("outage-nodes", "no node was there", loseNodes, {}),
];

function scenario(name: string, event: string, outage: Outage, options: Partial<ClusterOptions>): Scenario {
  const claim = `where ${event} for 3 s, refusals are ours, and no call fails that begins a second after it`;
  return { name, claim, small: 1, full: 5, run: (count, run) => loop(count, outage, options, run) };
}

async function loop(count: number, outage: Outage, options: Partial<ClusterOptions>, run: Run): Promise<void> {
  const missing = balancerMissing();
  if (missing !== undefined) throw new Error(missing);
  const cluster = await Cluster.open({ nodes: NODES, ...options });
  const balancer = await startBalancer(cluster.nodes);
  try {
    const keys: string[] = [];
    for (let place = 0; place < ACCOUNTS * count; place += 1) {
      await cluster.makeAccount(`acme-${place}`, CALL_NANOS * 10_000n);
      keys.push((await cluster.makeKey(`acme-${place}`)).secret);
    }
    for (let turn = 0; turn < count; turn += 1) {
      const probes = new Probes(cluster, balancer, keys.slice(turn * ACCOUNTS, (turn + 1) * ACCOUNTS));
      await pause(1_000);
      const backMs = await outage(cluster);
      await pause(AFTER_MS);
      judge(await probes.stop(), backMs, run);
    }
    for (const problem of await cluster.verify()) run.fail(`the ledger: ${problem}`);
  } finally {
    await balancer.close();
    await cluster.close();
  }
}

function judge(seen: readonly Probe[], backMs: number, run: Run): void {
  const failed = seen.filter(({ status }) => status !== 200);
  const lastMs = Math.round(Math.max(...failed.map(({ startMs }) => startMs)) - backMs);
  run.say(`${tallyOf(seen)}; the last call that failed began ${lastMs} ms after it was back`);
  if (failed.length === 0) run.fail("nothing failed, so nothing is shown");
  if (lastMs > BACK_MS_MAX) run.fail(`a call failed that began ${lastMs} ms after it was back`);
  const bare = failed.filter(({ status, isEnvelope }) => status !== 503 || !isEnvelope);
  if (bare.length > 0) run.fail(`not ours: ${tallyOf(bare)}`);
}

async function loseDatabase({ database }: Cluster): Promise<number> {
  await database.kill();
  await pause(AWAY_MS);
  await database.start();
  return performance.now();
}

async function loseNodes({ nodes }: Cluster): Promise<number> {
  await Promise.all(nodes.map((node) => node.kill()));
  await pause(AWAY_MS);
  await Promise.all(nodes.map((node) => node.start()));
  return performance.now();
}

/** A call to a model and one of management, so often, whatever became of those before. */
class Probes {
  readonly #seen: Promise<Probe>[] = [];
  readonly #timer: NodeJS.Timeout;

  constructor(cluster: Cluster, { url }: Balancer, keys: readonly string[]) {
    const send = async (asked: Asked): Promise<Probe> => {
      const startMs = performance.now();
      const { status, code, body } = await cluster.callers.ask(url, asked);
      const isEnvelope =
        Object.keys(body["error"] ?? {})
          .toSorted()
          .join() === ENVELOPE.join();
      return { startMs, status, code, isEnvelope };
    };
    let turn = 0;
    this.#timer = setInterval(() => {
      turn += 1;
      const user = `probe-${turn}`;
      const body = { model: MODEL, messages: [{ role: "user", content: "Is it so?" }], user };
      const key = keys[turn % keys.length] ?? "";
      this.#seen.push(send({ method: "POST", path: "/v1/chat/completions", key, body }));
      this.#seen.push(send({ method: "GET", path: "/api/v1/accounts/acme-0/balance", key: OPERATOR_KEY }));
    }, PROBE_MS);
  }

  stop(): Promise<readonly Probe[]> {
    clearInterval(this.#timer);
    return Promise.all(this.#seen);
  }
}
