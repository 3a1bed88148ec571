/** What protects people in a browser: each changing route, cookies over HTTPS, and that nothing leads elsewhere. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { methods } from "../../../src/api/descriptors.js";
import { Browser, FIRST, firstOperator } from "../../support/browser.js";
import { startWorld, type World } from "../../support/world.js";

let world: World;
let operator: Browser;
beforeAll(async () => {
  world = await startWorld();
  operator = await firstOperator(world.core);
});
afterAll(() => world.close());

const CHANGING = methods().flatMap(({ http, path }) =>
  http === undefined || http.verb === "GET" || !http.pattern.startsWith("/api/v1/")
    ? []
    : [{ path, verb: http.verb, url: http.pattern.replace("/api/v1", "").replaceAll(/\{[^}]*\}/g, "x") }],
);

describe("a page of somebody else", () => {
  test("finds every changing route", () => expect(CHANGING.length).toBeGreaterThan(40));

  test.each([
    { name: "as a form would", headers: { "x-tollgate-console": undefined, origin: "https://evil.example" } },
    { name: "with a header that it may not send", headers: { origin: "https://evil.example" } },
    { name: "without saying where it is", headers: { origin: undefined } },
    { name: "in a frame without an origin", headers: { origin: "null" } },
    { name: "of a neighbouring host", headers: { "sec-fetch-site": "same-site" } },
  ])("changes nothing $name, on any route", async ({ headers }) => {
    const open: string[] = [];
    for (const { path, verb, url } of CHANGING) {
      const refused = await operator.call(verb, url, verb === "DELETE" ? undefined : {}, headers);
      if (refused.status !== 403 || refused.reason !== "SESSION_REFUSED")
        open.push(`${path} ${refused.status} ${refused.reason}`);
      expect(refused.setCookie).toBeNull();
    }
    expect(open).toEqual([]);
    expect((await operator.call("GET", "/session")).status).toBe(200);
  });
});

test("over HTTPS the cookie belongs to one host, and no script and no plain request gets it", async () => {
  const browser = new Browser(world.front, { origin: world.front.url.replace("http:", "https:") });
  const { setCookie } = await browser.signIn(FIRST.email, FIRST.password);
  expect(setCookie).toMatch(/^__Host-tollgate=[\w-]{43}; Path=\/; Max-Age=604800; HttpOnly; SameSite=Lax; Secure$/);
  expect((await browser.call("GET", "/session")).status).toBe(200);
});

test("an invitation for a known address is answered as one for an address that nobody has", async () => {
  const invite = async (email: string): Promise<readonly unknown[]> => {
    const { status, body } = await operator.call("POST", "/accounts/acme/invitations", { role: "member", email });
    const invitation = body["invitation"] as Readonly<Record<string, unknown>>;
    return [status, Object.keys(body), { ...invitation, id: "", email: "", create_time: "", expire_time: "" }];
  };
  expect(await invite(FIRST.email)).toEqual(await invite("nobody@example.com"));
  // Who opens a link does not learn of it either which addresses are known, without their password.
  const { body } = await operator.call("POST", "/accounts/acme/invitations", { role: "member" });
  const stranger = new Browser(world.front);
  const wish = { token: body["token"], email: FIRST.email, password: "not her password" };
  const wrong = await stranger.call("POST", "/invitations:accept", wish);
  const nobody = await stranger.signIn("nobody@example.com", "not her password");
  expect([wrong.status, wrong.body]).toEqual([nobody.status, nobody.body]);
});

test.each([
  "//evil.example",
  "//evil.example/console",
  "/\\evil.example",
  "/console//evil.example/",
  "/console/..//evil.example",
  "/console/welcome?next=https://evil.example",
  "/console/sign-in?next=//evil.example",
  "/api/v1/sign-in?redirect_uri=https://evil.example",
  "/console/%2f%2fevil.example",
])("%s leads nobody elsewhere", async (path) => {
  const response = await fetch(`${world.front.url}${path}`, { redirect: "manual", headers: { accept: "text/html" } });
  const location = response.headers.get("location");
  if (location !== null) expect(new URL(location, world.front.url).origin).toBe(world.front.url);
  expect(response.headers.get("refresh")).toBeNull();
  await response.body?.cancel();
});
