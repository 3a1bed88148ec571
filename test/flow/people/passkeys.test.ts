/** Passkeys over HTTP and gRPC: with the core here or elsewhere, and on two nodes of one database. */
import { credentials } from "@grpc/grpc-js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type IdentityServiceClient, IdentityServiceService } from "../../../src/api/index.js";
import { Browser, firstOperator } from "../../support/browser.js";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.js";
import { clientOf } from "../../support/grpc-clients.js";
import { failureOf } from "../../support/grpc-refusal.js";
import { Management } from "../../support/management.js";
import { createDatabase, postgresMissing } from "../../support/postgres.js";
import { OWN_REDIS_MISSING, type RedisServer, startRedis } from "../../support/redis-server.js";
import { type Lies, SoftAuthenticator } from "../../support/soft-authenticator.js";
import { SWEPT_TOPOLOGIES } from "../../support/topologies.js";

const PASSWORD = "another long enough password";
const PUBLIC_URL = "https://llm.example.com";
const SECRET = "a root secret of this test, long enough";
const ENV = { TOLLGATE_PUBLIC_URL: PUBLIC_URL, TOLLGATE_SECRET: SECRET };

interface Person {
  readonly browser: Browser;
  readonly email: string;
  readonly authenticator: SoftAuthenticator;
  readonly codes: readonly string[];
}

/** Somebody new of the account, with a passkey. */
async function personOf(operator: Browser, at: Pick<GatewayProcess, "url">, name: string): Promise<Person> {
  const { body } = await operator.call("POST", "/accounts/acme/invitations", { role: "admin" });
  const browser = new Browser(at);
  const email = `${name}@example.com`;
  const joined = await browser.call("POST", "/invitations:accept", { token: body["token"], email, password: PASSWORD });
  expect(joined.status, JSON.stringify(joined.body)).toBe(200);
  const authenticator = new SoftAuthenticator(PUBLIC_URL);
  const begun = await browser.call("POST", "/session/passkeys:begin", {});
  const credential = authenticator.create(String(begun.body["options"]));
  const added = await browser.call("POST", "/session/passkeys", { name: "Phone", credential });
  expect(added.status, JSON.stringify(added.body)).toBe(200);
  return { browser, email, authenticator, codes: added.body["recovery_codes"] as readonly string[] };
}

async function optionsOf(at: Pick<GatewayProcess, "url">, email: string): Promise<string> {
  const { body } = await new Browser(at).call("POST", "/sessions:beginPasskey", { email, password: PASSWORD });
  return String(body["options"]);
}

function signIn(at: Pick<GatewayProcess, "url">, email: string, passkey: string): ReturnType<Browser["call"]> {
  return new Browser(at).call("POST", "/sessions", { email, password: PASSWORD, passkey });
}

