/** Keys that keys make and change, for random settings in every dimension: never more than the maker has. */
import { fc } from "../../support/seeds.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { CallMetadata, Method } from "../../../src/api/channel.js";
import { type Key, KeyServiceService, KeySettings } from "../../../src/api/index.js";
import { callerOf } from "../../../src/keys/key-caller.js";
import { isWithin } from "../../../src/keys/within.js";
import { emptySettings, SETTING_NAMES } from "../../../src/keys/key-settings.js";
import { openCore, type OpenCore } from "../open-core.js";
import { TEST_ACT } from "../../support/acts.js";
import { bySweep } from "../../support/sweep.js";

const { createKey, updateKey, rotateKey, revokeKey, getKey, listKeys, getCaller } = KeyServiceService;
const SIGNAL = new AbortController().signal;
const MAKERS = bySweep({ short: 120, long: 300, all: 300 });
const STRANGERS = bySweep({ short: 50, long: 100, all: 100 });
const PERMISSIONS = ["SCOPE_MISSING", "KEY_TOO_WIDE", "RESOURCE_UNKNOWN", "ADDRESS_NOT_ALLOWED"].map(
  (name) => `ERROR_REASON_${name}`,
);

let core: OpenCore;
beforeAll(async () => {
  core = await openCore();
});
afterAll(() => core.close());

async function ask<Request, Response>(method: Method<Request, Response>, request: Request, secret: string) {
  const metadata: CallMetadata = { authorization: `Bearer ${secret}` };
  const call = { metadata, signal: SIGNAL, peer: "10.1.2.3", local: false };
  const outcome = await core.dispatcher.unary(method, request, call);
  return outcome.kind === "answered"
    ? { message: outcome.message, reason: "" }
    : { message: undefined, reason: outcome.error.reason };
}

const count = fc.constantFrom(0n, 0n, 0n, 0n, 0n, 0n, 1n, 5n, 6n, 100n);
const rarely = fc.constantFrom(false, false, false, true);
const globs = fc.array(fc.constantFrom("*", "gpt-*", "gpt-5", "gpt-5*", "*-mini", "gpt-*-mini", "o4", "a*b*c"), {
  maxLength: 3,
});
function mostlyEmpty(arbitrary: fc.Arbitrary<string[]>): fc.Arbitrary<string[]> {
  return fc.oneof({ weight: 3, arbitrary: fc.constant<string[]>([]) }, { weight: 1, arbitrary });
}
const settingsArb: fc.Arbitrary<KeySettings> = fc.record({
  name: fc.constantFrom("", "one"),
  scopes: fc.oneof(
    { weight: 4, arbitrary: fc.constant<string[]>(["keys"]) },
    {
      weight: 1,
      arbitrary: fc.subarray([
        "chat",
        "embeddings",
        "rerank",
        "moderations",
        "audio",
        "models",
        "usage",
        "keys",
        "audit",
        "alerts",
        "operator",
      ]),
    },
  ),
  models: mostlyEmpty(globs),
  modelsDenied: mostlyEmpty(globs),
  addresses: fc.oneof(
    { weight: 3, arbitrary: fc.constant<string[]>([]) },
    {
      weight: 1,
      arbitrary: fc.array(
        fc.constantFrom("10.0.0.0/8", "10.1.0.0/16", "10.1.2.3", "192.0.2.0/24", "::/0", "2001:db8::1"),
        {
          maxLength: 3,
        },
      ),
    },
  ),
  expireTime: fc.constantFrom(undefined, undefined, new Date("2030-01-01"), new Date("2031-01-01")),
  requestsPerMinute: count,
  tokensPerMinute: count,
  concurrency: count,
  budgetDayNanos: count,
  budgetWeekNanos: count,
  budgetMonthNanos: count,
  budgetQuarterNanos: count,
  budgetTotalNanos: count,
  requestCostMaxNanos: count,
  refuseUnaffordable: fc.boolean(),
  metadata: fc.constant({}),
  retriesRunAnew: fc.boolean(),
  strict: fc.boolean(),
  childrenEndWithIt: rarely,
  endStreamsOnRevoke: fc.constantFrom(undefined, true, false),
  endStreamsOnExpiry: rarely,
  cacheMarksOff: rarely,
});
/** A maker: it has the scope, no operator's, and comes from the address that the test calls from. */
const makerArb = settingsArb.map((settings) => ({
  ...settings,
  scopes: [...new Set(["keys", ...settings.scopes])].filter((scope) => scope !== "operator"),
  addresses: settings.addresses.length === 0 ? [] : [...settings.addresses, "10.1.2.3"],
}));

