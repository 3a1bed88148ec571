/** A sign-in at an issuer begins on one node and ends on another: two gateways on one database. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Browser } from "../../support/browser.js";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.js";
import { CLIENT, startIssuer, type TestIssuer } from "../../support/issuer.js";
import { beginAt, comeBack, issuerSettings } from "../../support/issuer-gateway.js";
import { createDatabase, postgresMissing } from "../../support/postgres.js";
import { OWN_REDIS_MISSING, type RedisServer, startRedis } from "../../support/redis-server.js";

const missing = postgresMissing ?? OWN_REDIS_MISSING;

describe.skipIf(missing !== undefined)(`on two nodes ${missing ?? ""}`, () => {
  let redis: RedisServer;
  let database: Awaited<ReturnType<typeof createDatabase>>;
  let corp: TestIssuer;
  let open: TestIssuer;
  const nodes: GatewayProcess[] = [];

  beforeAll(async () => {
    [redis, database] = [await startRedis(), await createDatabase()];
    [corp, open] = [await startIssuer(), await startIssuer()];
    const env = {
      TOLLGATE_DATABASE_URL: database.url,
      TOLLGATE_REDIS_URL: `redis://127.0.0.1:${redis.port}`,
      TOLLGATE_SECRET: "a root secret of this test, long enough",
      CORP_SECRET: CLIENT.secret,
    };
    for (let count = 0; count < 2; count++)
      nodes.push(await startGateway({ settings: issuerSettings(corp, open), env }));
    for (const issuer of [corp, open])
      issuer.serve(
        nodes.map(({ url }) => url),
        ["corp", "open"],
      );
  });
  afterAll(async () => {
    await Promise.all(nodes.map((node) => node.stop()));
    await Promise.all([corp.close(), open.close(), redis.close(), database.drop()]);
  });

  /** The same browser as the other node sees it. */
  function at(index: number, cookies: ReadonlyMap<string, string> = new Map()): Browser {
    const node = nodes[index];
    if (node === undefined) throw new Error("there is no such node");
    const browser = new Browser(node);
    for (const [name, value] of cookies) browser.cookies.set(name, value);
    return browser;
  }

  test("one begins it, the other ends it, once of both, and signing out ends it on both", async () => {
    const here = at(0);
    const back = await open.signIn(await beginAt(here, "open"), "ada");
    const there = at(1, here.cookies);
    expect((await comeBack(there, back)).body).toMatchObject({ user: { email: "ada@example.com" } });
    // The issuer would not take its code again; the gateway asks for no second session by its own count either.
    expect((await comeBack(at(0, here.cookies), back)).reason).toBe("OIDC_SIGN_IN_REFUSED");
    const session = at(0, there.cookies);
    expect((await session.call("GET", "/session")).status).toBe(200);
    expect((await there.call("POST", "/sessions:end", {})).status).toBe(200);
    expect((await session.call("GET", "/session")).reason).toBe("SESSION_ENDED");
  });

  test("of one person who comes by both at once, one user is made", async () => {
    open.people.set("twin", { sub: "twin", email: "twin@example.com", email_verified: true });
    const browsers = [at(0), at(1)];
    const backs = await Promise.all(
      browsers.map(async (browser) => open.signIn(await beginAt(browser, "open"), "twin")),
    );
    const answers = await Promise.all(
      browsers.map((browser, index) => comeBack(browser, backs[index] ?? new URL("http://x"))),
    );
    const ids = answers.flatMap(({ body }) => (body["user"] as { id: string } | undefined)?.id ?? []);
    expect(new Set(ids).size).toBe(1);
    for (const { status, reason } of answers) if (status !== 200) expect(reason).toBe("OIDC_SIGN_IN_REFUSED");
  });
});
