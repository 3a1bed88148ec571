/**
 * A key is revoked, or an account frozen, on one node: the next request on each other is refused. A node that Redis
 * does not answer in time goes by what it remembers, as documented: trials that met that are counted and told apart.
 */
import { setTimeout as pause } from "node:timers/promises";
import { AwayWatch } from "../away-watch.js";
import { Cluster, FREE_MODEL } from "../cluster.js";
import type { Run, Scenario } from "../scenario.js";

const NODES = 3;
const LANES = 8;

/** Of all trials, as many may meet a node without Redis: with more of them nothing was shown. */
const AWAY_SHARE_MAX = 0.02;

/** Sentences of what was answered otherwise than it should. */
type Trial = (cluster: Cluster, name: string) => Promise<readonly string[]>;

export const revoke: Scenario = {
  name: "revoke",
  claim: "a key that is revoked on one node is refused on the others from the next request on",
  small: 300,
  full: 10_000,
  run: (trials, run) => tryAll(trials, run, revokeOnce),
};

export const freeze: Scenario = {
  name: "freeze",
  claim: "an account that is frozen on one node is refused on the others from the next request on",
  small: 300,
  full: 10_000,
  run: (trials, run) => tryAll(trials, run, freezeOnce),
};

async function tryAll(trials: number, run: Run, once: Trial): Promise<void> {
  const cluster = await Cluster.open({ nodes: NODES });
  const watch = new AwayWatch(cluster.nodes);
  try {
    let next = 0;
    let stale = 0;
    let away = 0;
    const startMs = performance.now();
    const lane = async (name: string): Promise<void> => {
      await cluster.makeAccount(name, 0n);
      while (next < trials) {
        next += 1;
        const sinceMs = performance.now();
        const wrong = await once(cluster, name);
        if (wrong.length === 0) continue;
        if (await watch.wasAwayAfter(sinceMs)) {
          away += 1;
          // What could not be told is told by then, so that the next trial begins as it should.
          await pause(AwayWatch.afterMs);
          continue;
        }
        stale += 1;
        for (const sentence of wrong) run.fail(sentence);
      }
    };
    await Promise.all(Array.from({ length: LANES }, (_, place) => lane(`lane-${place}`)));
    const seconds = ((performance.now() - startMs) / 1000).toFixed(1);
    run.say(
      `${trials} trials on ${NODES} nodes in ${seconds} s: ${stale} wrong, and ${away} beside a node without Redis`,
    );
    if (away > trials * AWAY_SHARE_MAX) run.fail(`${away} trials met a node without Redis`);
  } finally {
    watch.close();
    await cluster.close();
  }
}

async function revokeOnce(cluster: Cluster, account: string): Promise<readonly string[]> {
  const first = Math.floor(Math.random() * NODES);
  const { id, secret } = await cluster.makeKey(account, {}, first);
  const look = async (): Promise<number[]> => {
    const paths = cluster.nodes.map(({ url }) => ({ url, method: "GET", path: "/v1/models", key: secret }));
    return (await Promise.all(paths.map(({ url, ...asked }) => cluster.callers.ask(url, asked)))).map(
      ({ status }) => status,
    );
  };
  const before = await look();
  await cluster.manage(first, "DELETE", `/keys/${id}`);
  const after = await look();
  return [
    ...said(before, (status) => status !== 200, "a new key was answered"),
    ...said(after, (status) => status !== 401, "a revoked key was answered"),
  ];
}

async function freezeOnce(cluster: Cluster, account: string): Promise<readonly string[]> {
  const first = Math.floor(Math.random() * NODES);
  const key = await keyOf(cluster, account);
  const look = async (): Promise<number[]> => {
    const asked = cluster.nodes.map(({ url }) => cluster.callers.chat(url, key, account, { model: FREE_MODEL }));
    return (await Promise.all(asked)).map(({ status }) => status);
  };
  const before = await look();
  await cluster.manage(first, "POST", `/accounts/${account}:freeze`, { reason: "a trial" });
  const after = await look();
  await cluster.manage(first, "POST", `/accounts/${account}:unfreeze`, {});
  return [
    ...said(before, (status) => status !== 200, "an account that is not frozen was answered"),
    ...said(after, (status) => status === 200, "a frozen account was answered"),
  ];
}

function said(statuses: readonly number[], isWrong: (status: number) => boolean, what: string): readonly string[] {
  return statuses.some(isWrong) ? [`${what} ${statuses.join(", ")}`] : [];
}

const keys = new WeakMap<Cluster, Map<string, string>>();

async function keyOf(cluster: Cluster, account: string): Promise<string> {
  const known = keys.get(cluster) ?? new Map<string, string>();
  keys.set(cluster, known);
  const key = known.get(account) ?? (await cluster.makeKey(account)).secret;
  known.set(account, key);
  return key;
}
