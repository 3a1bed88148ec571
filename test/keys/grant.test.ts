/** What a caller may do to keys. */
import { describe, expect, test } from "vitest";
import { type Key, KeySettings } from "../../src/api/index.js";
import { QuotaPeriod } from "../../gen/tollgate/v1/quota.js";
import type { Caller } from "../../src/keys/caller.js";
import {
  grantedParams,
  type KeyInLine,
  maySee,
  requireMayChange,
  requireMayEnd,
  requireMayRotate,
} from "../../src/keys/grant.js";
import { callerOf } from "../../src/keys/key-caller.js";
import { MAKERS_MAX } from "../../src/keys/standing.js";
import { isWithin } from "../../src/keys/within.js";
import { FOREIGN, refusalOf, settingsOf } from "./key-world.js";

function callerWith(settings: Partial<KeySettings>, id = "key_1", maker?: Caller): Caller {
  const row = {
    id,
    accountId: "acme",
    settings: KeySettings.encode(settingsOf(settings)).finish(),
    digest: new Uint8Array(32),
    previousDigest: null,
    previousUntilMs: null,
    hint: "sk-tg12...34",
    makerId: maker?.keyId ?? null,
    createTimeMs: 1,
    revokeTimeMs: null,
    revision: 1,
  };
  return callerOf(row, maker);
}

const manager = callerWith({ scopes: ["keys", "chat"] });
const operator = callerWith({ scopes: ["operator"] });
const keyWith = (accountId: string, some: Partial<KeySettings>, makerId = "") => ({
  ...manager.key,
  id: "key_2",
  accountId,
  makerId,
  settings: settingsOf(some),
});
/** A key that another one made, which `makerIds` made in their turn. */
const lineOf = (key: Key, ...makerIds: readonly string[]): KeyInLine => ({
  key,
  makerIds: key.makerId === "" ? makerIds : [key.makerId, ...makerIds],
});
const CHAT = settingsOf({ scopes: ["chat"] });

test.each([
  {
    name: "makes a key of its account",
    call: () => grantedParams(manager, { accountId: "acme", settings: CHAT }),
    want: "",
  },
  {
    name: "makes no key of another account",
    call: () => grantedParams(manager, { accountId: "other", settings: CHAT }),
    want: "RESOURCE_UNKNOWN",
  },
  {
    name: "imports no secret",
    call: () => grantedParams(manager, { accountId: "acme", settings: CHAT, secret: FOREIGN }),
    want: "SCOPE_MISSING",
  },
  {
    name: "makes no operator",
    call: () => grantedParams(manager, { accountId: "acme", settings: settingsOf({ scopes: ["chat", "operator"] }) }),
    want: "SCOPE_MISSING",
  },
  {
    name: "makes its own key no operator's",
    call: () => requireMayChange(manager, lineOf(manager.key), settingsOf({ scopes: ["operator"] })),
    want: "KEY_TOO_WIDE",
  },
  {
    name: "rotates a key that it made",
    call: () => requireMayRotate(manager, lineOf(keyWith("acme", CHAT, manager.keyId))),
    want: "",
  },
  {
    name: "rotates a key that was made by one that it made",
    call: () => requireMayRotate(manager, lineOf(keyWith("acme", CHAT, "key_7"), manager.keyId)),
    want: "",
  },
  ...[
    { whose: "an operator", key: lineOf(keyWith("acme", CHAT)) },
    { whose: "another key", key: lineOf(keyWith("acme", CHAT, "key_7"), "key_8") },
  ].flatMap(({ whose, key }) => [
    {
      name: `rotates none that ${whose} made, though it may do no more`,
      call: () => requireMayRotate(manager, key),
      want: "SCOPE_MISSING",
    },
    {
      name: `changes none that ${whose} made, though it may do no more`,
      call: () => requireMayChange(manager, key, CHAT),
      want: "SCOPE_MISSING",
    },
    {
      name: `ends none that ${whose} made, though it may do no more`,
      call: () => requireMayEnd(manager, key),
      want: "SCOPE_MISSING",
    },
  ]),
  {
    name: "does not see a key of another account",
    call: () => requireMayRotate(manager, lineOf(keyWith("other", CHAT))),
    want: "RESOURCE_UNKNOWN",
  },
  {
    name: "does not see an operator's key of its account",
    call: () => requireMayRotate(manager, lineOf(keyWith("acme", { scopes: ["operator"] }))),
    want: "RESOURCE_UNKNOWN",
  },
  {
    name: "does not rotate a key that it made and that is stronger than itself by now",
    call: () => requireMayRotate(manager, lineOf(keyWith("acme", { scopes: ["usage"] }, manager.keyId))),
    want: "SCOPE_MISSING",
  },
])("a manager of keys $name", async ({ call, want }) => {
  if (want === "") call();
  else expect((await refusalOf(call)).reason).toBe(`ERROR_REASON_${want}`);
});

