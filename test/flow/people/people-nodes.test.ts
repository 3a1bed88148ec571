/** A person's session ends on every node at once, and with it whatever runs there: two gateways on one database. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chat, postChat } from "../../support/chat-call.js";
import { Browser, firstOperator } from "../../support/browser.js";
import { type FakeUpstream, script, startFakeUpstream } from "../../support/fake-upstream.js";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";
import { createDatabase, postgresMissing } from "../../support/postgres.js";
import { OWN_REDIS_MISSING, type RedisServer, startRedis } from "../../support/redis-server.js";
import { settingsFor } from "../../support/world.js";

const PASSWORD = "another long enough password";
const SLOW = { words: 2_000, eventDelayMs: 40 };
/** Of a stream that must end within a second, four times over: its nodes share a busy machine with others. */
const EVENTS_MAX = (4 * 1_000) / SLOW.eventDelayMs;
/** Ten times what it may take. */
const WAIT = { timeout: 60_000, interval: 20 };
const missing = postgresMissing ?? OWN_REDIS_MISSING;

interface Running {
  /** All that came so far. */
  text: string;
  ended: boolean;
}

function eventsIn({ text }: Running): number {
  return text.split("\ndata:").length;
}

describe.skipIf(missing !== undefined)(`on two nodes ${missing ?? ""}`, () => {
  let upstream: FakeUpstream;
  let redis: RedisServer;
  let database: Awaited<ReturnType<typeof createDatabase>>;
  let [here, there]: GatewayProcess[] = [];
  let operator: Browser;

  beforeAll(async () => {
    [upstream, redis] = await Promise.all([startFakeUpstream(), startRedis()]);
    database = await createDatabase();
    const env = {
      TOLLGATE_DATABASE_URL: database.url,
      TOLLGATE_REDIS_URL: `redis://127.0.0.1:${redis.port}`,
      TOLLGATE_SECRET: "a root secret of this test, long enough",
    };
    const start = (): Promise<GatewayProcess> => startGateway({ settings: settingsFor(upstream.url), env });
    [here, there] = [await start(), await start()];
    operator = await firstOperator(here);
    await new Management(here).account("acme", 100_000_000_000n);
    await person("olga", "owner");
  });
  afterAll(async () => {
    await Promise.all([here?.kill(), there?.kill()]);
    await Promise.all([redis.close(), upstream.close(), database.drop()]);
  });

  const node = (gateway: GatewayProcess | undefined): GatewayProcess => {
    if (gateway === undefined) throw new Error("the node did not start");
    return gateway;
  };

  async function person(name: string, role: string): Promise<{ browser: Browser; id: string; email: string }> {
    const { body } = await operator.call("POST", "/accounts/acme/invitations", { role });
    const browser = new Browser(node(here));
    const email = `${name}@example.com`;
    const joined = await browser.call("POST", "/invitations:accept", {
      token: body["token"],
      email,
      password: PASSWORD,
    });
    expect(joined.status, JSON.stringify(joined.body)).toBe(200);
    return { browser, id: (joined.body["user"] as { id: string }).id, email };
  }

  /** A stream on the other node, with the cookie as a thief would have it. */
  async function run(browser: Browser, path: string, body?: object): Promise<Running> {
    const { url } = node(there);
    const response = await fetch(`${url}/api/v1${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: {
        origin: url,
        "x-tollgate-console": "1",
        cookie: [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; "),
        "content-type": "application/json",
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    expect([response.status, response.headers.get("x-tollgate-reason")]).toEqual([200, null]);
    const running: Running = { text: "", ended: false };
    const decoder = new TextDecoder();
    const read = async (): Promise<void> => {
      for await (const piece of response.body ?? [])
        running.text += decoder.decode(piece as Uint8Array, { stream: true });
    };
    void read()
      .catch(() => undefined)
      .finally(() => (running.ended = true));
    return running;
  }

  const playground = async (browser: Browser): Promise<Running> => {
    const body = chat(script(SLOW), { stream: true });
    const running = await run(browser, "/accounts/acme/playground/chat/completions", body);
    await expect.poll(() => running.text, WAIT).toContain("data:");
    return running;
  };

  type Act = (who: { browser: Browser; id: string; email: string }) => Promise<{ readonly status: number }>;
  test.each<{ name: string; act: Act; reason: RegExp }>([
    {
      name: "signs out everywhere",
      act: ({ browser }) => browser.call("POST", "/sessions:end", {}),
      reason: /session_ended/,
    },
    {
      name: "changes the password",
      act: ({ browser }) =>
        browser.call("POST", "/session:changePassword", { password: PASSWORD, new_password: `${PASSWORD} 2` }),
      reason: /session_ended/,
    },
    {
      name: "is removed from the installation",
      act: ({ id }) => operator.call("DELETE", `/users/${id}`),
      // The session and what the person could spend end together.
      reason: /session_ended|invalid_api_key/,
    },
    {
      name: "gets a link for a new password",
      act: ({ id }) => operator.call("POST", `/users/${id}:reset`, {}),
      reason: /session_ended/,
    },
    {
      name: "is no member any more",
      act: ({ id }) => operator.call("DELETE", `/accounts/acme/members/${id}`),
      reason: /not_found|invalid_api_key/,
    },
    {
      name: "may only look",
      act: ({ id }) => operator.call("PATCH", `/accounts/acme/members/${id}`, { role: "viewer" }),
      reason: /role_missing/,
    },
  ])("what runs elsewhere ends when the person $name, and others' goes on", async ({ name, act, reason }) => {
    const tag = name.replaceAll(" ", "-");
    const [one, other] = [await person(`one-${tag}`, "admin"), await person(`other-${tag}`, "admin")];
    const [answer, events, others] = await Promise.all([
      playground(one.browser),
      run(one.browser, "/events:watch"),
      playground(other.browser),
    ]);
    expect((await act(one)).status).toBe(200);
    const came = eventsIn(answer);
    await expect.poll(() => [answer.ended, events.ended], WAIT).toEqual([true, true]);
    expect(eventsIn(answer) - came).toBeLessThanOrEqual(EVENTS_MAX);
    expect(answer.text).toMatch(reason);
    expect(answer.text).not.toContain("[DONE]");
    expect(others.ended).toBe(false);
    expect((await other.browser.call("POST", "/sessions:end", {})).status).toBe(200);
    await expect.poll(() => others.ended, WAIT).toBe(true);
  });

  test("a stolen cookie opens nothing on the other node from the very next request on", async () => {
    const { browser } = await person("robbed", "admin");
    const thief = new Browser(node(there));
    for (const [name, value] of browser.cookies) thief.cookies.set(name, value);
    expect((await thief.call("GET", "/session")).status).toBe(200);
    expect((await browser.call("POST", "/sessions:end", {})).status).toBe(200);
    expect((await thief.call("GET", "/session")).status).toBe(401);
    expect((await thief.call("GET", "/accounts/acme")).status).toBe(401);
  });

  test("a key may do less at the other node from the very next request on, once its person may", async () => {
    const { browser, id } = await person("demoted", "admin");
    const settings = { scopes: ["chat", "models"] };
    const { secret } = (await browser.call("POST", "/keys", { settings })).body as { readonly secret: string };
    const status = async (): Promise<number> => (await postChat(node(there), secret, chat("Hello"))).status;
    for (const [role, want] of Object.entries({ member: 200, viewer: 403, owner: 200 })) {
      expect((await operator.call("PATCH", `/accounts/acme/members/${id}`, { role })).status).toBe(200);
      expect(await status(), role).toBe(want);
    }
  });

  test("one session that ends leaves the person's others as they are", async () => {
    const { browser, email } = await person("two", "admin");
    const other = new Browser(node(there));
    await other.signIn(email, PASSWORD);
    const [mine, others] = [await playground(browser), await playground(other)];
    expect((await browser.call("DELETE", "/sessions/current")).status).toBe(200);
    await expect.poll(() => mine.ended, WAIT).toBe(true);
    const length = others.text.length;
    await expect.poll(() => others.text.length, WAIT).toBeGreaterThan(length);
    expect(others.ended).toBe(false);
  });
});
