/** What hostile browsers and issuers try at the sign-in of people: nothing of it lets anybody in. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { Browser, BrowserAnswer } from "../../support/browser.js";
import type { Claims } from "../../support/issuer.js";
import { beginAt, comeBack, type IssuerGateway, signInAt, startIssuerGateway } from "../../support/issuer-gateway.js";

let world: IssuerGateway;
beforeAll(async () => {
  world = await startIssuerGateway();
});
afterEach(() => {
  Object.assign(world.open, { forge: undefined, userInfo: undefined, override: undefined });
});
afterAll(() => world.close());

const OPEN = { name: "open" };
const REFUSED = [403, "OIDC_SIGN_IN_REFUSED"];
const told = ({ status, reason }: BrowserAnswer): unknown => [status, reason];
const stranger = (): Browser => world.browser();

async function refuses(browser: Browser, answering: Promise<BrowserAnswer>, want = REFUSED): Promise<void> {
  const answer = await answering;
  expect(told(answer), JSON.stringify(answer.body)).toEqual(want);
  expect(browser.cookies.has("tollgate")).toBe(false);
}

describe("an ID token", () => {
  const now = (): number => Math.floor(Date.now() / 1_000);

  test("as the issuer made it lets in", async () => {
    world.open.forge = (claims) => world.open.token(claims);
    expect((await signInAt(world.open, stranger(), "ada", OPEN)).status).toBe(200);
  });

  test.each([
    { name: "of another sign-in's nonce", change: { nonce: "another" } },
    { name: "without a nonce", change: { nonce: undefined } },
    { name: "for another audience", change: { aud: "somebody else" } },
    { name: "for others too, whose party is another", change: { aud: ["tollgate", "x"], azp: "x" } },
    { name: "of another issuer", change: { iss: "https://elsewhere.example" } },
    { name: "that is over", change: { exp: -600, iat: -1_200 } },
    { name: "that names nobody", change: { sub: "" } },
  ])("$name lets nobody in", async ({ change }) => {
    const times = Object.fromEntries(
      Object.entries(change).map(([name, value]) => [name, typeof value === "number" ? now() + value : value]),
    );
    world.open.forge = (claims: Claims) => world.open.token({ ...claims, ...times });
    const browser = stranger();
    await refuses(browser, signInAt(world.open, browser, "ada", OPEN));
  });

  test.each(["another key", "nobody"] as const)("that %s signed lets nobody in", async (by) => {
    world.open.forge = (claims) => world.open.token(claims, by);
    const browser = stranger();
    await refuses(browser, signInAt(world.open, browser, "ada", OPEN));
  });

  test("that is told to be about somebody else lets nobody in", async () => {
    world.open.userInfo = (claims) => ({ ...claims, sub: "eve" });
    const browser = stranger();
    await refuses(browser, signInAt(world.open, browser, "ada", OPEN));
  });

  test.each(["true", 1, null, undefined])("whose address is verified as %j lets nobody in", async (isVerified) => {
    world.open.userInfo = (claims) => ({ ...claims, email_verified: isVerified });
    const browser = stranger();
    await refuses(browser, signInAt(world.open, browser, "ada", OPEN));
  });
});

describe("an answer of the issuer", () => {
  const back = async (browser: Browser): Promise<URL> => world.open.signIn(await beginAt(browser, "open"), "ada");

  test.each([
    { name: "with another state", change: (query: URLSearchParams) => query.set("state", "another") },
    { name: "without a state", change: (query: URLSearchParams) => query.delete("state") },
    { name: "with another code", change: (query: URLSearchParams) => query.set("code", "another") },
    { name: "of another issuer", change: (query: URLSearchParams) => query.set("iss", "https://elsewhere.example") },
    { name: "without its issuer", change: (query: URLSearchParams) => query.delete("iss") },
    { name: "that is a refusal", change: (query: URLSearchParams) => query.set("error", "access_denied") },
    { name: "with two codes", change: (query: URLSearchParams) => query.append("code", "another") },
    { name: "longer than any", change: (query: URLSearchParams) => query.set("x", "x".repeat(10_000)) },
  ])("$name lets nobody in", async ({ change }) => {
    const browser = stranger();
    const url = await back(browser);
    change(url.searchParams);
    await refuses(browser, comeBack(browser, url));
  });

  test("lets nobody in twice: neither the browser that had it, nor another with the same cookies", async () => {
    const browser = stranger();
    const url = await back(browser);
    const copied = new Map(browser.cookies);
    expect((await comeBack(browser, url)).status).toBe(200);
    browser.cookies.clear();
    for (const [name, value] of copied) browser.cookies.set(name, value);
    await refuses(browser, comeBack(browser, url));
  });

  test("lets nobody in with a sign-in that was begun anew, or in another browser, or in none", async () => {
    const victim = stranger();
    const url = await back(victim);
    await beginAt(victim, "open");
    await refuses(victim, comeBack(victim, url));
    // What somebody else's answer brings here is not this browser's: nobody is signed in as another person unawares.
    const attacker = stranger();
    const theirs = await back(attacker);
    await refuses(victim, comeBack(victim, theirs));
    const nobody = stranger();
    await refuses(nobody, comeBack(nobody, theirs));
  });

  test("lets nobody in by another issuer's name", async () => {
    const browser = stranger();
    const url = await back(browser);
    url.pathname = url.pathname.replace("open", "corp");
    await refuses(browser, comeBack(browser, url));
    url.pathname = url.pathname.replace("corp", "none");
    await refuses(browser, comeBack(browser, url), [404, "RESOURCE_UNKNOWN"]);
  });

  test("lets nobody in with a cookie that was changed or made up", async () => {
    const browser = stranger();
    const url = await back(browser);
    const sealed = browser.cookies.get("tollgate-sign-in") ?? "";
    const middle = Math.floor(sealed.length / 2);
    const flipped = sealed[middle] === "A" ? "B" : "A";
    for (const value of [sealed.slice(0, middle) + flipped + sealed.slice(middle + 1), "x", "A".repeat(400)]) {
      browser.cookies.set("tollgate-sign-in", value);
      await refuses(browser, comeBack(browser, url));
    }
    browser.cookies.set("tollgate-sign-in", sealed);
    expect((await comeBack(browser, url)).status).toBe(200);
  });
});

describe("where the browser is sent", () => {
  test("is the issuer's own address, which sends it back to the page that asked and nowhere else", async () => {
    const browser = stranger();
    const wish = { redirect_uri: "https://evil.example", origin: "https://evil.example" };
    expect((await browser.call("POST", "/oidc/open:begin", wish)).reason).toBe("PARAMETER_INVALID");
    const uri = new URL(await beginAt(browser, "open"));
    expect(uri.origin).toBe(world.open.url);
    expect(uri.searchParams.get("redirect_uri")).toBe(`${world.gateway.url}/console/sign-in/open`);
    expect(uri.searchParams.get("code_challenge_method")).toBe("S256");
    expect(uri.href).not.toContain("client_secret");
    const sealed = browser.cookies.get("tollgate-sign-in") ?? "";
    for (const name of ["state", "nonce"]) {
      expect(uri.searchParams.get(name)).toMatch(/^[\w-]{43}$/);
      expect(Buffer.from(sealed, "base64url").toString("latin1")).not.toContain(uri.searchParams.get(name));
    }
  });

  test("is kept in a cookie that no script and no other host gets", async () => {
    const plain = await stranger().call("POST", "/oidc/open:begin", {});
    expect(plain.setCookie).toMatch(/^tollgate-sign-in=[\w-]+; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax$/);
    const secure = world.browser({ origin: world.gateway.url.replace("http:", "https:") });
    const { setCookie, body } = await secure.call("POST", "/oidc/open:begin", {});
    expect(setCookie).toMatch(/^__Host-tollgate-sign-in=[\w-]+; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax; Secure$/);
    const uri = new URL(String(body["authorization_uri"]));
    expect(uri.searchParams.get("redirect_uri")).toMatch(/^https:/);
  });

  test("is told to no page of another origin", async () => {
    for (const headers of [{ origin: "https://evil.example" }, { "x-tollgate-console": undefined }])
      for (const path of ["/oidc/open:begin", "/oidc/open:finish"]) {
        const refused = await world.browser(headers).call("POST", path, { query: "x" });
        expect([...(told(refused) as unknown[]), refused.setCookie]).toEqual([403, "SESSION_REFUSED", null]);
      }
  });
});

describe("an issuer that fails", () => {
  test("in the middle is told as such, and somebody may try again", async () => {
    const browser = stranger();
    const url = await world.open.signIn(await beginAt(browser, "open"), "ada");
    world.open.override = (_request, response) => response.writeHead(500).end("broken");
    await refuses(browser, comeBack(browser, url), [502, "ISSUER_FAILED"]);
    world.open.override = undefined;
    expect((await comeBack(browser, url)).status).toBe(200);
    await world.gateway.logged("an issuer does not respond correctly");
  });

  test("keeps nobody waiting who signs in elsewhere, or does something else", async () => {
    const browser = stranger();
    const url = await world.open.signIn(await beginAt(browser, "open"), "ada");
    let asked = 0;
    world.open.override = () => void (asked += 1);
    let isOver = false;
    const waiting = comeBack(browser, url).finally(() => (isOver = true));
    await expect.poll(() => asked).toBeGreaterThan(0);
    expect((await world.operator.call("GET", "/session")).status).toBe(200);
    expect(await beginAt(stranger(), "corp")).toContain(world.corp.url);
    expect(isOver).toBe(false);
    await refuses(browser, waiting, [502, "ISSUER_FAILED"]);
  });
});

test("who tries too often from one address is slowed, as by passwords", async () => {
  const answers: string[] = [];
  const one = stranger();
  for (let tried = 0; tried < 70; tried++) {
    const answer = await one.call("POST", "/oidc/open:finish", { query: "state=x" });
    answers.push(answer.reason ?? "");
  }
  expect(answers).toContain("RATE_LIMITED");
});
