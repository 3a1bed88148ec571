/** Two nodes on one database share limits in Redis: without it the second is refused while the first one lives. */
import { expect, test } from "vitest";
import { tollgate } from "../../support/command.js";
import { type GatewayProcess, OPERATOR_KEY, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";
import { readMetrics } from "../../support/metrics-reading.js";
import { makeDatabase, postgresMissing } from "../../support/postgres.js";
import { OWN_REDIS_MISSING, startRedis } from "../../support/redis-server.js";

const ADDRESSES = { TOLLGATE_HTTP: "127.0.0.1:0", TOLLGATE_GRPC: "127.0.0.1:0" };

const FIRST_FILE = "accounts:\n  acme: {}\n";
const SECOND_FILE = "accounts:\n  acme: {}\n  other: {}\n";
const PATIENT = { timeout: 60_000, interval: 200 };

/** Nodes whose files differ are named by the command, in the log and by a metric, until the files are one. */
async function expectDiffering([first, second]: readonly GatewayProcess[]): Promise<void> {
  if (first === undefined || second === undefined) throw new Error("there are two nodes");
  const differing = async (gateway: GatewayProcess): Promise<number | undefined> =>
    (await readMetrics(gateway)).value("tollgate_nodes_differing");
  for (const gateway of [first, second]) await expect.poll(() => differing(gateway), PATIENT).toBe(1);
  const { body } = await new Management(first).call("GET", "/nodes");
  const nodes = body["nodes"] as { id: string; answering: boolean; http_address: string }[];
  expect(nodes.map((node) => `http://${node.http_address}`).sort()).toEqual([first.url, second.url].sort());
  const own = nodes.find(({ answering }) => answering)?.id ?? "";
  const told = await tollgate(["nodes", "--gateway", second.grpc], { TOLLGATE_OPERATOR_KEY: OPERATOR_KEY });
  expect(told.stderr).toMatch(
    new RegExp(`accepted its settings last .* in force on ${own}: bring the files up to date`),
  );
  for (const gateway of [first, second]) await gateway.logged("nodes have different settings", own);
  first.writeSettings(SECOND_FILE);
  for (const gateway of [first, second]) await expect.poll(() => differing(gateway), PATIENT).toBe(0);
}

test.skipIf(postgresMissing !== undefined || OWN_REDIS_MISSING !== undefined)(
  `a second node without Redis is refused while the first one lives ${postgresMissing ?? OWN_REDIS_MISSING ?? ""}`,
  async () => {
    const env = {
      ...ADDRESSES,
      TOLLGATE_DATABASE_URL: await makeDatabase(),
      TOLLGATE_SECRET: "a root secret of this test, long enough",
    };
    const first = await startGateway({ env });
    const refused = await tollgate(["serve"], env);
    expect(refused.code).toBe(3);
    expect(refused.stderr).toMatch(/another node \(\S+\) runs on the same TOLLGATE_DATABASE_URL: .*TOLLGATE_REDIS_URL/);
    // One that died is seen not to beat, and is no reason.
    await first.kill();
    const next = await startGateway({ env });
    await next.kill();
    const redis = await startRedis();
    try {
      const shared = { ...env, TOLLGATE_REDIS_URL: `redis://127.0.0.1:${redis.port}` };
      const both = [
        await startGateway({ env: shared, settings: FIRST_FILE }),
        await startGateway({ env: shared, settings: SECOND_FILE }),
      ];
      await expectDiffering(both);
      for (const node of both) expect(await node.stop()).toBe(0);
    } finally {
      await redis.close();
    }
  },
  180_000,
);
