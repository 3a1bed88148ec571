/** Members over real HTTP: invitations, roles, passwords, sessions, and a model asked in the playground. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Browser, FIRST, firstOperator } from "../../support/browser.js";
import { says, startWorld, type World } from "../../support/world.js";

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
  test("join by an invitation, once, and act in their account alone", async () => {
    const token = await invite(operator, "owner");
    const owner = new Browser(world.front);
    const wish = { token, email: "olga@example.com", name: "Olga", password: PASSWORD };
    expect((await owner.call("POST", "/invitations:accept", wish)).status).toBe(200);
    expect((await owner.call("GET", "/session")).body).toMatchObject({
      account_id: "acme",
      role: "owner",
      memberships: [{ account_id: "acme", account_name: "acme", role: "owner" }],
    });
    const again = await new Browser(world.front).call("POST", "/invitations:accept", {
      ...wish,
      email: "x@example.com",
    });
    expect([again.status, again.reason]).toEqual([404, "LINK_INVALID"]);
    expect((await owner.call("GET", "/accounts/operator")).status).toBe(404);
    owner.account = "operator";
    expect((await owner.call("GET", "/session")).reason).toBe("RESOURCE_UNKNOWN");
  });

  test("an admin makes no owner, and the last owner stays", async () => {
    const admin = await member("adam", "admin");
    const owner = new Browser(world.front);
    await owner.signIn("olga@example.com", PASSWORD);
    const ownerId = await idOf(owner);
    const escalated = await admin.call("POST", "/accounts/acme/invitations", { role: "owner" });
    expect(escalated.reason).toBe("ROLE_MISSING");
    expect((await admin.call("DELETE", `/accounts/acme/members/${ownerId}`)).reason).toBe("ROLE_MISSING");
    const own = `/accounts/acme/members/${await idOf(admin)}`;
    expect((await admin.call("PATCH", own, { role: "owner" })).reason).toBe("ROLE_MISSING");
    const last = await owner.call("DELETE", `/accounts/acme/members/${ownerId}`);
    expect([last.status, last.reason]).toEqual([409, "LAST_OWNER"]);
    expect((await owner.call("PATCH", own, { role: "viewer" })).status).toBe(200);
    expect((await admin.call("POST", "/accounts/acme/invitations", { role: "viewer" })).reason).toBe("ROLE_MISSING");
    const list = await owner.call("GET", "/accounts/acme/members");
    expect((list.body["members"] as { role: string }[]).map(({ role }) => role).sort()).toEqual(["owner", "viewer"]);
  });

  test("make keys that remember them, and touch no others' unless they keep the account", async () => {
    const [mia, max] = [await member("mia", "member"), await member("max", "member")];
    const made = await mia.call("POST", "/keys", { settings: { name: "mia's" } });
    expect(made.body["key"]).toMatchObject({ account_id: "acme", maker_user_id: await idOf(mia), maker_id: "" });
    const path = `/keys/${(made.body["key"] as { id: string }).id}`;
    expect((await max.call("GET", path)).status).toBe(200);
    expect((await max.call("DELETE", path)).reason).toBe("ROLE_MISSING");
    expect((await max.call("POST", `${path}:rotate`, {})).reason).toBe("ROLE_MISSING");
    expect((await mia.call("POST", "/keys", { settings: { scopes: ["operator"] } })).reason).toBe("ROLE_MISSING");
    const wide = await world.management.makeKey("acme", { scopes: ["operator"] });
    const owner = new Browser(world.front);
    await owner.signIn("olga@example.com", PASSWORD);
    expect((await owner.call("POST", `/keys/${wide.id}:rotate`, {})).reason).toBe("ROLE_MISSING");
    expect((await owner.call("DELETE", path)).status).toBe(200);
  });
});

describe("limits of a member", () => {
  const chat = { model: "fake-1", messages: says("hello"), stream: false };
  const playground = "/accounts/acme/playground/chat/completions";
  const limitsOf = (id: string): string => `/accounts/acme/members/${id}/limits`;

  test("are set by who keeps the account, and hold in the playground and for all keys of the member's", async () => {
    const [keeper, lena] = [await member("kim", "admin"), await member("lena", "member")];
    const id = await idOf(lena);
    const made = await lena.call("POST", "/keys", { settings: { name: "before" } });
    expect(made.body["key"]).toMatchObject({ maker_id: "" });
    expect((await lena.call("GET", limitsOf(id))).body).toMatchObject({ settings: { requests_per_minute: "0" } });
    const settings = { requests_per_minute: "2", budget_day: "5.00 USD" };
    const set = await keeper.call("PATCH", limitsOf(id), { settings });
    expect([set.status, set.body["settings"]]).toEqual([
      200,
      expect.objectContaining({ requests_per_minute: "2", budget_day_nanos: "5000000000", scopes: [] }),
    ]);
    const later = await lena.call("POST", "/keys", { settings: { name: "after", requests_per_minute: "1000" } });
    const ask = async (secret: unknown): Promise<number> =>
      (
        await world
          .client({ apiKey: String(secret) })
          .chat.completions.create({ ...chat, stream: false })
          .asResponse()
          .catch((error: { status: number }) => error)
      ).status;
    expect(await ask(made.body["secret"])).toBe(200);
    expect(await ask(later.body["secret"])).toBe(200);
    // All of it counts together, and the member does not raise it.
    expect((await lena.call("POST", playground, chat)).status).toBe(429);
    expect(await ask(made.body["secret"])).toBe(429);
    expect((await lena.call("PATCH", limitsOf(id), { settings: { requests_per_minute: "0" } })).reason).toBe(
      "ROLE_MISSING",
    );
    expect((await keeper.call("PATCH", limitsOf(id), { settings: { requests_per_minute: "0" } })).status).toBe(200);
    expect((await lena.call("POST", playground, chat)).status).toBe(200);
  });

  test("are changed only as they were read, where the etag is sent", async () => {
    const [keeper, id] = [await member("kora", "admin"), await idOf(await member("lars", "member"))];
    const set = async (etag: string, count: string) =>
      keeper.call("PATCH", limitsOf(id), { settings: { requests_per_minute: count }, etag });
    const etagOf = ({ body }: { body: Record<string, unknown> }): string => String(body["etag"]);
    // Nobody has set any, or used the playground: there is nothing yet that could have a revision.
    const first = etagOf(await keeper.call("GET", limitsOf(id)));
    const answers = await Promise.all([set(first, "1"), set(first, "2"), set(first, "3")]);
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409, 409]);
    const refused = answers.find(({ status }) => status === 409);
    expect(refused?.reason).toBe("ETAG_STALE");
    expect(JSON.stringify(refused?.body)).toContain(`The member '${id}' was changed`);
    const next = etagOf(await keeper.call("GET", limitsOf(id)));
    expect(next).not.toBe(first);
    const changed = await set(next, "4");
    expect([changed.status, etagOf(changed) === next]).toEqual([200, false]);
    expect((await set(etagOf(changed), "5")).status).toBe(200);
    expect((await set("", "6")).status).toBe(200);
  });

  test("are limits alone, and an owner's are an owner's business", async () => {
    const keeper = await member("kurt", "admin");
    const owner = new Browser(world.front);
    await owner.signIn("olga@example.com", PASSWORD);
    const path = limitsOf(await idOf(owner));
    expect((await keeper.call("PATCH", path, { settings: { concurrency: "1" } })).reason).toBe("ROLE_MISSING");
    expect((await owner.call("PATCH", path, { settings: { scopes: ["operator"] } })).reason).toBe("PARAMETER_INVALID");
    expect((await owner.call("PATCH", limitsOf("user_none"), { settings: { concurrency: "1" } })).reason).toBe(
      "RESOURCE_UNKNOWN",
    );
    expect((await keeper.call("POST", `/accounts/acme/members/${await idOf(owner)}:signOut`, {})).reason).toBe(
      "ROLE_MISSING",
    );
    expect((await owner.call("POST", `/accounts/acme/members/${await idOf(keeper)}:signOut`, {})).status).toBe(200);
    expect((await keeper.call("GET", "/session")).reason).toBe("SESSION_ENDED");
  });

  test("of any key of the account are changed by who keeps it", async () => {
    const [keeper, mona] = [await member("kit", "admin"), await member("mona", "member")];
    const made = await mona.call("POST", "/keys", { settings: { name: "mona's" } });
    const path = `/keys/${(made.body["key"] as { id: string }).id}`;
    const changed = await keeper.call("PATCH", path, {
      settings: { requests_per_minute: "7", budget_month_nanos: "1000" },
    });
    expect([changed.status, changed.body["key"]]).toEqual([
      200,
      expect.objectContaining({ settings: expect.objectContaining({ requests_per_minute: "7" }) }),
    ]);
  });
});

describe("the playground", () => {
  const path = "/accounts/acme/playground/chat/completions";
  const chat = { model: "fake-1", messages: says("hello"), stream: false };

  test("answers a member from the account's money, by a key that no list shows", async () => {
    const pia = await member("pia", "member");
    const before = await world.management.balance("acme");
    const answer = await pia.call("POST", path, chat);
    expect([answer.status, answer.body["object"]]).toEqual([200, "chat.completion"]);
    expect((await pia.call("POST", path, chat)).status).toBe(200);
    const { body } = await operator.call("GET", "/keys?account_id=acme");
    expect(JSON.stringify(body)).not.toContain("Playground");
    await expect
      .poll(async () => (await world.management.balance("acme")).spentNanos)
      .toBeGreaterThan(before.spentNanos);
  });

  test("is not for viewers, strangers, other accounts or keys", async () => {
    const vera = await member("vera", "viewer");
    expect((await vera.call("POST", path, chat)).reason).toBe("ROLE_MISSING");
    expect((await vera.call("POST", path.replace("acme", "operator"), chat)).reason).toBe("RESOURCE_UNKNOWN");
    expect((await new Browser(world.front).call("POST", path, chat)).reason).toBe("KEY_MISSING");
    const key = await vera.call("POST", path, chat, { authorization: `Bearer ${world.secret}` });
    expect(key.reason).toBe("USER_MISSING");
    expect((await vera.call("POST", path, chat, { "x-tollgate-console": undefined })).reason).toBe("SESSION_REFUSED");
  });
});

describe("sessions", () => {
  test("are listed and ended by their owner, all at once too", async () => {
    const sam = await member("sam", "viewer");
    const other = new Browser(world.front);
    await other.signIn("sam@example.com", PASSWORD);
    const { body } = await sam.call("GET", "/sessions");
    const all = body["sessions"] as { id: string; current: boolean }[];
    expect(all.map(({ current }) => current).sort()).toEqual([false, true]);
    const others = all.find(({ current }) => !current)?.id ?? "";
    expect((await operator.call("DELETE", `/sessions/${others}`)).reason).toBe("RESOURCE_UNKNOWN");
    expect((await sam.call("DELETE", `/sessions/${others}`)).status).toBe(200);
    expect((await other.call("GET", "/session")).reason).toBe("SESSION_ENDED");
    await other.signIn("sam@example.com", PASSWORD);
    expect((await sam.call("POST", "/sessions:end", {})).status).toBe(200);
    for (const browser of [sam, other]) {
      expect(["SESSION_ENDED", "KEY_MISSING"]).toContain((await browser.call("GET", "/session")).reason);
    }
  });

  test("end with the password, changed by oneself or by an operator's link", async () => {
    const pat = await member("pat", "viewer");
    const other = new Browser(world.front);
    await other.signIn("pat@example.com", PASSWORD);
    const wrong = { password: "not the present one", new_password: `${PASSWORD} 2` };
    expect((await pat.call("POST", "/session:changePassword", wrong)).reason).toBe("SIGN_IN_REFUSED");
    const right = { ...wrong, password: PASSWORD };
    expect((await pat.call("POST", "/session:changePassword", right)).status).toBe(200);
    expect((await other.call("GET", "/session")).reason).toBe("SESSION_ENDED");
    expect((await pat.signIn("pat@example.com", `${PASSWORD} 2`)).status).toBe(200);
    const reset = await operator.call("POST", `/users/${await idOf(pat)}:reset`, {});
    expect((await pat.call("GET", "/session")).reason).toBe("SESSION_ENDED");
    const link = { token: reset.body["token"], password: `${PASSWORD} 3` };
    expect((await other.call("POST", "/passwords", link)).status).toBe(200);
    expect((await other.call("POST", "/passwords", link)).reason).toBe("LINK_INVALID");
    expect((await pat.signIn("pat@example.com", `${PASSWORD} 3`)).status).toBe(200);
  });

  test("the last operator is neither removed nor demoted", async () => {
    const id = await idOf(operator);
    expect((await operator.call("DELETE", `/users/${id}`)).reason).toBe("LAST_OWNER");
    expect((await operator.call("PATCH", `/users/${id}`, {})).reason).toBe("LAST_OWNER");
    expect((await operator.call("GET", "/users")).body["users"]).toContainEqual(
      expect.objectContaining({ email: FIRST.email, installation_role: "operator" }),
    );
  });
});
