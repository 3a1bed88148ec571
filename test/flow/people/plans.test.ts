/** Plans over real HTTP: what accounts get of them, what owners may change, and what applying one to all does. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Browser, firstOperator } from "../../support/browser.js";
import { startWorld, type World } from "../../support/world.js";

const PASSWORD = "another long enough password";
const TEAM = {
  budget_month: "100",
  requests_per_minute: "60",
  models: { "fake-*": { requests_per_minute: "30" } },
  content: { allowed: true, body_bytes_max: 4096, redactions: ["###-##-####"] },
  members: { budget_month: "20" },
  keys: { budget_day: "2", expires_after_days: 30 },
};
let world: World;
let operator: Browser;
beforeAll(async () => {
  world = await startWorld("front end apart");
  operator = await firstOperator(world.core, world.front);
  await plan("team", TEAM);
});
afterAll(() => world.close());

type Body = Readonly<Record<string, unknown>>;

async function done(method: string, path: string, body?: unknown, by = operator): Promise<Body> {
  const answer = await by.call(method, path, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body;
}

async function plan(name: string, spec: object): Promise<void> {
  await done("POST", "/settings/objects", { object: { name, plan: spec } });
}

const change = (name: string, spec: object): Promise<Body> =>
  done("PATCH", `/settings/objects/plan/${name}`, { object: { plan: spec } });

async function open(id: string, named = "team"): Promise<void> {
  await done("POST", "/accounts", { id, plan: named });
}

async function person(name: string, role: string, account: string): Promise<Browser> {
  const { token } = await done("POST", `/accounts/${account}/invitations`, { role });
  const browser = new Browser(world.front);
  await done("POST", "/invitations:accept", { token, email: `${name}@example.com`, password: PASSWORD }, browser);
  browser.account = account;
  return browser;
}

const idOf = async (by: Browser): Promise<string> =>
  ((await done("GET", "/session", undefined, by))["user"] as { id: string }).id;

async function account(id: string): Promise<Body & { settings: Body; etag: string; plan: string }> {
  return (await done("GET", `/accounts/${id}`))["account"] as Body & { settings: Body; etag: string; plan: string };
}

describe("a plan", () => {
  test("is copied when an account is made, and its later changes are of new accounts", async () => {
    await plan("copied", { budget_month: "10", models: { "a*": { concurrency: "1" } } });
    await open("first", "copied");
    await change("copied", { budget_month: "20" });
    await open("second", "copied");
    expect(await account("first")).toMatchObject({
      plan: "copied",
      settings: { budget_month_nanos: "10000000000", model_limits: [{ model: "a*", concurrency: "1" }] },
    });
    expect((await account("second")).settings).toMatchObject({ budget_month_nanos: "20000000000" });
    const unknown = await operator.call("POST", "/accounts", { id: "third", plan: "none" });
    expect([unknown.status, unknown.reason]).toEqual([404, "RESOURCE_UNKNOWN"]);
    expect((await operator.call("GET", "/accounts/third")).status).toBe(404);
  });

  test("that is deleted blocks no account, and is shown as gone", async () => {
    await plan("gone", { budget_month: "10", keys: { budget_day: "1" } });
    await open("orphan", "gone");
    const owner = await person("otto", "owner", "orphan");
    await done("DELETE", "/settings/objects/plan/gone");
    expect((await done("GET", "/accounts/orphan/plan"))["plan"]).toMatchObject({ name: "gone", gone: true });
    const key = (await done("POST", "/keys", { settings: { name: "still made" } }, owner))["key"];
    expect(key).toMatchObject({ settings: { budget_day_nanos: "0" } });
    await done("PATCH", "/accounts/orphan", { settings: { budget_month: "30.00 USD" } });
    await done("PATCH", `/accounts/orphan/members/${await idOf(owner)}/limits`, {
      settings: { budget_day: "1.00 USD" },
    });
    const refused = await owner.call("PATCH", "/accounts/orphan", { settings: { budget_month: "1.00 USD" } });
    expect([refused.status, refused.reason]).toEqual([403, "ROLE_MISSING"]);
    const applied = await operator.call("POST", "/plans/gone:apply", { etag: "x" });
    expect(applied.reason).toBe("RESOURCE_UNKNOWN");
  });

  test("is given to an account later, with or without its values, and taken away", async () => {
    await done("POST", "/accounts", { id: "later" });
    const { etag } = await account("later");
    await done("POST", "/accounts/later:setPlan", { plan: "team", etag });
    expect(await account("later")).toMatchObject({ plan: "team", settings: { budget_month_nanos: "0" } });
    const stale = await operator.call("POST", "/accounts/later:setPlan", { plan: "team", copy_settings: true, etag });
    expect(stale.reason).toBe("ETAG_STALE");
    await done("POST", "/accounts/later:setPlan", { plan: "team", copy_settings: true });
    expect((await account("later")).settings).toMatchObject({
      budget_month_nanos: "100000000000",
      content: { kept: false, body_bytes_max: 4096 },
    });
    await done("POST", "/accounts/later:setPlan", { plan: "" });
    expect(await account("later")).toMatchObject({ plan: "", settings: { budget_month_nanos: "100000000000" } });
    const listed = (await done("GET", "/accounts?plan=team"))["accounts"] as { id: string }[];
    expect(listed.map(({ id }) => id)).not.toContain("later");
  });
});

describe("an owner", () => {
  test("changes the account within its plan, and nothing above it", async () => {
    await open("bounded");
    await done("POST", "/accounts", { id: "planless" });
    const owner = await person("olga", "owner", "bounded");
    const admin = await person("adam", "admin", "bounded");
    const set = (settings: object, more: object = {}, by = owner) =>
      by.call("PATCH", "/accounts/bounded", { settings, ...more });
    expect((await set({ budget_month: "50.00 USD", requests_per_minute: "10" })).status).toBe(200);
    expect((await set({ budget_month: "100.00 USD" }, {}, admin)).status).toBe(200);
    const content = { kept: true, body_bytes_max: 4096, redactions: ["###-##-####"] };
    expect((await set({ content })).status).toBe(200);
    // A budget that the plan does not have is the owner's to set, and to take away.
    expect((await set({ budget_day: "1.00 USD" })).status).toBe(200);
    expect((await set({ budget_day: "0.00 USD" })).status).toBe(200);
    const before = await account("bounded");
    const wrong: readonly (readonly [string, object, object?])[] = [
      ["settings.budget_month_nanos", { budget_month: "100.01 USD" }],
      ["settings.budget_month_nanos", { budget_month_nanos: "0" }],
      ["settings.budget_month_nanos", {}, { update_mask: "budget_month" }],
      ["settings.budget_month_nanos", {}, { update_mask: "budgetMonthNanos" }],
      ["settings.requests_per_minute", { requests_per_minute: "61" }],
      ["settings.requests_per_minute", { requests_per_minute: 0 }, { update_mask: "concurrency,requests_per_minute" }],
      ["settings.model_limits", { model_limits: [] }, { update_mask: "model_limits" }],
      ["settings.model_limits", { model_limits: [{ model: "fake-1*", requests_per_minute: "1" }] }],
      ["settings.model_limits[0].requests_per_minute", { model_limits: [{ model: "fake-*" }] }],
      ["settings.content.body_bytes_max", { content: { ...content, body_bytes_max: 0 } }],
      ["settings.content.redactions", { content: { ...content, redactions: [] } }],
    ];
    for (const [param, settings, more] of wrong) {
      const { status, body } = await set(settings, more);
      expect([status, (body["error"] as Body)["param"]], JSON.stringify([settings, body])).toEqual([400, param]);
    }
    expect(await account("bounded")).toEqual(before);
    const line = { credit_line: { amount: "1.00 USD", period: "day" } };
    const refused = await set(line);
    expect(refused.reason, JSON.stringify(refused.body)).toBe("ROLE_MISSING");
    // What an operator demands of where requests go, an owner tightens and does not loosen.
    await done("PATCH", "/accounts/bounded", {
      settings: { demands: { region: ["eu", "us"] } },
      update_mask: "demands",
    });
    expect((await set({ demands: { region: ["eu"], trains: "no" } }, { update_mask: "demands" })).status).toBe(200);
    for (const demands of [{}, { region: ["us"], trains: "no" }, { region: ["eu"] }]) {
      const { status, body } = await set({ demands }, { update_mask: "demands" });
      expect([status, (body["error"] as Body)["param"]]).toEqual([400, "settings.demands"]);
    }
    const others = [
      await owner.call("POST", "/accounts/bounded:setPlan", { plan: "" }),
      await owner.call("POST", "/accounts/bounded:setPlan", { plan: "copied", copy_settings: true }),
      await owner.call("POST", "/plans/team:apply", { etag: "x" }),
      await owner.call("GET", "/plans/team/effect"),
      await (await person("mia", "member", "bounded")).call("PATCH", "/accounts/bounded", { settings: {} }),
      await (await person("vic", "viewer", "bounded")).call("PATCH", "/accounts/bounded", { settings: {} }),
    ];
    expect(others.map(({ reason }) => reason)).toEqual(others.map(() => "ROLE_MISSING"));
    // Neither another account's owner, nor the owner as somebody of another account.
    for (const id of ["later", "planless", "acme"])
      expect((await owner.call("PATCH", `/accounts/${id}`, { settings: { concurrency: "1" } })).status).toBe(404);
    expect((await owner.call("GET", "/accounts/acme/plan")).status).toBe(404);
    const key = await fetch(`${world.front.url}/api/v1/accounts/acme`, {
      method: "PATCH",
      headers: { authorization: `Bearer ${world.secret}`, "content-type": "application/json" },
      body: JSON.stringify({ settings: { concurrency: "1" } }),
    });
    expect(key.status).toBe(403);
    await key.body?.cancel();
  });

  test("keeps what an operator gave beyond the plan, and loses to a change that came first", async () => {
    await open("raised");
    const owner = await person("ora", "owner", "raised");
    await done("PATCH", "/accounts/raised", { settings: { budget_month: "500.00 USD" } });
    const { etag } = await account("raised");
    await done("PATCH", "/accounts/raised", { settings: { budget_month: "500.00 USD", concurrency: "3" } }, owner);
    const stale = await owner.call("PATCH", "/accounts/raised", { settings: { concurrency: "1" }, etag });
    expect(stale.reason).toBe("ETAG_STALE");
    expect((await owner.call("PATCH", "/accounts/raised", { settings: { budget_month: "501.00 USD" } })).status).toBe(
      400,
    );
    // Of many at once each is judged by what is there then: the account never gets beyond the plan again.
    await done("PATCH", "/accounts/raised", { settings: { budget_month: "1.00 USD" } });
    const answers = await Promise.all(
      ["500.00", "100.00", "50.00", "500.00"].map((usd) =>
        owner.call("PATCH", "/accounts/raised", { settings: { budget_month: `${usd} USD` } }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual([400, 200, 200, 400]);
  });

  test("gives members the plan's limits at most, and they begin with them", async () => {
    await open("peopled");
    const owner = await person("oda", "owner", "peopled");
    const member = await person("max", "member", "peopled");
    const limits = `/accounts/peopled/members/${await idOf(member)}/limits`;
    expect((await done("GET", limits))["settings"]).toMatchObject({ budget_month_nanos: "20000000000" });
    const { key } = (await done(
      "POST",
      "/keys",
      { settings: { name: "of max", budget_total: "9.00 USD" } },
      member,
    )) as {
      key: { settings: Body & { expire_time: string }; create_time: string };
    };
    expect(key.settings).toMatchObject({ budget_day_nanos: "2000000000", budget_total_nanos: "9000000000" });
    expect(Date.parse(key.settings.expire_time) - Date.parse(key.create_time)).toBeCloseTo(30 * 86_400_000, -4);
    for (const wrong of ["21.00 USD", "0.00 USD"])
      expect((await owner.call("PATCH", limits, { settings: { budget_month: wrong } })).status).toBe(400);
    await done("PATCH", limits, { settings: { budget_month: "5.00 USD", concurrency: "1" } }, owner);
    await change("team", { ...TEAM, members: { budget_month: "1" } });
    expect((await done("GET", limits))["settings"]).toMatchObject({ budget_month_nanos: "5000000000" });
    await done("PATCH", limits, { settings: { budget_month: "900.00 USD" } });
    await change("team", TEAM);
  });
});

describe("applying a plan to all", () => {
  interface Effect {
    readonly account_count: string;
    readonly changed_count: string;
    readonly fields: readonly { readonly field: string; readonly account_count: string }[];
    readonly etag: string;
  }
  const effect = async (name: string): Promise<Effect> =>
    (await done("GET", `/plans/${name}/effect`)) as unknown as Effect;

  test("shows the accounts and settings that change, and changes these and no others", async () => {
    await plan("all", { budget_month: "10", concurrency: "5" });
    for (const id of ["all-1", "all-2", "all-3"]) await open(id, "all");
    await open("not-all");
    expect(await effect("all")).toMatchObject({ account_count: "3", changed_count: "0", fields: [] });
    await change("all", { budget_month: "20", concurrency: "5", models: { "m*": { concurrency: "1" } } });
    await done("PATCH", "/accounts/all-2", { settings: { concurrency: "1" } });
    const shown = await effect("all");
    expect(shown).toMatchObject({
      account_count: "3",
      changed_count: "3",
      fields: [
        { field: "budget_month_nanos", account_count: "3" },
        { field: "concurrency", account_count: "1" },
        { field: "model_limits", account_count: "3" },
      ],
    });
    expect((await account("all-1")).settings).toMatchObject({ budget_month_nanos: "10000000000" });
    const applied = await done("POST", "/plans/all:apply", { etag: shown.etag });
    expect(applied).toMatchObject({ changed_count: "3", remaining_count: "0" });
    for (const id of ["all-1", "all-2", "all-3"])
      expect((await account(id)).settings).toMatchObject({
        budget_month_nanos: "20000000000",
        concurrency: "5",
        model_limits: [{ model: "m*", concurrency: "1" }],
      });
    expect((await account("not-all")).settings).toMatchObject({ budget_month_nanos: "100000000000" });
    // Each account has its record, with what changed.
    const records = await done("GET", "/audit_events?resource=accounts/all-2&method=AccountService.ApplyPlan");
    expect(JSON.stringify(records)).toContain("budget_month_nanos");
  });

  test("is refused where the plan or an account changed since it was shown", async () => {
    await plan("moved", { concurrency: "5" });
    await open("moved-1", "moved");
    await change("moved", { concurrency: "6" });
    const first = await effect("moved");
    await change("moved", { concurrency: "7" });
    expect((await operator.call("POST", "/plans/moved:apply", { etag: first.etag })).reason).toBe("ETAG_STALE");
    const second = await effect("moved");
    await done("PATCH", "/accounts/moved-1", { settings: { budget_day: "1.00 USD" } });
    expect((await operator.call("POST", "/plans/moved:apply", { etag: second.etag })).reason).toBe("ETAG_STALE");
    expect((await operator.call("POST", "/plans/moved:apply", {})).reason).toBe("PARAMETER_MISSING");
    // An account that is made meanwhile has the plan's values, so that the effect is still the one that was shown.
    const third = await effect("moved");
    await open("moved-2", "moved");
    const applied = await done("POST", "/plans/moved:apply", { etag: third.etag });
    expect(applied).toMatchObject({ changed_count: "1", remaining_count: "0" });
  });

  test("leaves each account as one of its writers made it, and ends with the plan's values", async () => {
    await plan("busy", { concurrency: "5" });
    const ids = Array.from({ length: 8 }, (_, index) => `busy-${index}`);
    for (const id of ids) await open(id, "busy");
    await change("busy", { concurrency: "6" });
    const { etag } = await effect("busy");
    const [applied] = await Promise.all([
      operator.call("POST", "/plans/busy:apply", { etag }),
      ...ids.map((id) => operator.call("PATCH", `/accounts/${id}`, { settings: { budget_day: "3.00 USD" } })),
    ]);
    expect([200, 409]).toContain(applied?.status);
    for (let left = "1"; left !== "0";) {
      const shown = await effect("busy");
      const again = await done("POST", "/plans/busy:apply", { etag: shown.etag });
      left = String(again["remaining_count"]);
    }
    for (const id of ids)
      expect((await account(id)).settings).toMatchObject({ concurrency: "6", budget_day_nanos: "0" });
  });
});
