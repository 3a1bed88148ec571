/** People over real HTTP: the first operator's link, sessions and their cookie, with the core here or elsewhere. */
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { SESSION_HEADER } from "../../../src/api/session-headers.js";
import { authenticator } from "../../support/authenticator.js";
import { Browser, FIRST, firstOperator, welcomeToken } from "../../support/browser.js";
import { OPERATOR_KEY, startGateway } from "../../support/gateway-process.js";
import { SWEPT_TOPOLOGIES } from "../../support/topologies.js";
import { startWorld, type World } from "../../support/world.js";

describe.each(SWEPT_TOPOLOGIES)("people, %s", (topology) => {
  let world: World;
  let operator: Browser;
  beforeAll(async () => {
    world = await startWorld(topology);
  });
  afterAll(() => world.close());

  test("the link of the first start makes the first operator, once, and lets that person in", async () => {
    const token = await vi.waitFor(() => welcomeToken(world.core), { timeout: 60_000 });
    const stranger = new Browser(world.front);
    expect((await stranger.call("GET", "/sign-in")).body).toMatchObject({ first_operator_missing: true });
    const wrong = await stranger.call("POST", "/first-operator", { ...FIRST, token: `${token}x` });
    expect([wrong.status, wrong.reason]).toEqual([404, "LINK_INVALID"]);
    const short = await stranger.call("POST", "/first-operator", { ...FIRST, token, password: "short" });
    expect([short.status, short.reason]).toEqual([400, "PARAMETER_INVALID"]);
    expect(stranger.cookies.size).toBe(0);

    operator = await firstOperator(world.core, world.front);
    const who = await operator.call("GET", "/session");
    expect(who.body).toMatchObject({
      user: { email: FIRST.email, name: FIRST.name, installation_role: "operator" },
      session: { current: true, user_agent: "a browser of this test", address: "127.0.0.1" },
      memberships: [],
      role: "owner",
    });
    expect(who.headers.get("cache-control")).toBe("no-store");
    expect(JSON.stringify(who.body)).not.toContain(FIRST.password);

    const again = await stranger.call("POST", "/first-operator", { ...FIRST, email: "eve@example.com", token });
    expect([again.status, again.reason]).toEqual([404, "LINK_INVALID"]);
    expect((await stranger.call("GET", "/sign-in")).body).toMatchObject({ first_operator_missing: false });
  });

  test("signing in sets a cookie that no script reads, and signing out ends the session everywhere", async () => {
    const browser = new Browser(world.front);
    const signedIn = await browser.signIn(` ${FIRST.email.toUpperCase()} `, FIRST.password);
    expect(signedIn.status).toBe(200);
    expect(signedIn.setCookie).toMatch(/^tollgate=[\w-]{43}; Path=\/; Max-Age=604800; HttpOnly; SameSite=Lax$/);
    const token = browser.cookies.get("tollgate") ?? "";
    expect(JSON.stringify([signedIn.body, ...signedIn.headers.entries()].slice(0, 1))).not.toContain(token);
    for (const [name, value] of signedIn.headers) if (name !== "set-cookie") expect(value).not.toContain(token);

    const kept = new Browser(world.front);
    kept.cookies.set("tollgate", token);
    const out = await browser.call("DELETE", "/sessions/current");
    expect([out.status, out.setCookie]).toEqual([200, "tollgate=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax"]);
    const after = await kept.call("GET", "/session");
    expect([after.status, after.reason]).toEqual([401, "SESSION_ENDED"]);
  });

  test("each sign-in is a new session, whatever cookie came before it", async () => {
    const browser = new Browser(world.front);
    browser.cookies.set("tollgate", "a-token-that-somebody-else-chose-1234567890");
    await browser.signIn(FIRST.email, FIRST.password);
    const first = browser.cookies.get("tollgate");
    expect(first).not.toBe("a-token-that-somebody-else-chose-1234567890");
    await browser.signIn(FIRST.email, FIRST.password);
    expect(browser.cookies.get("tollgate")).not.toBe(first);
  });

  test.each([
    { name: "an unknown address", email: "nobody@example.com", password: FIRST.password },
    { name: "a wrong password", email: FIRST.email, password: "another long password" },
    { name: "an address that is none", email: "x", password: FIRST.password },
    { name: "a password as long as a body", email: FIRST.email, password: "x".repeat(100_000) },
  ])("$name is refused as every other failure is", async ({ email, password }) => {
    const refused = await new Browser(world.front).signIn(email, password);
    expect([refused.status, refused.reason, refused.setCookie]).toEqual([401, "SIGN_IN_REFUSED", null]);
    expect(refused.body).toEqual(
      (await new Browser(world.front).signIn("nobody-else@example.com", "wrong wrong")).body,
    );
  });

  test.each([
    { name: "without the console's header", headers: { "x-tollgate-console": undefined } },
    { name: "from another origin", headers: { origin: "https://evil.example" } },
    { name: "from the same host over another scheme's port", headers: { origin: "http://127.0.0.1:1" } },
    { name: "from an opaque origin", headers: { origin: "null" } },
    { name: "that the browser says comes from elsewhere", headers: { "sec-fetch-site": "cross-site" } },
    { name: "that the browser says comes from a neighbouring host", headers: { "sec-fetch-site": "same-site" } },
  ])("a session's cookie is not taken $name", async ({ headers }) => {
    for (const [method, path] of [
      ["GET", "/session"],
      ["GET", "/accounts"],
      ["DELETE", "/sessions/current"],
      ["POST", "/accounts"],
    ] as const) {
      const body = method === "POST" ? { id: "forged" } : undefined;
      const refused = await operator.call(method, path, body, headers);
      expect([method, path, refused.status, refused.reason]).toEqual([method, path, 403, "SESSION_REFUSED"]);
    }
    const signIn = await new Browser(world.front, headers).signIn(FIRST.email, FIRST.password);
    expect([signIn.reason, signIn.setCookie]).toEqual(["SESSION_REFUSED", null]);
    expect((await operator.call("GET", "/accounts/forged")).status).toBe(404);
  });

  test("a change without an origin is refused, and reading without one is not", async () => {
    const change = await operator.call("POST", "/accounts", { id: "forged" }, { origin: undefined });
    expect([change.status, change.reason]).toEqual([403, "SESSION_REFUSED"]);
    expect((await operator.call("GET", "/session", undefined, { origin: undefined })).status).toBe(200);
  });

  test("an operator's session may do what an operator's key may, and a key beside it counts first", async () => {
    expect((await operator.call("POST", "/accounts", { id: `made-${topology.length}` })).status).toBe(200);
    expect((await operator.call("GET", "/nodes")).status).toBe(200);
    const key = await operator.call("GET", "/nodes", undefined, { authorization: `Bearer ${world.secret}` });
    expect([key.status, key.reason]).toEqual([403, "SCOPE_MISSING"]);
    const me = await operator.call("GET", "/session", undefined, { authorization: `Bearer ${OPERATOR_KEY}` });
    expect([me.status, me.reason]).toEqual([403, "USER_MISSING"]);
  });

  test("a session's token is no key: not on the models' routes, not as a bearer, not as a cookie there", async () => {
    const token = operator.cookies.get("tollgate") ?? "";
    const chat = { model: "fake-1", messages: [{ role: "user", content: "hello" }] };
    const withCookie = await operator.call("POST", "/v1/chat/completions", chat);
    expect([withCookie.status, withCookie.reason]).toEqual([401, "KEY_MISSING"]);
    for (const path of ["/v1/models", "/session", "/accounts"]) {
      const bearer = await new Browser(world.front).call("GET", path, undefined, { authorization: `Bearer ${token}` });
      expect([path, bearer.status, bearer.reason]).toEqual([path, 401, "KEY_INVALID"]);
    }
    // A stranger's own word of what a front end alone may tell, by each name that it has.
    for (const name of ["x-tollgate-session", SESSION_HEADER]) {
      const told = { cookie: undefined, [name]: token };
      expect((await operator.call("GET", "/session", undefined, told)).reason, name).toBe("KEY_MISSING");
    }
    // The conversation of a request is named by a header too, and is no session of a person's.
    const named = { authorization: `Bearer ${world.secret}`, "x-tollgate-session": "conversation-1" };
    expect((await new Browser(world.front).call("GET", "/v1/models", undefined, named)).status).toBe(200);
  });

  test("who must have a second factor first may do what is about the person alone, and so sets one up", async () => {
    const security = { requires_second_factor: true };
    expect((await operator.call("PATCH", "/accounts/acme/security", security)).status).toBe(200);
    const { body } = await operator.call("POST", "/accounts/acme/invitations", { role: "admin" });
    const person = new Browser(world.front);
    const wish = { token: body["token"], email: "lacks@example.com", password: "a password of this test" };
    expect((await person.call("POST", "/invitations:accept", wish)).status).toBe(200);
    expect((await person.call("GET", "/session")).body).toMatchObject({ lacks_second_factor: true });
    const invite = (): ReturnType<Browser["call"]> =>
      person.call("POST", "/accounts/acme/invitations", { role: "member" });
    expect(await invite()).toMatchObject({ status: 403, reason: "SECOND_FACTOR_REQUIRED" });
    expect((await person.call("POST", "/session:prove", { password: wish.password })).status).toBe(200);
    const factor = await person.call("POST", "/session/second-factor", {});
    expect(factor.status).toBe(200);
    const code = authenticator(String(factor.body["secret"]))();
    expect((await person.call("POST", "/session/second-factor:confirm", { code })).status).toBe(200);
    expect((await invite()).status).toBe(200);
  });
});

test("a link dies when an operator exists, and no start prints another one", async () => {
  const gateway = await startGateway();
  await firstOperator(gateway);
  await gateway.stop();
  const again = await startGateway({ dataDirectory: gateway.dataDirectory });
  expect(() => welcomeToken(again)).toThrow("no link was printed");
  await again.stop();
});
