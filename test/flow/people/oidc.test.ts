/** Sign-in at real OpenID Connect issuers over real HTTP: who comes in, as whom, and what is asked beside. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { authenticator } from "../../support/authenticator.js";
import { type Browser, type BrowserAnswer, FIRST } from "../../support/browser.js";
import { CLIENT } from "../../support/issuer.js";
import {
  beginAt,
  comeBack,
  type IssuerGateway,
  recordsOf,
  signInAt,
  startIssuerGateway,
} from "../../support/issuer-gateway.js";
import { SoftAuthenticator } from "../../support/soft-authenticator.js";

const PASSWORD = "another long enough password";
let world: IssuerGateway;
beforeAll(async () => {
  world = await startIssuerGateway();
});
afterAll(() => world.close());

/** Somebody whom the issuer knows. */
function person(login: string, email = `${login}@example.com`, isVerified = true): string {
  const known = { sub: `sub-${login}`, email, email_verified: isVerified, name: login.toUpperCase() };
  for (const issuer of [world.corp, world.open]) issuer.people.set(login, known);
  return email;
}

const told = ({ status, reason }: BrowserAnswer): unknown => [status, reason];
const who = async (browser: Browser): Promise<Record<string, unknown>> => (await browser.call("GET", "/session")).body;

/** Somebody with a password here, a member of the account. */
async function withPassword(email: string): Promise<Browser> {
  const { body } = await world.operator.call("POST", "/accounts/acme/invitations", { role: "member" });
  const browser = world.browser();
  const wish = { token: body["token"], email, password: PASSWORD };
  expect((await browser.call("POST", "/invitations:accept", wish)).status).toBe(200);
  return browser;
}

test("everybody is told where people sign in, and nobody a secret of it", async () => {
  const { body } = await world.browser().call("GET", "/sign-in");
  expect(body["issuers"]).toEqual([
    { name: "corp", title: "Corp" },
    { name: "open", title: "open" },
  ]);
  const settings = await world.operator.call("GET", "/settings");
  expect(JSON.stringify([body, settings.body])).not.toContain(CLIENT.secret);
});

describe("who comes in", () => {
  test("is whom the operator made, with a cookie that no script reads and no other session", async () => {
    const email = person("made", "Made@Example.com").toLowerCase();
    await world.operator.call("POST", "/users", { email, account_id: "acme", role: "member" });
    const browser = world.browser();
    browser.cookies.set("tollgate", "a-token-that-somebody-else-chose-1234567890");
    const done = await signInAt(world.corp, browser, "made");
    expect([done.status, done.body["email"]]).toEqual([200, email]);
    expect(done.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^tollgate=[\w-]{43}; Path=\/; Max-Age=604800; HttpOnly; SameSite=Lax$/),
      "tollgate-sign-in=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax",
    ]);
    expect(await who(browser)).toMatchObject({
      user: { email },
      account_id: "acme",
      role: "member",
      has_password: false,
    });
  });

  test("is who was invited by the address, once, and belongs to each account that did", async () => {
    const email = person("invited");
    await world.operator.call("POST", "/accounts/acme/invitations", { role: "admin", email });
    const browser = world.browser();
    expect((await signInAt(world.corp, browser, "invited")).status).toBe(200);
    expect(await who(browser)).toMatchObject({ user: { email, name: "INVITED" }, role: "admin" });
    const open = await world.operator.call("GET", "/accounts/acme/invitations");
    expect(JSON.stringify(open.body)).not.toContain(email);
  });

  test("is who opened the link of an invitation, whatever address it was for", async () => {
    const email = person("linked");
    const { body } = await world.operator.call("POST", "/accounts/acme/invitations", { role: "viewer" });
    const begin = { invitation: body["token"] };
    const browser = world.browser();
    expect((await signInAt(world.corp, browser, "linked", { begin })).status).toBe(200);
    expect(await who(browser)).toMatchObject({ user: { email }, role: "viewer" });
    person("late");
    expect(told(await signInAt(world.corp, world.browser(), "late", { begin }))).toEqual([404, "LINK_INVALID"]);
  });

  test("is nobody else, but where the settings have an account for new people", async () => {
    const email = person("stranger");
    const browser = world.browser();
    const refused = await signInAt(world.corp, browser, "stranger");
    expect(told(refused)).toEqual([403, "OIDC_SIGN_IN_REFUSED"]);
    expect(JSON.stringify(refused.body)).toContain(`there is no invitation for ${email}`);
    expect((await browser.call("GET", "/session")).status).toBe(401);
    expect((await signInAt(world.open, browser, "stranger", { name: "open" })).status).toBe(200);
    expect(await who(browser)).toMatchObject({ user: { email }, account_id: "acme", role: "viewer" });
  });

  test("is not invited to the whole installation by an address: that takes the link", async () => {
    const email = person("boss");
    const invited = await world.operator.call("POST", "/users:invite", { installation_role: "operator", email });
    const browser = world.browser();
    expect((await signInAt(world.corp, browser, "boss")).reason).toBe("OIDC_SIGN_IN_REFUSED");
    const begin = { invitation: invited.body["token"] };
    expect((await signInAt(world.corp, browser, "boss", { begin })).status).toBe(200);
    expect(await who(browser)).toMatchObject({ user: { installation_role: "operator" } });
  });

  test.each([
    { name: "an address that was not verified", login: "unverified", email: "unverified@example.com", ok: false },
    { name: "an address of another domain", login: "foreign", email: "foreign@elsewhere.example", ok: true },
    { name: "a domain that only ends so", login: "evil", email: "evil@notexample.com", ok: true },
    { name: "two addresses in one", login: "two", email: "two@elsewhere.example,x@example.com", ok: true },
    { name: "letters that become others", login: "kelvin", email: "\u212Aelvin@example.com", ok: true },
    { name: "no address", login: "silent", email: "", ok: true },
  ])("$name does not come in", async ({ login, email, ok }) => {
    person(login, email, ok);
    const browser = world.browser();
    const refused = await signInAt(world.open, browser, login, { name: "open" });
    expect(told(refused)).toEqual([403, "OIDC_SIGN_IN_REFUSED"]);
    expect(browser.cookies.has("tollgate")).toBe(false);
  });
});