describe.each(SWEPT_TOPOLOGIES)("passkeys, %s", (topology) => {
  let core: GatewayProcess;
  let front: GatewayProcess;
  let operator: Browser;

  beforeAll(async () => {
    core = await startGateway({ env: ENV });
    front =
      topology === "one process"
        ? core
        : await startGateway({ env: { TOLLGATE_CORE: core.grpc, TOLLGATE_SECRET: SECRET } });
    operator = await firstOperator(core, front);
    await new Management(front).account("acme", 1n);
  });
  afterAll(async () => {
    if (front !== core) await front.stop();
    await core.stop();
  });

  test("a person adds one, is asked for it, signs in with it, proves a session, renames and removes it", async () => {
    const { browser, email, authenticator, codes } = await personOf(operator, front, "grace");
    expect(codes).toHaveLength(10);
    const session = await browser.call("GET", "/session");
    expect(session.body).toMatchObject({ user: { second_factor: true }, passkey_origin: PUBLIC_URL });
    const asked = await new Browser(front).signIn(email, PASSWORD);
    expect([asked.status, asked.reason, asked.setCookie]).toEqual([401, "SECOND_FACTOR_MISSING", null]);
    const signedIn = await signIn(front, email, authenticator.use(await optionsOf(front, email)));
    expect(signedIn.body).toMatchObject({ user: { email } });
    expect(signedIn.setCookie).toContain("tollgate=");

    const proof = await browser.call("POST", "/session:beginPasskeyProof", {});
    const passkey = authenticator.use(String(proof.body["options"]));
    const prove = (): ReturnType<Browser["call"]> =>
      browser.call("POST", "/session:prove", { password: PASSWORD, passkey });
    expect((await prove()).status).toBe(200);
    expect((await prove()).reason).toBe("SIGN_IN_REFUSED");

    const { body } = await browser.call("GET", "/session/passkeys");
    const [one] = body["passkeys"] as readonly { id: string; use_time: string }[];
    expect(one).toMatchObject({ name: "Phone", host: "llm.example.com", use_time: expect.any(String) as string });
    const renamed = await browser.call("PATCH", `/session/passkeys/${one?.id}`, { name: "Old phone" });
    expect(renamed.body).toMatchObject({ passkey: { name: "Old phone" } });
    expect((await operator.call("DELETE", `/session/passkeys/${one?.id}`)).reason).toBe("RESOURCE_UNKNOWN");
    expect((await browser.call("DELETE", `/session/passkeys/${one?.id}`)).status).toBe(200);
    expect((await new Browser(front).signIn(email, PASSWORD)).status).toBe(200);
  });

  test.each<{ name: string; lies: Lies }>([
    { name: "another origin", lies: { origin: "https://evil.example" } },
    { name: "the origin that the client names in its headers", lies: { origin: "http://127.0.0.1" } },
    { name: "another host name", lies: { rpId: "evil.example" } },
    { name: "a challenge of nobody", lies: { challenge: "AAAAAAAAAAAAAAAAAAAAAA" } },
    { name: "a counter that went back", lies: { counter: 0 } },
  ])("a sign-in with $name is answered as one with a wrong password", async ({ name, lies }) => {
    const { email, authenticator } = await personOf(operator, front, `liar-${name.length}`);
    expect((await signIn(front, email, authenticator.use(await optionsOf(front, email)))).status).toBe(200);
    const refused = await signIn(front, email, authenticator.use(await optionsOf(front, email), lies));
    const wrong = await new Browser(front).signIn("nobody@example.com", PASSWORD);
    expect([refused.status, refused.body, refused.setCookie]).toEqual([wrong.status, wrong.body, null]);
  });

  test("what is asked for a passkey does not tell whether an address exists", async () => {
    const { email } = await personOf(operator, front, "hidden");
    const begin = (address: string): ReturnType<Browser["call"]> =>
      new Browser(front).call("POST", "/sessions:beginPasskey", { email: address, password: "a wrong password" });
    const [known, unknown] = [await begin(email), await begin("nobody@example.com")];
    expect([known.status, known.body]).toEqual([unknown.status, unknown.body]);
    expect(known.reason).toBe("SIGN_IN_REFUSED");
  });

  test("over gRPC a passkey signs in once, and one of another person not at all", async () => {
    const [ours, theirs] = [await personOf(operator, front, "ours"), await personOf(operator, front, "theirs")];
    const Client = clientOf<IdentityServiceClient>(IdentityServiceService, "IdentityService");
    const client = new Client(core.grpc, credentials.createInsecure());
    const { email } = ours;
    const options = await new Promise<string>((resolve, reject) => {
      client.beginPasskeySignIn({ email, password: PASSWORD }, (error, answer) =>
        error === null ? resolve(answer.options) : reject(error),
      );
    });
    const reasonOf = async (passkey: string): Promise<string> => {
      const request = { email, password: PASSWORD, code: "", passkey, userAgent: "a program" };
      return (await failureOf("", (metadata, done) => client.signIn(request, metadata, done))).reason;
    };
    const answer = ours.authenticator.use(options);
    expect(await reasonOf(theirs.authenticator.use(options))).toBe("SIGN_IN_REFUSED");
    expect(await reasonOf(answer)).toBe("");
    expect(await reasonOf(answer)).toBe("SIGN_IN_REFUSED");
    client.close();
  });
});