const NAMES = ["gpt-5", "gpt-5-mini", "gpt-4", "o4", "o4-mini", "gpt-mini", "abc", "aXbXc", "*", "zzz"];
const ADDRESSES = ["10.1.2.3", "10.1.9.9", "10.9.9.9", "192.0.2.7", "198.51.100.1", "2001:db8::1", "2001:db8::2"];

/** Beside the rules of the product: what the key can do, tried out. */
async function expectWithin(child: Key, maker: Key): Promise<void> {
  const [own, most] = [child.settings ?? emptySettings(), maker.settings ?? emptySettings()];
  for (const scope of own.scopes) expect(most.scopes).toContain(scope);
  const [narrow, wide] = [callerFor(own), callerFor(most)];
  for (const name of NAMES) if (narrow.mayUseModel(name)) expect(wide.mayUseModel(name), name).toBe(true);
  for (const one of ADDRESSES) if (narrow.mayComeFrom(one)) expect(wide.mayComeFrom(one), one).toBe(true);
  const bound = (limit: bigint): bigint => (limit === 0n ? 1n << 62n : limit);
  for (const field of ["requestsPerMinute", "tokensPerMinute", "concurrency", "requestCostMaxNanos"] as const)
    expect(bound(own[field]) <= bound(most[field]), field).toBe(true);
  for (const field of ["budgetDayNanos", "budgetMonthNanos", "budgetTotalNanos"] as const)
    expect(bound(own[field]) <= bound(most[field]), field).toBe(true);
  expect(own.expireTime?.getTime() ?? Infinity).toBeLessThanOrEqual(most.expireTime?.getTime() ?? Infinity);
  if (most.endStreamsOnRevoke !== false) expect(own.endStreamsOnRevoke).not.toBe(false);
  expect(own.endStreamsOnExpiry || !most.endStreamsOnExpiry).toBe(true);
  expect(own.childrenEndWithIt || !most.childrenEndWithIt).toBe(true);
}