describe("an address that has a password here", () => {
  test("shows it once, and from then on the issuer alone says who it is", async () => {
    const email = person("both");
    await withPassword(email);
    const browser = world.browser();
    const asked = await signInAt(world.corp, browser, "both");
    expect(asked.body).toMatchObject({ password_needed: true, code_needed: false, email });
    expect(browser.cookies.has("tollgate")).toBe(false);
    const finish = (password: string): Promise<BrowserAnswer> =>
      browser.call("POST", "/oidc/corp:finish", { query: "state=any", password });
    expect(told(await finish("not her password"))).toEqual([401, "SIGN_IN_REFUSED"]);
    expect((await finish(PASSWORD)).status).toBe(200);
    expect(await who(browser)).toMatchObject({ user: { email }, role: "member", has_password: true });
    expect((await signInAt(world.corp, world.browser(), "both")).body).toMatchObject({ user: { email } });
  });

  test("is not taken over by whoever changes to it at the issuer", async () => {
    const mine = await withPassword(person("victim"));
    const id = String((await who(mine))["user"] && ((await who(mine))["user"] as { id: string }).id);
    // Before the victim ever came by the issuer: the password is missing.
    world.corp.people.set("thief", { sub: "sub-thief", email: "victim@example.com", email_verified: true });
    expect((await signInAt(world.corp, world.browser(), "thief")).body["password_needed"]).toBe(true);
    expect((await signInAt(world.corp, mine, "victim", { finish: { password: PASSWORD } })).status).toBe(200);
    // And after: the address is another identity's, with the password too.
    const refused = await signInAt(world.corp, world.browser(), "thief", { finish: { password: PASSWORD } });
    expect(told(refused)).toEqual([403, "OIDC_SIGN_IN_REFUSED"]);
    // The victim's address may change there: it stays the same person here.
    world.corp.people.set("victim", { sub: "sub-victim", email: "new@example.com", email_verified: true });
    const later = world.browser();
    expect((await signInAt(world.corp, later, "victim")).body).toMatchObject({
      user: { id, email: "victim@example.com" },
    });
  });

  test("of somebody without a password gets no second identity", async () => {
    const email = person("single");
    await world.operator.call("POST", "/users", { email, account_id: "acme" });
    expect((await signInAt(world.corp, world.browser(), "single")).status).toBe(200);
    const elsewhere = await signInAt(world.open, world.browser(), "single", { name: "open" });
    expect(told(elsewhere)).toEqual([403, "OIDC_SIGN_IN_REFUSED"]);
    world.corp.people.set("other", { sub: "sub-other", email, email_verified: true });
    expect(told(await signInAt(world.corp, world.browser(), "other"))).toEqual([403, "OIDC_SIGN_IN_REFUSED"]);
    // Until an operator resets the person.
    const { body } = await world.operator.call("GET", "/users");
    const { id } = (body["users"] as { id: string; email: string }[]).find((one) => one.email === email) ?? { id: "" };
    expect((await world.operator.call("POST", `/users/${id}:reset`, {})).status).toBe(200);
    expect((await signInAt(world.corp, world.browser(), "other")).status).toBe(200);
  });
});