test("a gateway without a public address has passkeys for its own machine's pages alone", async () => {
  const gateway = await startGateway();
  const operator = await firstOperator(gateway);
  const port = new URL(gateway.url).port;
  expect((await operator.call("GET", "/session")).body).toMatchObject({ passkey_origin: `http://localhost:${port}` });
  const begin = async (): Promise<string> =>
    String((await operator.call("POST", "/session/passkeys:begin", {})).body["options"]);
  const create = async (origin: string): Promise<string | null> => {
    const credential = new SoftAuthenticator(origin).create(await begin());
    return (await operator.call("POST", "/session/passkeys", { name: "Phone", credential })).reason;
  };
  // Another page of the machine is not ours, whatever the request's own headers say.
  for (const origin of ["http://localhost:1", "https://localhost", gateway.url])
    expect(await create(origin), origin).toBe("PARAMETER_INVALID");
  expect(await create(`http://localhost:${port}`)).toBeNull();
  await gateway.stop();
});

const missing = postgresMissing ?? OWN_REDIS_MISSING;

describe.skipIf(missing !== undefined)(`passkeys on two nodes ${missing ?? ""}`, () => {
  let redis: RedisServer;
  let database: Awaited<ReturnType<typeof createDatabase>>;
  let [here, there]: GatewayProcess[] = [];
  let operator: Browser;

  beforeAll(async () => {
    [redis, database] = [await startRedis(), await createDatabase()];
    const redisUrl = `redis://127.0.0.1:${redis.port}`;
    const env = { ...ENV, TOLLGATE_DATABASE_URL: database.url, TOLLGATE_REDIS_URL: redisUrl };
    [here, there] = [await startGateway({ env }), await startGateway({ env })];
    operator = await firstOperator(here);
    await new Management(here).account("acme", 1n);
  });
  afterAll(async () => {
    await Promise.all([here?.stop(), there?.stop()]);
    await Promise.all([redis.close(), database.drop()]);
  });

  const node = (gateway: GatewayProcess | undefined): GatewayProcess => {
    if (gateway === undefined) throw new Error("the node did not start");
    return gateway;
  };

  test("a challenge of one node is answered on the other, and once of both", async () => {
    const { email, authenticator } = await personOf(operator, node(here), "grace");
    const answer = authenticator.use(await optionsOf(node(here), email));
    expect((await signIn(node(there), email, answer)).status).toBe(200);
    for (const at of [here, there]) expect((await signIn(node(at), email, answer)).reason).toBe("SIGN_IN_REFUSED");
    const atOnce = authenticator.use(await optionsOf(node(there), email));
    const tries = await Promise.all([here, there].map((at) => signIn(node(at), email, atOnce)));
    expect(tries.map(({ status }) => status).sort()).toEqual([200, 401]);
  });

  test("one that is removed on one node signs in on none, and an operator's reset takes all", async () => {
    const { browser, email, authenticator } = await personOf(operator, node(here), "joan");
    const options = await optionsOf(node(there), email);
    const { body } = await operator.call("GET", "/users");
    const { id = "" } =
      (body["users"] as readonly { id: string; email: string }[]).find((u) => u.email === email) ?? {};
    expect((await operator.call("POST", `/users/${id}:reset`, { second_factor: true })).status).toBe(200);
    expect((await browser.call("GET", "/session")).reason).toBe("SESSION_ENDED");
    // Without a second factor the password is enough, and the passkey is no part of it.
    expect((await signIn(node(there), email, authenticator.use(options))).status).toBe(200);
    const other = new Browser(node(there));
    await other.signIn(email, PASSWORD);
    expect((await other.call("GET", "/session/passkeys")).body).toMatchObject({ passkeys: [] });
  });
});