describe("whatever a key with the scope keys asks for", () => {
  test("no key that it makes, changes or rotates may do more, and itself never more than before", async () => {
    let granted = 0;
    const names = [...SETTING_NAMES];
    await fc.assert(
      fc.asyncProperty(
        makerArb,
        settingsArb,
        settingsArb,
        fc.subarray(names, { minLength: 1 }),
        async (mine, wish, next, mask) => {
          const maker = await core.makeKey("acme", mine);
          const { message: me } = await ask(getCaller, {}, maker.secret);
          const made = await ask(
            createKey,
            { accountId: "", settings: wish, secret: "", secretDigest: "", hint: "" },
            maker.secret,
          );
          if (made.message?.key === undefined) expect(PERMISSIONS).toContain(made.reason);
          const target = made.message?.key ?? me?.key;
          if (me?.key === undefined || target === undefined) throw new Error("the maker is not known");
          if (made.message !== undefined) granted += 1;
          await expectWithin(target, me.key);
          expect(isWithin(target.settings ?? emptySettings(), me.key.settings ?? emptySettings())).toBe(true);
          const changed = await ask(
            updateKey,
            { id: target.id, settings: next, updateMask: mask, etag: "" },
            maker.secret,
          );
          if (changed.message?.key === undefined) expect(PERMISSIONS).toContain(changed.reason);
          else await expectWithin(changed.message.key, me.key);
          const itself = await ask(
            updateKey,
            { id: me.key.id, settings: next, updateMask: mask, etag: "" },
            maker.secret,
          );
          if (itself.message?.key === undefined) expect(PERMISSIONS).toContain(itself.reason);
          else await expectWithin(itself.message.key, me.key);
        },
      ),
      { numRuns: MAKERS },
    );
    expect(granted).toBeGreaterThan(MAKERS / 10);
  });

  test("a stranger's key that may do more is not seen, changed, rotated or revoked", async () => {
    await fc.assert(
      fc.asyncProperty(makerArb, settingsArb, async (mine, theirs) => {
        const maker = await core.makeKey("acme", mine);
        const stranger = await core.makeKey("acme", { ...theirs, scopes: [...theirs.scopes, "chat"] });
        const { key } = { ...(await ask(getKey, { id: stranger.id }, stranger.secret)).message };
        const own = (await core.parts.keys.get(maker.id)).settings ?? emptySettings();
        const other = key?.settings ?? (await core.parts.keys.get(stranger.id)).settings ?? emptySettings();
        if (isWithin(other, own)) return;
        const page = await ask(
          listKeys,
          { accountId: "", pageSize: 5, pageToken: "", text: "", ids: [] },
          maker.secret,
        );
        expect(page.message?.keys.map(({ id }) => id)).not.toContain(stranger.id);
        const id = stranger.id;
        for (const { reason } of [
          await ask(getKey, { id }, maker.secret),
          await ask(updateKey, { id, settings: { ...mine }, updateMask: ["name"], etag: "" }, maker.secret),
          await ask(rotateKey, { id, graceSeconds: 0 }, maker.secret),
          await ask(revokeKey, { id }, maker.secret),
        ])
          expect(reason).toBe("ERROR_REASON_RESOURCE_UNKNOWN");
      }),
      { numRuns: STRANGERS },
    );
  });

  test.each([
    { name: "ends with its maker where the maker says so", childrenEndWithIt: true, want: "ERROR_REASON_KEY_REVOKED" },
    { name: "outlives its maker where the maker does not", childrenEndWithIt: false, want: "" },
  ])("a key that it made $name", async ({ childrenEndWithIt, want }) => {
    const maker = await core.makeKey("acme", { scopes: ["keys", "models"], childrenEndWithIt });
    const wish = { ...emptySettings(), scopes: ["keys", "models"] };
    const child = await ask(
      createKey,
      { accountId: "", settings: wish, secret: "", secretDigest: "", hint: "" },
      maker.secret,
    );
    const grandchild = await ask(
      createKey,
      { accountId: "", settings: wish, secret: "", secretDigest: "", hint: "" },
      child.message?.secret ?? "",
    );
    const secrets = [child, grandchild].map(({ message }) => message?.secret ?? "");
    for (const secret of secrets) expect((await ask(getCaller, {}, secret)).reason).toBe("");
    expect((await ask(revokeKey, { id: maker.id }, maker.secret)).reason).toBe("");
    for (const secret of secrets) expect((await ask(getCaller, {}, secret)).reason).toBe(want);
  });

  test("a key that it made expires with it where it says so, also when its expiry is set later", async () => {
    const settings = { scopes: ["keys", "models"], childrenEndWithIt: true };
    const maker = await core.makeKey("acme", settings);
    const wish = { ...emptySettings(), scopes: ["models"] };
    const child = await ask(
      createKey,
      { accountId: "", settings: wish, secret: "", secretDigest: "", hint: "" },
      maker.secret,
    );
    const secret = child.message?.secret ?? "";
    expect((await ask(getCaller, {}, secret)).reason).toBe("");
    const past = { ...emptySettings(), expireTime: new Date(0) };
    await core.parts.keys.update(maker.id, past, ["expire_time"], { act: TEST_ACT });
    expect((await ask(getCaller, {}, secret)).reason).toBe("ERROR_REASON_KEY_EXPIRED");
  });
});

function callerFor(settings: KeySettings) {
  return callerOf({
    id: "key_probe",
    accountId: "acme",
    makerId: null,
    settings: KeySettings.encode(settings).finish(),
    digest: new Uint8Array(32),
    previousDigest: null,
    previousUntilMs: null,
    hint: "",
    createTimeMs: 1,
    revokeTimeMs: null,
    revision: 1,
  });
}