describe("what is asked beside", () => {
  test("a second factor is asked for here too, and a wrong code lets nobody in", async () => {
    const browser = await withPassword(person("factor"));
    const { body } = await browser.call("POST", "/session/second-factor", {});
    const code = authenticator(String(body["secret"]));
    const confirmed = await browser.call("POST", "/session/second-factor:confirm", { code: code() });
    const [first, second] = confirmed.body["recovery_codes"] as string[];
    const finish = { password: PASSWORD };
    const fresh = world.browser();
    expect((await signInAt(world.corp, fresh, "factor", { finish })).body).toMatchObject({ code_needed: true });
    const again = (more: object): Promise<BrowserAnswer> =>
      fresh.call("POST", "/oidc/corp:finish", { query: "x", ...finish, ...more });
    expect(told(await again({ code: "000000" }))).toEqual([401, "SIGN_IN_REFUSED"]);
    expect((await again({ code: first })).status).toBe(200);
    expect((await signInAt(world.corp, world.browser(), "factor")).body).toMatchObject({
      code_needed: true,
    });
    const last = await signInAt(world.corp, world.browser(), "factor", { finish: { code: second } });
    expect(last.status).toBe(200);
  });

  test("which passkeys there are is said behind the password, and one of them signs in", async () => {
    const browser = await withPassword(person("keyed"));
    const session = await who(browser);
    const phone = new SoftAuthenticator(String(session["passkey_origin"]));
    const begun = await browser.call("POST", "/session/passkeys:begin", {});
    const credential = phone.create(String(begun.body["options"]));
    expect((await browser.call("POST", "/session/passkeys", { name: "Phone", credential })).status).toBe(200);
    const fresh = world.browser();
    const asked = await signInAt(world.corp, fresh, "keyed");
    expect(asked.body).toMatchObject({ password_needed: true, code_needed: true, passkey_options: "" });
    const again = (more: object): Promise<BrowserAnswer> =>
      fresh.call("POST", "/oidc/corp:finish", { query: "x", password: PASSWORD, ...more });
    const needed = await again({});
    expect(needed.body).toMatchObject({ password_needed: false, code_needed: true });
    const passkey = phone.use(String(needed.body["passkey_options"]));
    expect((await again({ passkey })).status).toBe(200);
    expect(await who(fresh)).toMatchObject({ user: { email: "keyed@example.com" } });
  });

  test("what needs a fresh proof asks the issuer anew", async () => {
    person("ada", FIRST.email);
    const finish = { password: FIRST.password };
    expect((await signInAt(world.corp, world.browser(), "ada", { finish })).status).toBe(200);
    const browser = world.browser();
    await signInAt(world.corp, browser, "ada");
    const invite = (): Promise<BrowserAnswer> =>
      browser.call("POST", "/users:invite", { installation_role: "auditor" });
    expect(told(await invite())).toEqual([403, "PROOF_NEEDED"]);
    expect(await beginAt(browser, "corp", { fresh: true })).toContain("max_age=1800");
    expect((await signInAt(world.corp, browser, "ada", { begin: { fresh: true } })).status).toBe(200);
    expect((await invite()).status).toBe(200);
  });

  test("signing out everywhere ends what began at an issuer", async () => {
    person("leaver");
    const [one, two] = [world.browser(), world.browser()];
    for (const browser of [one, two]) await signInAt(world.open, browser, "leaver", { name: "open" });
    const kept = world.browser();
    kept.cookies.set("tollgate", two.cookies.get("tollgate") ?? "");
    expect((await one.call("POST", "/sessions:end", {})).status).toBe(200);
    expect(told(await kept.call("GET", "/session"))).toEqual([401, "SESSION_ENDED"]);
  });
});

test("each sign-in and each refusal is recorded, without secrets of it", async () => {
  person("audited");
  const browser = world.browser();
  const back = await world.open.signIn(await beginAt(browser, "open"), "audited");
  expect((await comeBack(browser, back)).status).toBe(200);
  expect((await comeBack(world.browser(), back)).status).toBe(403);
  const records = await recordsOf(world.gateway, "FinishOidcSignIn");
  expect(records.find(({ result }) => result === "refused")).toMatchObject({ reason: "OIDC_SIGN_IN_REFUSED" });
  const done = records.filter(({ result }) => result === "done");
  expect(done.length).toBeGreaterThan(1);
  expect(JSON.stringify(done)).toContain("open");
  expect((await recordsOf(world.gateway, "BeginOidcSignIn")).length).toBeGreaterThan(1);
  const text = JSON.stringify(records) + world.gateway.log.join("\n");
  for (const secret of [back.searchParams.get("code"), back.searchParams.get("state"), CLIENT.secret])
    expect(text).not.toContain(secret);
});