test.each([
  { name: "an owner makes a key of the account", role: "owner", given: {}, want: "" },
  { name: "an owner makes no key of another account", role: "owner", given: { accountId: "other" }, want: "UNKNOWN" },
  { name: "a member makes no key that makes keys", role: "member", given: { scopes: ["keys"] }, want: "ROLE_MISSING" },
  { name: "an operator makes a key of any account", role: "operator", given: { accountId: "other" }, want: "" },
] as const)("$name, and is named as who made it", async ({ role, given, want }) => {
  const user = { id: "user_1", sessionId: "s", role, lacksSecondFactor: false, isFresh: true };
  const caller: Caller = Object.assign(callerWith({}), { user });
  const { accountId = "acme", scopes = ["chat"] } = given as { accountId?: string; scopes?: string[] };
  const grant = () => grantedParams(caller, { accountId, settings: settingsOf({ scopes: [...scopes] }) });
  if (want === "") expect(grant()).toMatchObject({ accountId, settings: { scopes }, makerUserId: "user_1" });
  else expect((await refusalOf(grant)).reason).toContain(want);
});

describe("a key's own quotas", () => {
  const quota = (requests: bigint, tokens = 0n, model = "") => ({
    period: QuotaPeriod.QUOTA_PERIOD_DAY,
    model,
    requests,
    tokens,
    amountNanos: 0n,
    amount: undefined,
    warnPercent: 0,
  });
  const limited = callerWith({ scopes: ["keys"], quotas: { limits: [quota(10n)] } });
  const changeTo = (...limits: readonly ReturnType<typeof quota>[]) =>
    requireMayChange(
      limited,
      lineOf(limited.key),
      settingsOf({ scopes: ["keys"], ...(limits.length === 0 ? {} : { quotas: { limits: [...limits] } }) }),
    );

  test.each([
    ["deleted", []],
    ["raised", [quota(11n)]],
    ["moved to one model", [quota(10n, 0n, "gpt-*")]],
    ["moved to another measure", [quota(0n, 5n)]],
  ])("are not %s by the key itself", async (_name, limits) => {
    expect((await refusalOf(() => changeTo(...limits))).reason).toBe("ERROR_REASON_KEY_TOO_WIDE");
  });

  test("are lowered and added to by the key itself", () => {
    changeTo(quota(10n));
    changeTo(quota(9n), quota(5n, 0n, "gpt-*"));
  });
});

test("an operator may do all of it, and is nobody's maker", () => {
  const wish = { accountId: "other", settings: settingsOf({ scopes: ["operator"] }), secret: FOREIGN };
  expect(grantedParams(operator, wish).makerId).toBeUndefined();
  requireMayRotate(operator, lineOf(keyWith("other", { scopes: ["operator"] })));
  requireMayChange(operator, lineOf(keyWith("other", {})), settingsOf({ scopes: ["operator"] }));
  expect(operator.hasScope("keys")).toBe(true);
});

