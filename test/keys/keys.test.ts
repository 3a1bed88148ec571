/** How keys are made, changed and ended. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CallerChanged, type Coordination } from "../../src/coordination/coordination.js";
import { FOREIGN, openWorld, refusalOf, settingsOf, type World } from "./key-world.js";
import { TEST_ACT, TEST_EVENT } from "../support/acts.js";

let world: World;

beforeAll(async () => {
  world = await openWorld();
});

afterAll(async () => {
  await world.close();
});

const make = (some: Parameters<typeof settingsOf>[0] = {}) =>
  world.keys.create({ accountId: "acme", settings: settingsOf(some) }, TEST_ACT);

describe("create", () => {
  test("shows the secret once and keeps a digest and a hint", async () => {
    const { key, secret } = await make({ name: "ci" });
    expect(key).toMatchObject({
      accountId: "acme",
      hint: `${secret.slice(0, 7)}...${secret.slice(-2)}`,
      revokeTime: undefined,
    });
    expect(key.createTime).toEqual(new Date(world.clock.nowMs));
    expect(key.id).toMatch(/^key_[0-9a-z]{26}$/);
    const row = await world.store.keys.get(key.id);
    const stored = Buffer.from(
      JSON.stringify(row, (_, value) => (value instanceof Uint8Array ? Buffer.from(value).toString("latin1") : value)),
    );
    expect(stored.includes(secret.slice(7, -2))).toBe(false);
    expect(await world.keys.get(key.id)).toEqual(key);
  });

  test("gives a key without scopes the default ones, and keeps those that it names, each once", async () => {
    const plain = await world.keys.create({ accountId: "acme", settings: undefined }, TEST_ACT);
    expect(plain.key.settings?.scopes).toEqual([
      "chat",
      "embeddings",
      "rerank",
      "moderations",
      "audio",
      "models",
      "usage",
    ]);
    const named = await make({ scopes: ["keys", "chat", "keys"] });
    expect(named.key.settings?.scopes).toEqual(["keys", "chat"]);
  });

  test("keeps every setting", async () => {
    const settings = settingsOf({
      name: "all of them",
      scopes: ["chat"],
      models: ["gpt-*"],
      modelsDenied: ["*-pro"],
      addresses: ["10.0.0.0/8", "::1"],
      expireTime: new Date("2030-01-01T00:00:00.123Z"),
      requestsPerMinute: 1n,
      tokensPerMinute: 1_000_000_000n,
      concurrency: 3n,
      budgetDayNanos: 4n,
      budgetMonthNanos: 5n,
      budgetTotalNanos: 6n,
      requestCostMaxNanos: 7n,
      refuseUnaffordable: true,
      metadata: { team: "search" },
    });
    const { key } = await world.keys.create({ accountId: "acme", settings }, TEST_ACT);
    expect((await world.keys.get(key.id)).settings).toEqual(settings);
  });

  test.each([
    { param: "settings.name", some: { name: "x".repeat(129) } },
    { param: "settings.name", some: { name: "a\u0000b" } },
    { param: "settings.scopes", some: { scopes: ["chat", "root"] } },
    { param: "settings.models", some: { models: Array.from({ length: 101 }, () => "m") } },
    { param: "settings.models", some: { models: [""] } },
    { param: "settings.models_denied", some: { modelsDenied: ["x".repeat(257)] } },
    { param: "settings.addresses", some: { addresses: ["10.0.0.0/33"] } },
    { param: "settings.addresses", some: { addresses: Array.from({ length: 101 }, () => "::1") } },
    { param: "settings.expire_time", some: { expireTime: new Date(Number.NaN) } },
    { param: "settings.expire_time", some: { expireTime: new Date(-1) } },
    { param: "settings.requests_per_minute", some: { requestsPerMinute: 1_000_000_001n } },
    { param: "settings.tokens_per_minute", some: { tokensPerMinute: -1n } },
    { param: "settings.concurrency", some: { concurrency: 1_000_000_001n } },
    { param: "settings.budget_day_nanos", some: { budgetDayNanos: -1n } },
    { param: "settings.budget_month_nanos", some: { budgetMonthNanos: -1n } },
    { param: "settings.budget_total_nanos", some: { budgetTotalNanos: 10n ** 18n + 1n } },
    { param: "settings.request_cost_max_nanos", some: { requestCostMaxNanos: -1n } },
    {
      param: "settings.metadata",
      some: { metadata: Object.fromEntries(Array.from({ length: 17 }, (_, at) => [`k${at}`, ""])) },
    },
    { param: "settings.metadata", some: { metadata: { "": "x" } } },
    { param: "settings.metadata", some: { metadata: { k: "x".repeat(513) } } },
  ])("refuses a wrong $param", async ({ param, some }) => {
    const refusal = await refusalOf(() => make(some));
    expect([refusal.reason, refusal.metadata["param"]]).toEqual(["ERROR_REASON_PARAMETER_INVALID", param]);
    const { key } = await make();
    const name = param.replace("settings.", "");
    const update = await refusalOf(() => world.keys.update(key.id, settingsOf(some), [name], { act: TEST_ACT }));
    expect(update.metadata["param"]).toBe(param);
  });

  test("refuses an account that does not exist", async () => {
    const refusal = await refusalOf(() => world.keys.create({ accountId: "nobody", settings: undefined }, TEST_ACT));
    expect([refusal.reason, refusal.metadata["kind"]]).toEqual(["ERROR_REASON_RESOURCE_UNKNOWN", "account"]);
  });
});

describe("import", () => {
  test("takes a foreign secret, once over all accounts", async () => {
    const { key, secret } = await world.keys.create(
      { accountId: "acme", settings: undefined, secret: FOREIGN },
      TEST_ACT,
    );
    expect([secret, key.hint]).toEqual([FOREIGN, "sk-pr...89"]);
    const refusal = await refusalOf(() =>
      world.keys.create({ accountId: "other", settings: undefined, secret: FOREIGN }, TEST_ACT),
    );
    expect(refusal.reason).toBe("ERROR_REASON_ALREADY_EXISTS");
    expect(refusal.message).not.toContain(FOREIGN.slice(5, -2));
  });

  test("takes one of two at the same time", async () => {
    const secret = "sk-imported-twice-at-the-same-time";
    const ends = await Promise.allSettled(
      [1, 2, 3].map(() => world.keys.create({ accountId: "acme", settings: undefined, secret }, TEST_ACT)),
    );
    expect(ends.filter((end) => end.status === "fulfilled")).toHaveLength(1);
  });

  test("refuses a secret that a key gave up", async () => {
    const { key, secret } = await make();
    await world.keys.rotate(key.id, 0, TEST_ACT);
    const refusal = await refusalOf(() =>
      world.keys.create({ accountId: "other", settings: undefined, secret }, TEST_ACT),
    );
    expect(refusal.reason).toBe("ERROR_REASON_ALREADY_EXISTS");
  });

  test.each([
    { secret: `sk-tg${"a".repeat(46)}`, says: "mistyped" },
    { secret: "sk-short", says: "16 to 253" },
    { secret: "password-of-some-length", says: "16 to 253" },
    { secret: "sk-with spaces within the secret", says: "16 to 253" },
  ])("refuses $secret and says why", async ({ secret, says }) => {
    const refusal = await refusalOf(() =>
      world.keys.create({ accountId: "acme", settings: undefined, secret }, TEST_ACT),
    );
    expect([refusal.reason, refusal.metadata["param"]]).toEqual(["ERROR_REASON_PARAMETER_INVALID", "secret"]);
    expect(refusal.message).toContain(says);
  });
});

describe("a seed", () => {
  const secret = "sk-seed-of-the-settings-file";

  test("makes its key once and never changes it", async () => {
    const first = await world.keys.ensureSeed(
      { accountId: "acme", secret, settings: settingsOf({ name: "one" }) },
      TEST_ACT,
    );
    const again = await world.keys.ensureSeed(
      { accountId: "other", secret, settings: settingsOf({ name: "two" }) },
      TEST_ACT,
    );
    expect(again).toEqual(first);
    await world.keys.revoke(first.id, TEST_ACT);
    const revoked = await world.keys.ensureSeed({ accountId: "acme", secret, settings: undefined }, TEST_ACT);
    expect(revoked.revokeTime).toBeDefined();
  });

  test("on many nodes at once makes one key", async () => {
    const seed = { accountId: "acme", secret: "sk-seed-of-many-nodes-at-once", settings: undefined };
    const keys = await Promise.all([1, 2, 3, 4].map(() => world.node().ensureSeed(seed, TEST_ACT)));
    expect(new Set(keys.map((key) => key.id)).size).toBe(1);
  });

  test("that is wrong is refused", async () => {
    const refusal = await refusalOf(() =>
      world.keys.ensureSeed({ accountId: "acme", secret: "sk-x", settings: undefined }, TEST_ACT),
    );
    expect(refusal.reason).toBe("ERROR_REASON_PARAMETER_INVALID");
  });
});

describe("update", () => {
  test("changes what the mask names and nothing else, from the next call", async () => {
    const { key, secret } = await make({ name: "before", requestsPerMinute: 5n, refuseUnaffordable: true });
    await world.keys.authenticate(secret);
    const given = settingsOf({ name: "after", requestsPerMinute: 9n, modelsDenied: ["gpt-*"] });
    const updated = await world.keys.update(
      key.id,
      given,
      ["requests_per_minute", "models_denied", "refuse_unaffordable"],
      { act: TEST_ACT },
    );
    expect(updated.settings).toEqual({
      ...key.settings,
      requestsPerMinute: 9n,
      modelsDenied: ["gpt-*"],
      refuseUnaffordable: false,
    });
    const caller = await world.keys.authenticate(secret);
    expect([caller.settings.requestsPerMinute, caller.mayUseModel("gpt-5")]).toEqual([9n, false]);
  });

  test("can take all scopes away", async () => {
    const { key } = await make();
    expect((await world.keys.update(key.id, settingsOf(), ["scopes"], { act: TEST_ACT })).settings?.scopes).toEqual([]);
  });

  test.each([
    { name: "no mask", mask: [], reason: "ERROR_REASON_PARAMETER_MISSING" },
    { name: "an unknown name", mask: ["name", "rpm"], reason: "ERROR_REASON_PARAMETER_INVALID" },
    { name: "a name in camel case", mask: ["requestsPerMinute"], reason: "ERROR_REASON_PARAMETER_INVALID" },
    { name: "a field of the key", mask: ["account_id"], reason: "ERROR_REASON_PARAMETER_INVALID" },
    { name: "a name of every object", mask: ["__proto__"], reason: "ERROR_REASON_PARAMETER_INVALID" },
  ])("refuses $name and changes nothing", async ({ mask, reason }) => {
    const { key } = await make();
    const refusal = await refusalOf(() =>
      world.keys.update(key.id, settingsOf({ name: "x" }), mask, { act: TEST_ACT }),
    );
    expect([refusal.reason, refusal.metadata["param"]]).toEqual([reason, "update_mask"]);
    expect(await world.keys.get(key.id)).toEqual(key);
  });

  test("loses no change of another node in between", async () => {
    const { key } = await make();
    const other = world.node();
    world.watched.beforeReplace = async () => {
      await other.update(key.id, settingsOf({ concurrency: 7n }), ["concurrency"], { act: TEST_ACT });
    };
    await world.keys.update(key.id, settingsOf({ name: "mine" }), ["name"], { act: TEST_ACT });
    expect((await world.keys.get(key.id)).settings).toMatchObject({ name: "mine", concurrency: 7n });
    expect((await world.store.keys.get(key.id))?.revision).toBe(3);
  });

  test("of many at once loses none", async () => {
    const { key } = await make();
    const fields = ["budget_day_nanos", "budget_month_nanos", "budget_total_nanos", "request_cost_max_nanos"];
    const given = settingsOf({
      budgetDayNanos: 1n,
      budgetMonthNanos: 2n,
      budgetTotalNanos: 3n,
      requestCostMaxNanos: 4n,
    });
    await Promise.all(fields.map((field) => world.node().update(key.id, given, [field], { act: TEST_ACT })));
    expect((await world.keys.get(key.id)).settings).toEqual({ ...given, scopes: key.settings?.scopes });
  });

  test("cannot wake a revoked key, and does not bring one back that is revoked in between", async () => {
    const { key } = await make();
    world.watched.beforeReplace = async () => {
      await world.node().revoke(key.id, TEST_ACT);
    };
    const refusal = await refusalOf(() =>
      world.keys.update(key.id, settingsOf({ name: "x" }), ["name"], { act: TEST_ACT }),
    );
    expect([refusal.reason, refusal.metadata["param"]]).toEqual(["ERROR_REASON_PARAMETER_INVALID", "id"]);
    expect((await world.keys.get(key.id)).revokeTime).toBeDefined();
    expect((await refusalOf(() => world.keys.rotate(key.id, 0, TEST_ACT))).reason).toBe(
      "ERROR_REASON_PARAMETER_INVALID",
    );
  });
});

describe("revoke", () => {
  test("repeated changes nothing, its time neither", async () => {
    const { key } = await make();
    const revoked = await world.keys.revoke(key.id, TEST_ACT);
    world.clock.nowMs += 1_000;
    expect(await world.keys.revoke(key.id, TEST_ACT)).toEqual(revoked);
    expect((await world.store.keys.get(key.id))?.revision).toBe(2);
  });

  test("repeated tells the nodes, for whoever revoked may have died before", async () => {
    const { key, secret } = await make();
    const other = world.node();
    await other.authenticate(secret);
    // The commit of a node that did not live to tell of it.
    const row = await world.store.keys.get(key.id);
    await world.store.keys.replace({ ...row!, revokeTimeMs: world.clock.nowMs, revision: 2 }, TEST_EVENT);
    expect(other.authenticate(secret)).not.toBeInstanceOf(Promise);
    await world.keys.revoke(key.id, TEST_ACT);
    expect((await refusalOf(() => other.authenticate(secret))).reason).toBe("ERROR_REASON_KEY_REVOKED");
    expect((await world.store.keys.get(key.id))?.revision).toBe(2);
  });

  test("tells the other nodes only after the commit", async () => {
    const told: unknown[] = [];
    const { key } = await make();
    const coordination: Coordination = {
      ...world.coordination,
      onRevision: () => undefined,
      publishRevision: async (accountId, keyId) => {
        const row = await world.store.keys.get(keyId);
        told.push([accountId, keyId, row?.revision, row?.revokeTimeMs]);
      },
    };
    await world.node({ coordination }).revoke(key.id, TEST_ACT);
    expect(told).toEqual([["acme", key.id, 2, world.clock.nowMs]]);
  });

  test("succeeds and reports where the other nodes cannot be told", async () => {
    const { key, secret } = await make();
    const reported: unknown[] = [];
    const coordination: Coordination = {
      ...world.coordination,
      onRevision: () => undefined,
      publishRevision: () => Promise.reject(new Error("away")),
    };
    const node = world.node({ coordination, onPublishError: (error, keyId) => reported.push([String(error), keyId]) });
    await node.authenticate(secret);
    expect((await node.revoke(key.id, TEST_ACT)).revokeTime).toBeDefined();
    expect(reported).toEqual([["Error: away", key.id]]);
    expect((await refusalOf(() => node.authenticate(secret))).reason).toBe("ERROR_REASON_KEY_REVOKED");
  });
});

test.each([-1, 1.5, Number.NaN, 2_592_001])("rotate refuses a grace of %s seconds", async (graceSeconds) => {
  const { key } = await make();
  const refusal = await refusalOf(() => world.keys.rotate(key.id, graceSeconds, TEST_ACT));
  expect([refusal.reason, refusal.metadata["param"]]).toEqual(["ERROR_REASON_PARAMETER_INVALID", "grace_seconds"]);
});

test("a key that does not exist is refused by each method", async () => {
  const calls = [
    () => world.keys.get("key_none"),
    () => world.keys.update("key_none", settingsOf(), ["name"], { act: TEST_ACT }),
    () => world.keys.revoke("key_none", TEST_ACT),
    () => world.keys.rotate("key_none", 0, TEST_ACT),
  ];
  for (const call of calls) {
    const refusal = await refusalOf(call);
    expect([refusal.reason, refusal.metadata["kind"]]).toEqual(["ERROR_REASON_RESOURCE_UNKNOWN", "key"]);
  }
});

test("a list shows one account's keys or all, newest first, page by page", async () => {
  const made = [];
  for (let count = 0; count < 5; count++) {
    world.clock.nowMs += 1;
    made.unshift((await world.keys.create({ accountId: "other", settings: undefined }, TEST_ACT)).key.id);
  }
  const shown = [];
  for (let token = "", pages = 0; pages === 0 || token !== ""; pages++) {
    const page = await world.keys.list({ accountId: "other" }, { size: 2, token });
    shown.push(...page.keys.map((key) => key.id));
    token = page.nextPageToken;
  }
  expect(shown.slice(0, 5)).toEqual(made);
  const all = await world.keys.list({}, { size: 1_000, token: "" });
  expect(new Set(all.keys.map((key) => key.accountId))).toEqual(new Set(["acme", "other"]));
});

test("a key is found by what its name, hint and id are now", async () => {
  const { key } = await make({ name: "Nightly build" });
  const isFoundBy = async (text: string): Promise<boolean> => {
    const { keys } = await world.keys.list({ accountId: "acme", text }, { size: 1_000, token: "" });
    return keys.some(({ id }) => id === key.id);
  };
  expect(await Promise.all(["nightly", key.hint, key.id].map(isFoundBy))).toEqual([true, true, true]);
  await world.keys.update(key.id, settingsOf({ name: "weekly" }), ["name"], { act: TEST_ACT });
  const rotated = await world.keys.rotate(key.id, 0, TEST_ACT);
  expect(await isFoundBy("nightly")).toBe(false);
  expect(await Promise.all(["weekly", rotated.key.hint, key.id].map(isFoundBy))).toEqual([true, true, true]);
});

test("the keys in the line that made a key are named, its maker first", async () => {
  const ids: string[] = [];
  for (let count = 0; count < 3; count++)
    ids.unshift(
      (await world.keys.create({ accountId: "acme", settings: undefined, makerId: ids[0] }, TEST_ACT)).key.id,
    );
  expect(await world.keys.makersOf(ids[0] ?? "")).toEqual(ids.slice(1));
  expect(await world.keys.makersOf(ids[2] ?? "")).toEqual([]);
});

test("a hidden key that changes whenever it is read lets nobody in", async () => {
  const { id } = await world.keys.createHidden({ accountId: "acme", settings: undefined });
  expect((await world.keys.hiddenCaller(id)).keyId).toBe(id);
  let reads = 0;
  const { keys } = world.store;
  const read: typeof keys.get = async (asked) => {
    reads += 1;
    await node.publishAccount("acme");
    return keys.get(asked);
  };
  const node = world.node({ store: { ...world.store, keys: { ...keys, get: read } } });
  await expect(node.hiddenCaller(id)).rejects.toBeInstanceOf(CallerChanged);
  expect(reads).toBe(16);
});
