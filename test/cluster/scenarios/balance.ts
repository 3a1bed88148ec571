/** One balance, many callers at many nodes: exactly what it pays for is charged, and nobody is told a false 402. */
import { CALL_NANOS, Cluster } from "../cluster.js";
import { tallyOf } from "../load.js";
import type { Run, Scenario } from "../scenario.js";

const NODES = 3;
const PARALLEL = 1_000;
const PAID = 10;

export const balance: Scenario = {
  name: "balance",
  claim: "of 1,000 parallel calls for a balance of 10, ten are charged and served, and the others are refused at last",
  small: 2,
  full: 20,
  run: async (rounds, run) => {
    const cluster = await Cluster.open({ nodes: NODES });
    try {
      for (let round = 0; round < rounds; round += 1) await oneRound(cluster, `round-${round}`, run);
      for (const problem of await cluster.verify()) run.fail(`the ledger: ${problem}`);
    } finally {
      await cluster.close();
    }
  },
};

async function oneRound(cluster: Cluster, account: string, run: Run): Promise<void> {
  // Calls before leave leases at some of the nodes.
  const before = Math.floor(Math.random() * 30);
  await cluster.makeAccount(account, CALL_NANOS * BigInt(PAID + before));
  const keys = await Promise.all([0, 1, 2].map(() => cluster.makeKey(account)));
  const keyOf = (place: number): string => keys[place % keys.length]?.secret ?? "";
  for (let call = 0; call < before; call += 1) {
    const place = Math.floor(Math.random() * NODES);
    const answer = await cluster.callers.insist(cluster.nodes, keyOf(place), `${account}-before-${call}`, {
      first: place,
    });
    if (answer.status !== 200) run.fail(`${account}: a call before was answered ${answer.status} ${answer.code}`);
  }
  const startMs = performance.now();
  const answers = await Promise.all(
    Array.from({ length: PARALLEL }, (_, call) =>
      cluster.callers.insist(cluster.nodes, keyOf(call), `${account}-${call}`, { first: call }),
    ),
  );
  const tookMs = Math.round(performance.now() - startMs);
  const served = answers.filter(({ status }) => status === 200).length;
  const refused = answers.filter(({ status }) => status === 402).length;
  const upstream = [...cluster.upstream.served].filter(([user]) => user.startsWith(`${account}-`));
  const asked = upstream.reduce((sum, [, count]) => sum + count, 0) - before;
  const { available, held, spent } = await cluster.balance(account);
  const charged = spent / CALL_NANOS - BigInt(before);
  const retries = answers.reduce((sum, { tries }) => sum + tries - 1, 0);
  run.say(
    `${account}: ${before} before; ${served} served, ${refused} refused (${tallyOf(answers)}), ${retries} retries,` +
      ` ${asked} asked upstream, ${charged} charged in ${tookMs} ms`,
  );
  if (served !== PAID || charged !== BigInt(PAID) || refused !== PARALLEL - PAID || asked !== PAID)
    run.fail(`${account}: not exactly ${PAID}`);
  if (held !== 0n || available !== 0n) run.fail(`${account}: ${held} held and ${available} available are left`);
}