describe("a key that a key made", () => {
  const limited = callerWith({ scopes: ["keys", "chat"], models: ["gpt-*"], requestsPerMinute: 10n, concurrency: 2n });

  test("has its maker's limits wherever it says nothing", () => {
    const { settings, makerId } = grantedParams(limited, { accountId: "acme", settings: CHAT });
    expect(settings).toMatchObject({ models: ["gpt-*"], requestsPerMinute: 10n, concurrency: 2n, scopes: ["chat"] });
    expect(makerId).toBe(limited.keyId);
  });

  test("has each of its maker's bounds wherever it says nothing", () => {
    const bounds: Partial<KeySettings> = {
      models: ["gpt-*"],
      modelsDenied: ["gpt-4*"],
      addresses: ["10.0.0.0/8"],
      expireTime: new Date("2030-01-01"),
      requestsPerMinute: 1n,
      tokensPerMinute: 2n,
      concurrency: 3n,
      budgetDayNanos: 4n,
      budgetMonthNanos: 5n,
      budgetTotalNanos: 6n,
      requestCostMaxNanos: 7n,
      childrenEndWithIt: true,
      endStreamsOnRevoke: true,
      endStreamsOnExpiry: true,
    };
    const maker = callerWith({ scopes: ["keys", "chat"], ...bounds });
    expect(grantedParams(maker, { accountId: "acme", settings: CHAT }).settings).toMatchObject(bounds);
    // A maker in between that says nothing itself changes nothing.
    const between = callerWith({ scopes: ["keys", "chat"] }, "key_2", maker);
    expect(grantedParams(between, { accountId: "acme", settings: CHAT }).settings).toMatchObject(bounds);
  });

  test("is refused what any of its makers may not, whatever the key in between says", async () => {
    const most = callerWith({ scopes: ["keys", "chat"], modelsDenied: ["o4"], addresses: ["10.0.0.0/8"] });
    const wide = { scopes: ["keys", "chat"], modelsDenied: [], addresses: ["10.0.0.0/8", "192.0.2.0/24"] };
    const between = callerWith(wide, "key_2", most);
    const wish = settingsOf({ scopes: ["chat"], addresses: ["192.0.2.7"] });
    const { reason } = await refusalOf(() => grantedParams(between, { accountId: "acme", settings: wish }));
    expect(reason).toBe("ERROR_REASON_KEY_TOO_WIDE");
  });

  test("is used within the settings that its maker has now, though they were wider when it was made", () => {
    const wide = callerWith({ scopes: ["chat"], requestsPerMinute: 100n, requestCostMaxNanos: 7n }, "key_2", limited);
    const narrow = callerWith({ scopes: [], addresses: ["10.0.0.0/8"], requestCostMaxNanos: 5n }, "key_1");
    expect(wide.settings).toMatchObject({ requestsPerMinute: 10n, concurrency: 2n, requestCostMaxNanos: 7n });
    expect([wide.mayUseModel("gpt-5"), wide.mayUseModel("o4")]).toEqual([true, false]);
    const cut = callerWith({ scopes: ["chat"], requestCostMaxNanos: 7n }, "key_2", narrow);
    expect(cut.hasScope("chat")).toBe(false);
    expect([cut.mayComeFrom("10.1.2.3"), cut.mayComeFrom("192.0.2.1"), cut.mayComeFrom("")]).toEqual([
      true,
      false,
      false,
    ]);
    expect(cut.settings.requestCostMaxNanos).toBe(5n);
  });

  test("makes keys within its own and all its makers' settings, and not without end", async () => {
    const child = callerWith({ scopes: ["keys", "chat"], requestsPerMinute: 5n, models: ["gpt-*"] }, "key_2", limited);
    const wish = { accountId: "acme", settings: settingsOf({ scopes: ["chat"], models: ["gpt-5"] }) };
    expect(grantedParams(child, wish).settings).toMatchObject({ requestsPerMinute: 5n, concurrency: 2n });
    let last = limited;
    for (let count = 0; count < MAKERS_MAX; count += 1)
      last = callerWith({ scopes: ["keys", "chat"] }, `key_${count}`, last);
    expect((await refusalOf(() => grantedParams(last, wish))).reason).toBe("ERROR_REASON_KEY_TOO_WIDE");
    expect(grantedParams(last.maker ?? last, wish).makerId).toBe(`key_${MAKERS_MAX - 2}`);
  });

  test.each([
    { count: 1, want: "must be among m0" },
    { count: 8, want: "must be among m0, m1, m2, m3, m4, m5, m6, m7" },
    { count: 9, want: "must be among m0, m1, m2, m3, m4, m5, m6, m7, ..." },
  ])("that asks for another model is told of $count, or of the first eight", async ({ count, want }) => {
    const models = Array.from({ length: count }, (_, index) => `m${index}`);
    const maker = callerWith({ scopes: ["keys", "chat"], models });
    const wish = { accountId: "acme", settings: settingsOf({ scopes: ["chat"], models: ["o4"] }) };
    const { metadata } = await refusalOf(() => grantedParams(maker, wish));
    expect(metadata["problem"]).toContain(want);
    expect(metadata["problem"]?.endsWith("...")).toBe(count > 8);
  });

  test.each([
    { name: "that names its models need not deny others", models: ["gpt-5"], want: true },
    { name: "that names the denied one must deny it", models: ["gpt-5", "o4"], want: false },
    { name: "that names a glob must deny it", models: ["o*"], want: false },
    { name: "that names no model must deny it", models: [], want: false },
  ])("whose maker is denied a model, $name", ({ models, want }) => {
    expect(isWithin(settingsOf({ models }), settingsOf({ modelsDenied: ["o4"] }))).toBe(want);
  });

  test("is seen by its maker, and by who may do all that it may", () => {
    expect(maySee(manager, keyWith("acme", { scopes: ["usage"] }, manager.keyId))).toBe(true);
    expect(maySee(manager, keyWith("acme", { scopes: ["usage"] }))).toBe(false);
    expect(maySee(limited, keyWith("acme", CHAT))).toBe(false);
  });
});
