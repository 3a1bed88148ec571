/** What breaks under load, one after the other, and comes back: the money is right, and so is what callers are told. */
import { setTimeout as pause } from "node:timers/promises";
import { CALL_NANOS, Cluster } from "../cluster.js";
import { Load, type Outcome, tallyOf } from "../load.js";
import { Network, type Side } from "../network.js";
import type { Run, Scenario } from "../scenario.js";

const NODES = 3;
const ACCOUNT = "acme";
const CALLERS_PER_NODE = 3;
const PAUSE_MS = 30;
/** How long an orphan may be unresolved, and how long all may take to be back. */
const ORPHAN_MS_MAX = 20_000;
const BACK_MS_MAX = 5_000;
const WAIT_MS_MAX = 60_000;
/** What a node that is killed may have begun without a durable word: 50 ms of its callers' calls. */
const LOST_PER_DEATH = CALLERS_PER_NODE * 2;
const CUT_MS = 16_000;
const CLOCK_OFF_MS = 600_000;
const SERVED_SHARE_MIN = 0.999;

interface World {
  readonly cluster: Cluster;
  readonly load: Load;
  readonly run: Run;
  /** Counts the deaths after which calls may be uncharged. */
  deaths: number;
  trial: number;
}

type Fault = (world: World) => Promise<void>;

/** One scenario for each kind of fault, and one for all of them in turn. */
export const faults: readonly Scenario[] = [
  scenario("kill-node", "orphans of a killed node are settled by another within 20 s", [killNode]),
  scenario("suspend-node", "a node that was suspended writes nothing that others have settled", [suspendNode]),
  scenario("clock", "a node whose clock is ten minutes off serves, and money and limits are right", [setClock]),
  scenario("kill-redis", "without Redis 99.9 % of calls are served", [killRedis]),
  scenario("kill-postgres", "without PostgreSQL nobody is told 402 or served free, and all are back within 5 s", [
    (world) => losePostgres(world, () => world.cluster.database.kill()),
    (world) => losePostgres(world, () => world.cluster.database.stopImmediately()),
  ]),
  { ...scenario("cut-redis", "a node that is cut from Redis serves", [(world) => cut(world, "redis")]), apart: true },
  {
    ...scenario("cut-postgres", "a node that is cut from PostgreSQL says 503, and is back within 5 s", [
      (world) => cut(world, "database"),
    ]),
    apart: true,
  },
];

function scenario(name: string, claim: string, kinds: readonly Fault[]): Scenario {
  return {
    name,
    claim,
    small: kinds.length,
    full: 10 * kinds.length,
    run: (count, run) => loop(name, kinds, count, run),
  };
}

async function loop(name: string, kinds: readonly Fault[], count: number, run: Run): Promise<void> {
  const apart = name.startsWith("cut-");
  if (apart && !Network.isPossible()) throw new Error("network namespaces need root and `ip` (Debian: iproute2)");
  const cluster = await Cluster.open({ nodes: NODES, apart });
  try {
    await cluster.makeAccount(ACCOUNT, CALL_NANOS * 10_000_000n);
    const { secret } = await cluster.makeKey(ACCOUNT);
    const load = new Load(cluster, { key: secret, callersPerNode: CALLERS_PER_NODE, pauseMs: PAUSE_MS }, name);
    const world: World = { cluster, load, run, deaths: 0, trial: 0 };
    await pause(2_000);
    for (; world.trial < count; world.trial += 1) {
      await kinds[world.trial % kinds.length]?.(world);
      await pause(1_000);
    }
    const outcomes = await load.stop();
    await expectMoney(world, outcomes);
  } finally {
    await cluster.close();
  }
}

