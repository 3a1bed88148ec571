/** Two versions of the program on one database: both serve while one follows the other, and one too old is refused. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chat, postChat } from "../../support/chat-call.js";
import { tollgate } from "../../support/command.js";
import { type FakeUpstream, startFakeUpstream } from "../../support/fake-upstream.js";
import { type GatewayProcess, OPERATOR_KEY, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";
import { LATER_STEP } from "../../support/newer-build.js";
import { type OtherBuild, otherBuild, type SchemaStep } from "../../support/other-build.js";
import { pace } from "../../support/pauses.js";
import { administer, createDatabase, postgresMissing } from "../../support/postgres.js";
import { OWN_REDIS_MISSING, type RedisServer, startRedis } from "../../support/redis-server.js";
import { settingsFor } from "../../support/world.js";

const PATIENT = { timeout: 60_000, interval: 200 };
const missing = postgresMissing ?? OWN_REDIS_MISSING;
/** Behind the step that an older program need not know of, one that it cannot live with. */
const BREAK: SchemaStep = {
  version: LATER_STEP.version + 1,
  sql: "ALTER TABLE later_thing ADD COLUMN name text;",
  serves: { version: LATER_STEP.version, program: "0.8.0" },
};

describe.skipIf(missing !== undefined)(`an older build and a newer one ${missing ?? ""}`, () => {
  let upstream: FakeUpstream;
  let redis: RedisServer;
  let database: Awaited<ReturnType<typeof createDatabase>>;
  let url: string;
  let env: Record<string, string>;
  const builds: OtherBuild[] = [];
  const running: GatewayProcess[] = [];

  beforeAll(async () => {
    upstream = await startFakeUpstream();
    redis = await startRedis();
    database = await createDatabase();
    ({ url } = database);
    env = {
      TOLLGATE_DATABASE_URL: url,
      TOLLGATE_REDIS_URL: `redis://127.0.0.1:${redis.port}`,
      TOLLGATE_SECRET: "a root secret of this test, long enough",
    };
  });
  afterAll(async () => {
    for (const gateway of running) await gateway.kill();
    for (const build of builds) build.remove();
    await database.drop();
    await upstream.close();
    await redis.close();
  });

  function build(version: string, steps: readonly SchemaStep[] = []): string {
    const made = otherBuild(version, steps);
    builds.push(made);
    return made.directory;
  }

  async function start(directory: string): Promise<GatewayProcess> {
    const gateway = await startGateway({ settings: settingsFor(upstream.url), env, build: directory });
    running.push(gateway);
    return gateway;
  }

  /** It ends before it listens, and says why in one line. */
  async function expectRefused(directory: string, why: string): Promise<void> {
    const given = { ...env, TOLLGATE_OPERATOR_KEY: OPERATOR_KEY };
    const refused = await tollgate(["serve"], given, undefined, 60_000, directory);
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr.trim().split("\n")).toHaveLength(1);
    expect(refused.stderr).toContain(why);
  }

  test("serve together, without a refused request while one follows the other, until one is too old", async () => {
    const older = build("0.1.7");
    const newer = build("0.7.0", [LATER_STEP]);
    const first = await start(older);
    const management = new Management(first);
    await management.account("acme", 100_000_000_000n);
    const { secret } = await management.makeKey("acme");

    // While the older one serves, the newer one brings the database on and begins.
    const statuses: number[] = [];
    const load = new AbortController();
    const caller = (async () => {
      while (!load.signal.aborted) {
        statuses.push((await postChat(first, secret, chat("Is it so?"))).status);
        await pace(10);
      }
    })();
    const second = await start(newer);
    const version = async (): Promise<unknown> => (await administer("SELECT version FROM tollgate_schema", url))[0];
    expect(await version()).toEqual({ version: String(LATER_STEP.version) });
    const { secret: made } = await new Management(second).makeKey("acme");
    for (const gateway of [first, second])
      for (const key of [secret, made]) expect((await postChat(gateway, key, chat("Hello"))).status).toBe(200);
    load.abort();
    await caller;
    expect(statuses.length).toBeGreaterThan(3);
    expect(new Set(statuses)).toEqual(new Set([200]));
    const versions = async (): Promise<string[]> => {
      const { body } = await new Management(second).call("GET", "/nodes");
      return (body["nodes"] as { version: string }[]).map((node) => node.version).toSorted();
    };
    await expect.poll(versions, PATIENT).toEqual(["0.1.7", "0.7.0"]);

    // Back to the older one, as a roll-back does: the schema still serves it.
    expect(await first.stop()).toBe(0);
    const again = await start(older);
    expect((await postChat(again, made, chat("Hello"))).status).toBe(200);
    expect(await again.stop()).toBe(0);

    // The next version ends that: who runs goes on, and who is too old says so and does not begin.
    const third = await start(build("0.9.0", [LATER_STEP, BREAK]));
    expect(await version()).toEqual({ version: String(BREAK.version) });
    for (const gateway of [second, third]) expect((await postChat(gateway, made, chat("Hello"))).status).toBe(200);
    await expectRefused(
      older,
      `has schema version ${BREAK.version}, which serves Tollgate 0.8.0 and later: this program is older`,
    );
    const otherwise = build("0.8.5", [{ ...LATER_STEP, sql: "CREATE TABLE later_thing (id text PRIMARY KEY);" }]);
    await expectRefused(
      otherwise,
      `was made by another build, whose schema version ${LATER_STEP.version} was never released`,
    );
    expect(await second.stop()).toBe(0);
    await new Management(third).verify();
    expect(await third.stop()).toBe(0);
  }, 180_000);
});
