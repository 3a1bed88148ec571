/** A key is revoked, or an account frozen, on one node: the next request on each other is refused. */
import { Cluster, FREE_MODEL } from "../cluster.js";
import type { Run, Scenario } from "../scenario.js";

const NODES = 3;
const LANES = 8;

/** What was asked of a node after the change, and how it answered. */
type Trial = (cluster: Cluster, name: string, run: Run) => Promise<number>;

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
  try {
    let next = 0;
    let stale = 0;
    const startMs = performance.now();
    const lane = async (name: string): Promise<void> => {
      await cluster.makeAccount(name, 0n);
      while (next < trials) {
        next += 1;
        stale += await once(cluster, name, run);
      }
    };
    await Promise.all(Array.from({ length: LANES }, (_, place) => lane(`lane-${place}`)));
    const seconds = ((performance.now() - startMs) / 1000).toFixed(1);
    run.say(`${trials} trials on ${NODES} nodes in ${seconds} s: ${stale} stale`);
    if (stale > 0) run.fail(`${stale} requests were let in after the change`);
  } finally {
    await cluster.close();
  }
}

async function revokeOnce(cluster: Cluster, account: string, run: Run): Promise<number> {
  const first = Math.floor(Math.random() * NODES);
  const { id, secret } = await cluster.makeKey(account, {}, first);
  const look = async (): Promise<number[]> => {
    const paths = cluster.nodes.map(({ url }) => ({ url, method: "GET", path: "/v1/models", key: secret }));
    return (await Promise.all(paths.map(({ url, ...asked }) => cluster.callers.ask(url, asked)))).map(
      ({ status }) => status,
    );
  };
  const before = await look();
  if (before.some((status) => status !== 200)) run.fail(`a new key was answered ${before.join(", ")}`);
  await cluster.manage(first, "DELETE", `/keys/${id}`);
  return (await look()).filter((status) => status !== 401).length;
}

async function freezeOnce(cluster: Cluster, account: string, run: Run): Promise<number> {
  const first = Math.floor(Math.random() * NODES);
  const key = await keyOf(cluster, account);
  const look = async (): Promise<number[]> => {
    const asked = cluster.nodes.map(({ url }) => cluster.callers.chat(url, key, account, { model: FREE_MODEL }));
    return (await Promise.all(asked)).map(({ status }) => status);
  };
  const before = await look();
  if (before.some((status) => status !== 200))
    run.fail(`an account that is not frozen was answered ${before.join(", ")}`);
  await cluster.manage(first, "POST", `/accounts/${account}:freeze`, { reason: "a trial" });
  const after = await look();
  await cluster.manage(first, "POST", `/accounts/${account}:unfreeze`, {});
  return after.filter((status) => status === 200).length;
}

const keys = new WeakMap<Cluster, Map<string, string>>();

async function keyOf(cluster: Cluster, account: string): Promise<string> {
  const known = keys.get(cluster) ?? new Map<string, string>();
  keys.set(cluster, known);
  const key = known.get(account) ?? (await cluster.makeKey(account)).secret;
  known.set(account, key);
  return key;
}