/** Nothing is charged that was not served, nothing served free, and the ledger holds. */
async function expectMoney({ cluster, run, deaths }: World, outcomes: readonly Outcome[]): Promise<void> {
  const served = outcomes.filter(({ status }) => status === 200).length;
  const lostMax = deaths * LOST_PER_DEATH;
  // What could not be written while the database was away is written, with growing pauses, once it is back.
  const isWritten = async (): Promise<boolean> => {
    const { held, spent } = await cluster.balance(ACCOUNT);
    return held === 0n && served - Number(spent / CALL_NANOS) <= lostMax;
  };
  await waitFor(isWritten, ORPHAN_MS_MAX + BACK_MS_MAX);
  const { held, spent } = await cluster.balance(ACCOUNT);
  if (held !== 0n) run.fail(`${held} nano-USD are still held`);
  const charged = Number(spent / CALL_NANOS);
  const asked = [...cluster.upstream.served.values()].reduce((sum, count) => sum + count, 0);
  const twice = [...cluster.upstream.served].filter(([, count]) => count > 1).length;
  run.say(`${tallyOf(outcomes)}; ${asked} asked upstream, ${charged} charged, ${served} served`);
  if (charged > asked) run.fail(`${charged - asked} calls were charged that the upstream never saw`);
  if (served - charged > lostMax) run.fail(`${served - charged} calls were served free`);
  if (twice > 0) run.fail(`${twice} calls were sent upstream twice`);
  const refused = outcomes.filter(({ status }) => status === 402 || status === 401).length;
  if (refused > 0) run.fail(`${refused} calls were refused for want of money or a key, and both were there`);
  for (const problem of await cluster.verify()) run.fail(`the ledger: ${problem}`);
}

async function killNode(world: World): Promise<void> {
  const { cluster, run } = world;
  const place = world.trial % NODES;
  const victim = await openOrphan(world, place);
  await cluster.node(place).kill();
  world.deaths += 1;
  const tookMs = await waitFor(async () => (await cluster.balance(victim, place + 1)).held === 0n, WAIT_MS_MAX);
  run.say(`node ${place} killed: its orphan was resolved after ${Math.round(tookMs)} ms`);
  if (tookMs > ORPHAN_MS_MAX) run.fail(`an orphan took ${Math.round(tookMs)} ms`);
  expectOthers(world, place, performance.now() - tookMs, performance.now());
  await cluster.node(place).start();
}

async function suspendNode(world: World): Promise<void> {
  const { cluster, run } = world;
  const place = world.trial % NODES;
  const victim = await openOrphan(world, place);
  const startMs = performance.now();
  cluster.node(place).suspend();
  const tookMs = await waitFor(async () => (await cluster.balance(victim, place + 1)).held === 0n, WAIT_MS_MAX);
  expectOthers(world, place, startMs, performance.now());
  cluster.node(place).resume();
  world.deaths += 1;
  const backMs = await backAfter(world, [place]);
  run.say(`node ${place} suspended: its orphan was resolved after ${Math.round(tookMs)} ms; back in ${backMs} ms`);
  if (tookMs > ORPHAN_MS_MAX) run.fail(`an orphan took ${Math.round(tookMs)} ms`);
}

async function setClock(world: World): Promise<void> {
  const { cluster, load, run } = world;
  const place = world.trial % NODES;
  const startMs = performance.now();
  cluster.node(place).setClock(world.trial % 2 === 0 ? CLOCK_OFF_MS : -CLOCK_OFF_MS);
  await pause(8_000);
  cluster.node(place).setClock(0);
  await pause(2_000);
  const seen = load.between(startMs, performance.now());
  run.say(`node ${place} ten minutes off: ${tallyOf(seen)}`);
  if (seen.some(({ status }) => status !== 200)) run.fail("calls were refused for a clock");
}

async function killRedis(world: World): Promise<void> {
  const { cluster, load, run } = world;
  const startMs = performance.now();
  await cluster.redis.kill();
  await pause(8_000);
  await cluster.redis.start();
  await pause(2_000);
  const seen = load.between(startMs, performance.now());
  const share = seen.filter(({ status }) => status === 200).length / seen.length;
  run.say(`Redis killed: ${tallyOf(seen)}: ${(share * 100).toFixed(3)} % served`);
  if (share < SERVED_SHARE_MIN) run.fail(`only ${(share * 100).toFixed(2)} % were served without Redis`);
}

