/** Whom invitations let in, and what becomes of the keys of people who leave. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Browser, firstOperator } from "../support/browser.js";
import { startWorld, type World } from "../support/world.js";

const PASSWORD = "another long enough password";
let world: World;
let operator: Browser;
beforeAll(async () => {
  world = await startWorld("front end apart");
  operator = await firstOperator(world.core, world.front);
});
afterAll(() => world.close());

async function invite(by: Browser, role: string, account = "acme"): Promise<string> {
  const { status, body } = await by.call("POST", `/accounts/${account}/invitations`, { role });
  expect(status, JSON.stringify(body)).toBe(200);
  return String(body["token"]);
}

/** Somebody new with a role in the account, signed in. */
async function member(name: string, role: string, by = operator): Promise<Browser> {
  const browser = new Browser(world.front);
  const wish = { token: await invite(by, role), email: `${name}@example.com`, password: PASSWORD };
  const joined = await browser.call("POST", "/invitations:accept", wish);
  expect(joined.status, JSON.stringify(joined.body)).toBe(200);
  return browser;
}

async function idOf(browser: Browser): Promise<string> {
  const { body } = await browser.call("GET", "/session");
  return (body["user"] as { id: string }).id;
}

describe("members", () => {
  test.each([
    { what: "revoked with whoever leaves the account", path: "", user: false, lives: false },
    { what: "handed to the account where that is asked", path: "?keep_keys=true", user: false, lives: true },
    { what: "revoked with whoever leaves the gateway", path: "", user: true, lives: false },
    {
      what: "kept where somebody leaves the gateway and that is asked",
      path: "?keep_keys=true",
      user: true,
      lives: true,
    },
  ])("have keys that are $what, with all that these made", async ({ path, user, lives }) => {
    const name = `leaver-${String(user)}-${String(lives)}`;
    const leaver = await member(name, "admin");
    const scopes = ["chat", "models", "keys"];
    const own = (await leaver.call("POST", "/keys", { settings: { scopes } })).body;
    const ask = (secret: unknown, method: string, at: string, body?: unknown): Promise<Response> =>
      fetch(`${world.front.url}${at}`, {
        method,
        headers: { authorization: `Bearer ${String(secret)}`, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    const child = await ask(own["secret"], "POST", "/api/v1/keys", { settings: { scopes: ["models"] } });
    const made = (await child.json()) as { secret: string; key: { id: string } };
    expect(child.status, JSON.stringify(made)).toBe(200);
    const stranger = await member(`stayer-${name}`, "admin");
    const others = (await stranger.call("POST", "/keys", { settings: { scopes } })).body;
    const secrets = [own["secret"], made.secret];
    for (const secret of [...secrets, others["secret"]])
      expect((await ask(secret, "GET", "/v1/models")).status).toBe(200);

    const id = await idOf(leaver);
    const gone = await operator.call("DELETE", `${user ? "/users" : "/accounts/acme/members"}/${id}${path}`);
    expect(gone.status, JSON.stringify(gone.body)).toBe(200);
    for (const secret of secrets) expect((await ask(secret, "GET", "/v1/models")).status).toBe(lives ? 200 : 401);
    expect((await ask(others["secret"], "GET", "/v1/models")).status).toBe(200);
    for (const key of [own["key"] as { id: string }, made.key]) {
      const shown = (await operator.call("GET", `/keys/${key.id}`)).body["key"] as { revoke_time?: string };
      expect(typeof shown.revoke_time).toBe(lives ? "undefined" : "string");
    }
    const log = await operator.call("GET", "/audit_events?page_size=20");
    expect(JSON.stringify(log.body)).toContain(lives ? "kept" : "revoked");
    if (user) return;
    // Whoever joins again begins anew.
    const token = await invite(operator, "admin");
    const again = { token, email: `${name}@example.com`, password: PASSWORD };
    expect((await leaver.call("POST", "/invitations:accept", again)).status).toBe(200);
    const fresh = (await leaver.call("POST", "/keys", { settings: { scopes } })).body;
    expect((await ask(fresh["secret"], "GET", "/v1/models")).status).toBe(200);
    expect((await ask(own["secret"], "GET", "/v1/models")).status).toBe(lives ? 200 : 401);
  });

  test("are those whom an invitation names: it lets in nobody with another address", async () => {
    const named = await operator.call("POST", "/accounts/acme/invitations", {
      role: "member",
      email: "Nina@Example.com",
    });
    const token = String(named.body["token"]);
    const join = (email: string): Promise<{ readonly status: number; readonly reason: string | null }> =>
      new Browser(world.front).call("POST", "/invitations:accept", { token, email, password: PASSWORD });
    for (const email of ["ceo@elsewhere.example", "olga@example.com", "nina@example.com.elsewhere.example"]) {
      const refused = await join(email);
      expect([refused.status, refused.reason]).toEqual([404, "LINK_INVALID"]);
    }
    expect((await join("nina@example.com")).status).toBe(200);
  });
});
