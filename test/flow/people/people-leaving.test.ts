/** Whom invitations let in, and what becomes of the keys of people who leave, or get another role. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Browser, firstOperator } from "../../support/browser.js";
import { chat } from "../../support/chat-call.js";
import { startWorld, type World } from "../../support/world.js";

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

/** A call with a key, or any other secret. */
function ask(secret: unknown, method: string, at: string, body?: unknown): Promise<Response> {
  return fetch(`${world.front.url}${at}`, {
    method,
    headers: { authorization: `Bearer ${String(secret)}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
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

describe("a key may do what the role of its person gives now", () => {
  /** What each key is asked, and whether it was let. */
  async function doneBy(secret: unknown): Promise<string> {
    const made = await ask(secret, "POST", "/api/v1/keys", { settings: { scopes: ["models"] } });
    const said = await ask(secret, "POST", "/v1/chat/completions", chat("Hello"));
    const paid = await ask(secret, "POST", "/api/v1/accounts/acme/top-up-codes:redeem", { code: "none" });
    const answers = {
      sees: await ask(secret, "GET", "/v1/models"),
      uses: await ask(secret, "GET", "/api/v1/usage"),
      chats: said,
      makes: made,
      pays: paid,
    };
    return Object.entries(answers)
      .flatMap(([name, { status }]) => ([401, 403].includes(status) ? [] : [name]))
      .join(" ");
  }
  const MAY: Readonly<Record<string, string>> = {
    owner: "sees uses chats makes pays",
    admin: "sees uses chats makes pays",
    member: "sees uses chats",
    viewer: "sees uses",
    auditor: "sees uses",
    operator: "sees uses chats makes pays",
  };

  test("in the account and in the gateway, and so may what the key made", async () => {
    const person = await member("of-many-roles", "admin");
    const id = await idOf(person);
    const scopes = ["chat", "models", "usage", "keys"];
    const own = (await person.call("POST", "/keys", { settings: { scopes } })).body["secret"];
    const child = ((await (await ask(own, "POST", "/api/v1/keys", { settings: { scopes } })).json()) as Made).secret;
    await member("keeps-owning", "owner");
    const others = await member("of-one-role", "admin");
    const kept = (await others.call("POST", "/keys", { settings: { scopes } })).body["secret"];
    const turns = ["viewer", "member", "owner", "member", "admin", "viewer", "auditor", "", "operator", "", "member"];
    let ofAccount = "admin";
    for (const role of turns) {
      const ofGateway = ["auditor", "operator", ""].includes(role);
      if (!ofGateway) ofAccount = role;
      const wish = ofGateway ? { installation_role: role || undefined } : { role };
      const changed = await operator.call("PATCH", ofGateway ? `/users/${id}` : `/accounts/acme/members/${id}`, wish);
      expect(changed.status, JSON.stringify(changed.body)).toBe(200);
      const want = MAY[ofGateway && role !== "" ? role : ofAccount];
      for (const secret of [own, child]) expect(await doneBy(secret), role).toBe(want);
      expect(await doneBy(kept)).toBe(MAY["admin"]);
    }
    const refused = await ask(own, "POST", "/api/v1/keys", { settings: { scopes: ["models"] } });
    expect([refused.status, refused.headers.get("x-tollgate-reason")]).toEqual([403, "SCOPE_MISSING"]);
  });

  test("and nothing of the gateway once its person is no operator", async () => {
    const person = await member("was-operator", "viewer");
    const id = await idOf(person);
    const become = (role?: string): Promise<unknown> =>
      operator.call("PATCH", `/users/${id}`, { installation_role: role });
    await become("operator");
    const of = async (scopes: readonly string[]): Promise<unknown> =>
      (await person.call("POST", "/keys", { account_id: "acme", settings: { scopes } })).body["secret"];
    const [whole, plain] = [await of(["operator"]), await of(["chat", "audit"])];
    const reaches = async (secret: unknown): Promise<readonly number[]> => [
      (await ask(secret, "GET", "/api/v1/upstreams")).status,
      (await ask(secret, "GET", "/api/v1/audit_events")).status,
      (await ask(secret, "POST", "/v1/chat/completions", chat("Hello"))).status,
    ];
    expect([await reaches(whole), await reaches(plain)]).toEqual([
      [200, 200, 200],
      [403, 200, 200],
    ]);
    await become();
    expect([await reaches(whole), await reaches(plain)]).toEqual([
      [403, 403, 403],
      [403, 403, 200],
    ]);
    await become("operator");
    expect(await reaches(whole)).toEqual([200, 200, 200]);
    expect((await operator.call("DELETE", `/users/${id}`)).status).toBe(200);
    expect(await reaches(whole)).toEqual([403, 403, 403]);
  });
});

interface Made {
  readonly secret: string;
}