async function losePostgres(world: World, lose: () => Promise<void>): Promise<void> {
  const { cluster, load, run } = world;
  const startMs = performance.now();
  await lose();
  await pause(4_000);
  await cluster.database.start();
  const backMs = await backAfter(world, [...cluster.nodes.keys()]);
  run.say(`PostgreSQL gone for ${Math.round(performance.now() - startMs - backMs)} ms, back in ${backMs} ms`);
  expectHonest(world, load.between(startMs, performance.now()));
  if (backMs > BACK_MS_MAX) run.fail(`all were back only after ${backMs} ms`);
}

/** Takes a node's link down for a while. */
async function cut(world: World, side: Side): Promise<void> {
  const { cluster, load, run } = world;
  const place = world.trial % NODES;
  const startMs = performance.now();
  cluster.network?.cut(place, side);
  // A request waits up to 10 s for money that is held exactly.
  await pause(CUT_MS);
  const cutEndMs = performance.now();
  cluster.network?.mend(place, side);
  const backMs = await backAfter(world, [place]);
  const seen = load.between(startMs, cutEndMs).filter(({ node }) => node === place);
  run.say(`node ${place} cut from ${side}: ${tallyOf(seen)}; back in ${backMs} ms`);
  expectOthers(world, place, startMs, cutEndMs);
  expectHonest(world, seen);
  if (seen.length === 0) run.fail("it answered nobody");
  if (backMs > BACK_MS_MAX) run.fail(`it was back only after ${backMs} ms`);
  const share = seen.filter(({ status }) => status === 200).length / seen.length;
  if (side === "redis" && share < SERVED_SHARE_MIN) run.fail(`only ${(share * 100).toFixed(2)} % were served`);
}

/** While the ledger is away the answer is a 503, or what a lease covers; nothing else. */
function expectHonest({ run }: World, seen: readonly Outcome[]): void {
  const odd = seen.filter(({ status }) => status !== 200 && status !== 503);
  if (odd.length > 0) run.fail(`other answers than 200 and 503: ${tallyOf(odd)}`);
}

/** What breaks at one node is not felt at the others. */
function expectOthers({ load, run }: World, place: number, fromMs: number, toMs: number): void {
  const others = load.between(fromMs, toMs).filter(({ node }) => node !== place);
  const refused = others.filter(({ status }) => status !== 200);
  if (others.length === 0) run.fail("the other nodes served nothing");
  if (refused.length > others.length * (1 - SERVED_SHARE_MIN)) run.fail(`other nodes: ${tallyOf(others)}`);
}

/** Begins a stream of an account of its own at a node, and resolves once its hold can be seen. */
async function openOrphan({ cluster, trial }: World, place: number): Promise<string> {
  const victim = `victim-${trial}`;
  await cluster.makeAccount(victim, CALL_NANOS * 10n);
  const { secret } = await cluster.makeKey(victim);
  void cluster.callers.chat(cluster.node(place).url, secret, victim, { tookMs: 120_000, stream: true });
  await waitFor(async () => (await cluster.balance(victim, place + 1)).held > 0n, WAIT_MS_MAX);
  return victim;
}

/** How long it takes from now until each of the nodes serves. */
async function backAfter({ load }: World, places: readonly number[]): Promise<number> {
  const startMs = performance.now();
  await waitFor(() => Promise.resolve(load.servedAgainMs(startMs, places) < Infinity), WAIT_MS_MAX);
  return Math.round(load.servedAgainMs(startMs, places) - startMs);
}

/** How long it took; the whole wait where it never came. A question that fails is asked again. */
async function waitFor(isSo: () => Promise<boolean>, waitMs: number): Promise<number> {
  const startMs = performance.now();
  while (performance.now() - startMs < waitMs) {
    if (await isSo().catch(() => false)) break;
    await pause(50);
  }
  return performance.now() - startMs;
}
