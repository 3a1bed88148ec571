/** Two nodes on one database share limits in Redis: without it the second is refused while the first one lives. */
import { expect, test } from "vitest";
import { tollgate } from "../support/command.js";
import { startGateway } from "../support/gateway-process.js";
import { makeDatabase, postgresMissing } from "../support/postgres.js";
import { OWN_REDIS_MISSING, startRedis } from "../support/redis-server.js";

const ADDRESSES = { TOLLGATE_HTTP: "127.0.0.1:0", TOLLGATE_GRPC: "127.0.0.1:0" };

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
      const both = [await startGateway({ env: shared }), await startGateway({ env: shared })];
      for (const node of both) expect(await node.stop()).toBe(0);
    } finally {
      await redis.close();
    }
  },
  180_000,
);
