/** What the services answer and whom: rows of one's own account, pages, amounts, days. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Method } from "../../../src/api/channel.js";
import {
  AccountServiceService as accounts,
  EntryKind,
  FrontServiceService as fronts,
  KeyServiceService as keys,
  KeySettings,
  ModelServiceService as models,
  RequestState,
  UpstreamHealth,
  UpstreamServiceService as upstreams,
  UsageServiceService as usage,
} from "../../../src/api/index.js";
import { GatewayError } from "../../../src/base/errors.js";
import { ask, listed } from "../edges.js";
import { openCore, type OpenCore } from "../open-core.js";
import { spend } from "../spending.js";
import { TEST_ACT } from "../../support/acts.js";

const PARAMETER_INVALID = "ERROR_REASON_PARAMETER_INVALID";
const PARAMETER_MISSING = "ERROR_REASON_PARAMETER_MISSING";
const RESOURCE_UNKNOWN = "ERROR_REASON_RESOURCE_UNKNOWN";
const SCOPE_MISSING = "ERROR_REASON_SCOPE_MISSING";
const ALREADY_EXISTS = "ERROR_REASON_ALREADY_EXISTS";
const PAGE = { pageSize: 0, pageToken: "" };
const KEYS = { ...PAGE, accountId: "", ids: [], text: "" };
const CLIENT_SCOPES = ["chat", "embeddings", "rerank", "moderations", "audio", "models", "usage"];

let core: OpenCore;
let operator = "";
let member = "";
let memberKeyId = "";
let stranger = "";
let acmeRequest = "";

beforeAll(async () => {
  core = await openCore();
  await core.parts.ledger.start();
  operator = (await core.makeKey("root", { scopes: ["operator"] })).secret;
  ({ secret: member, id: memberKeyId } = await core.makeKey("acme", { scopes: [...CLIENT_SCOPES, "keys"] }));
  stranger = (await core.makeKey("other", { scopes: [...CLIENT_SCOPES, "keys"] })).secret;
  await core.parts.ledger.credit({ creditId: "first", accountId: "acme", amountNanos: 1_000n, act: TEST_ACT });
  acmeRequest = await spend(core, { accountId: "acme", keyId: memberKeyId, model: "alpha" });
});
afterAll(async () => {
  await core.parts.ledger.close();
  await core.close();
});

const call = <Request, Response>(
  secret: string,
  method: Method<Request, Response>,
  request: Request,
): Promise<Response> => ask(core, secret, method, request);

/** The refusal's reason, with the wrong parameter where there is one. */
async function refused(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return "answered";
  } catch (error) {
    const { reason, metadata } = GatewayError.from(error);
    return [reason, metadata["param"] ?? metadata["scope"]].filter((part) => part !== undefined).join(" ");
  }
}

function settings(part: Partial<KeySettings> = {}): KeySettings {
  return { ...KeySettings.decode(new Uint8Array()), ...part };
}

const update = (secret: string, id: string, given: KeySettings | undefined, updateMask: string[]) =>
  call(secret, keys.updateKey, { id, settings: given, updateMask, etag: "" });

const accountsOf = (secret: string, page: typeof PAGE) =>
  call(secret, accounts.listAccounts, { state: 0, text: "", order: 0, plan: "", ...page });

describe("accounts", () => {
  test("an operator opens one, credits it once, and reads it back", async () => {
    const { account } = await call(operator, accounts.createAccount, { id: "new.co", name: "New", plan: "" });
    expect(account).toMatchObject({ id: "new.co", name: "New", plan: "" });
    const credit = { id: "new.co", amountNanos: 500n, creditId: "inv-1", reason: "" };
    expect(await call(operator, accounts.creditAccount, credit)).toMatchObject({
      availableNanos: 500n,
      repeatedCredit: false,
    });
    expect(await call(operator, accounts.creditAccount, credit)).toMatchObject({
      availableNanos: 500n,
      repeatedCredit: true,
    });
    expect(await call(operator, accounts.getBalance, { id: "new.co" })).toMatchObject({
      availableNanos: 500n,
      heldNanos: 0n,
      spentNanos: 0n,
      grantedNanos: 500n,
      refundedNanos: 0n,
      debitedNanos: 0n,
      receivableNanos: 0n,
    });
    const { entries } = await call(operator, accounts.listEntries, { id: "new.co", ...PAGE });
    const kind = EntryKind.ENTRY_KIND_CREDIT;
    expect(entries).toMatchObject([{ kind, amountNanos: 500n, availableChangeNanos: 500n, requestId: "" }]);
  });

  test("an account without an id gets one", async () => {
    const { account } = await call(operator, accounts.createAccount, { id: "", name: "", plan: "" });
    expect(account?.id).toMatch(/^acct_[0-9a-f]{32}$/);
  });

  test.each([
    { name: "an id with capitals", request: { id: "Acme", name: "" }, want: `${PARAMETER_INVALID} id` },
    { name: "an id that is too long", request: { id: "a".repeat(65), name: "" }, want: `${PARAMETER_INVALID} id` },
    { name: "an id of a path", request: { id: "a/b", name: "" }, want: `${PARAMETER_INVALID} id` },
    { name: "an endless name", request: { id: "b", name: "n".repeat(257) }, want: `${PARAMETER_INVALID} name` },
    { name: "a taken id", request: { id: "acme", name: "" }, want: ALREADY_EXISTS },
    {
      name: "a plan that is not there",
      request: { id: "b", name: "", plan: "none" },
      want: RESOURCE_UNKNOWN,
    },
  ])("$name is refused", async ({ request, want }) => {
    expect(await refused(call(operator, accounts.createAccount, { plan: "", ...request }))).toBe(want);
  });

  test.each([
    { name: "nothing", part: { amountNanos: 0n }, want: `${PARAMETER_INVALID} amount_nanos` },
    { name: "less than nothing", part: { amountNanos: -1n }, want: `${PARAMETER_INVALID} amount_nanos` },
    { name: "too much", part: { amountNanos: 10n ** 18n + 1n }, want: `${PARAMETER_INVALID} amount_nanos` },
    { name: "no credit id", part: { creditId: "" }, want: `${PARAMETER_INVALID} credit_id` },
    { name: "an endless credit id", part: { creditId: "c".repeat(129) }, want: `${PARAMETER_INVALID} credit_id` },
    { name: "nobody", part: { id: "nobody" }, want: RESOURCE_UNKNOWN },
    { name: "no account named", part: { id: "" }, want: `${PARAMETER_MISSING} id` },
    { name: "another amount by the same id", part: { creditId: "first" }, want: ALREADY_EXISTS },
    { name: "another account by the same id", part: { id: "other", creditId: "first" }, want: ALREADY_EXISTS },
  ])("a credit of $name is refused", async ({ part, want }) => {
    const request = { id: "acme", amountNanos: 7n, creditId: "refused", reason: "", ...part };
    expect(await refused(call(operator, accounts.creditAccount, request))).toBe(want);
  });

  test("a member sees its own account alone; an operator sees all, page by page", async () => {
    expect((await accountsOf(member, PAGE)).accounts.map(({ id }) => id)).toEqual(["acme"]);
    const first = await accountsOf(operator, { pageSize: 2, pageToken: "" });
    const { accounts: rest } = await accountsOf(operator, { pageSize: 2, pageToken: first.nextPageToken });
    const ids = [...first.accounts, ...rest].map(({ id }) => id);
    expect([ids.length, ...new Set(ids)]).toEqual([4, ...ids.toSorted()]);
  });

  test("an operator's proof covers the whole ledger", async () => {
    const proof = await call(operator, accounts.verifyLedger, {});
    expect(proof).toMatchObject({ holds: true, problems: [], openHoldCount: 0n });
    expect(proof.transferCount).toBeGreaterThan(2n);
  });
});

describe("another account's rows do not exist", () => {
  test.each([
    { name: "the account", ask: (secret: string) => call(secret, accounts.getAccount, { id: "acme" }) },
    { name: "its balance", ask: (secret: string) => call(secret, accounts.getBalance, { id: "acme" }) },
    { name: "its entries", ask: (secret: string) => call(secret, accounts.listEntries, { id: "acme", ...PAGE }) },
    { name: "its requests", ask: (secret: string) => call(secret, usage.listRequests, listed("acme")) },
    { name: "its request", ask: (secret: string) => call(secret, usage.getRequest, { id: acmeRequest }) },
    {
      name: "its usage",
      ask: (secret: string) =>
        call(secret, usage.summarizeUsage, { accountId: "acme", fromDay: "", toDay: "", ...PAGE }),
    },
    { name: "its keys", ask: (secret: string) => call(secret, keys.listKeys, { ...KEYS, accountId: "acme" }) },
    { name: "its key", ask: (secret: string) => call(secret, keys.getKey, { id: memberKeyId }) },
  ])("$name", async ({ ask }) => {
    await ask(member);
    await ask(operator);
    expect(await refused(ask(stranger))).toBe(RESOURCE_UNKNOWN);
  });

  test("nor can they be told from rows that never were", async () => {
    const words = async (id: string): Promise<string> => {
      const error: unknown = await call(stranger, usage.getRequest, { id }).catch((thrown: unknown) => thrown);
      return GatewayError.from(error).message.replace(id, "ID");
    };
    expect(await words(acmeRequest)).toBe(await words("req_none"));
  });

  test.each([
    {
      name: "update",
      ask: () => update(stranger, memberKeyId, undefined, ["name"]),
    },
    { name: "revoke", ask: () => call(stranger, keys.revokeKey, { id: memberKeyId }) },
    { name: "rotate", ask: () => call(stranger, keys.rotateKey, { id: memberKeyId, graceSeconds: 0 }) },
    {
      name: "make",
      ask: () =>
        call(stranger, keys.createKey, {
          accountId: "acme",
          settings: undefined,
          secret: "",
          secretDigest: "",
          hint: "",
        }),
    },
  ])("a stranger cannot $name a key there", async ({ ask }) => {
    expect(await refused(ask())).toBe(RESOURCE_UNKNOWN);
  });
});

describe("keys", () => {
  const create = (
    secret: string,
    part: Partial<KeySettings>,
    more: { accountId?: string; secret?: string; secretDigest?: string } = {},
  ) =>
    call(secret, keys.createKey, {
      accountId: "",
      secret: "",
      secretDigest: "",
      hint: "",
      ...more,
      settings: settings(part),
    });

  test("live from their making to their end", async () => {
    const made = await create(member, { name: "ci", scopes: ["chat", "keys"] });
    const id = made.key?.id ?? "";
    expect(made.key).toMatchObject({ accountId: "acme", settings: { name: "ci", scopes: ["chat", "keys"] } });
    const check = (scope: string): Promise<unknown> =>
      call(made.secret, fronts.checkCaller, { scope, beginsRequest: false, method: "" });
    expect(await check("chat")).toEqual({ accountId: "acme" });
    expect(await refused(check("usage"))).toBe(`${SCOPE_MISSING} usage`);
    const updated = await update(member, id, settings({ requestsPerMinute: 9n }), ["requests_per_minute"]);
    expect(updated.key?.settings).toMatchObject({ name: "ci", requestsPerMinute: 9n });
    const rotated = await call(member, keys.rotateKey, { id, graceSeconds: 0 });
    expect(await refused(call(made.secret, keys.getCaller, {}))).toMatch(/KEY_/);
    expect((await call(rotated.secret, keys.getCaller, {})).key?.id).toBe(id);
    expect((await call(member, keys.revokeKey, { id })).key?.revokeTime).toBeInstanceOf(Date);
    expect(await refused(call(rotated.secret, keys.getCaller, {}))).toBe("ERROR_REASON_KEY_REVOKED");
  });

  test.each([
    { name: "an operator's", ask: () => create(member, { scopes: ["operator"] }), want: `${SCOPE_MISSING} operator` },
    {
      name: "one whose secret it chooses",
      ask: () => create(member, {}, { secret: "sk-of-my-own-choice-0123456789" }),
      want: `${SCOPE_MISSING} operator`,
    },
    {
      name: "one whose digest it chooses",
      ask: () => create(member, {}, { secretDigest: "ab".repeat(32) }),
      want: `${SCOPE_MISSING} operator`,
    },
    {
      name: "one of no scope we know",
      ask: () => create(member, { scopes: ["root"] }),
      want: `${PARAMETER_INVALID} settings.scopes`,
    },
  ])("a member cannot make $name", async ({ ask, want }) => {
    expect(await refused(ask())).toBe(want);
  });

  test("nobody gives a key what its own lacks, by name or by default", async () => {
    const { secret } = await core.makeKey("acme", { scopes: ["keys", "chat"] });
    expect(await refused(create(secret, { scopes: ["usage"] }))).toBe(`${SCOPE_MISSING} usage`);
    expect(await refused(create(secret, {}))).toBe(`${SCOPE_MISSING} embeddings`);
    const made = await create(secret, { scopes: ["chat"] });
    const raise = (scopes: string[]) => update(secret, made.key?.id ?? "", settings({ scopes }), ["scopes"]);
    expect(await refused(raise(["chat", "operator"]))).toBe(`${SCOPE_MISSING} operator`);
    expect(await refused(raise(["usage"]))).toBe(`${SCOPE_MISSING} usage`);
    expect((await raise(["chat", "keys"])).key?.settings?.scopes).toEqual(["chat", "keys"]);
  });

  test("nobody takes over a stronger key of its own account", async () => {
    const strong = await core.makeKey("acme", { scopes: ["operator"] });
    const { id } = strong;
    expect(await refused(call(member, keys.rotateKey, { id, graceSeconds: 0 }))).toBe(RESOURCE_UNKNOWN);
    expect(await refused(update(member, id, settings(), ["addresses"]))).toBe(RESOURCE_UNKNOWN);
    expect(await refused(call(member, keys.revokeKey, { id }))).toBe(RESOURCE_UNKNOWN);
    expect((await call(strong.secret, keys.getCaller, {})).key?.id).toBe(id);
  });

  test("an operator imports a secret, for any account", async () => {
    const secret = "sk-imported-by-an-operator-01";
    const made = await create(operator, {}, { accountId: "other", secret });
    expect(made).toMatchObject({ secret, key: { accountId: "other", settings: { scopes: CLIENT_SCOPES } } });
    expect(await refused(create(operator, {}, { accountId: "other", secret }))).toBe(ALREADY_EXISTS);
    expect(await refused(create(operator, {}, { accountId: "nobody" }))).toBe(RESOURCE_UNKNOWN);
  });

  test("a member lists its own account's, an operator all", async () => {
    const seen = async (secret: string, accountId = ""): Promise<ReadonlySet<string>> =>
      new Set((await call(secret, keys.listKeys, { ...KEYS, accountId })).keys.map((key) => key.accountId));
    expect(await seen(member)).toEqual(new Set(["acme"]));
    expect(await seen(operator)).toEqual(new Set(["acme", "other", "root"]));
    expect(await seen(operator, "other")).toEqual(new Set(["other"]));
  });

  test.each([
    {
      name: "an update without a mask",
      ask: () => update(operator, memberKeyId, settings(), []),
      want: `${PARAMETER_MISSING} update_mask`,
    },
    {
      name: "a grace above 30 days",
      ask: () => call(operator, keys.rotateKey, { id: memberKeyId, graceSeconds: 2_592_001 }),
      want: `${PARAMETER_INVALID} grace_seconds`,
    },
    { name: "no id", ask: () => call(operator, keys.getKey, { id: "" }), want: `${PARAMETER_MISSING} id` },
    { name: "an unknown id", ask: () => call(operator, keys.getKey, { id: "key_none" }), want: RESOURCE_UNKNOWN },
  ])("$name is refused", async ({ ask, want }) => {
    expect(await refused(ask())).toBe(want);
  });
});

describe("usage", () => {
  test("a request is shown with its price and its usage", async () => {
    const { request } = await call(member, usage.getRequest, { id: acmeRequest });
    expect(request).toMatchObject({ id: acmeRequest, accountId: "acme", keyId: memberKeyId, model: "alpha" });
    const state = RequestState.REQUEST_STATE_SETTLED;
    expect(request).toMatchObject({ state, holdNanos: 100n, costNanos: 10n, attempts: 1, upstream: "here" });
    expect(request?.usage?.outputTokens).toBe(5n);
    expect(request?.price?.outputPicos).toBe(2_000n);
    expect(request?.endTime).toBeInstanceOf(Date);
  });

  test("a member lists its own account's requests, whom an operator sees as well", async () => {
    const own = await call(member, usage.listRequests, listed(""));
    expect(own.requests.map(({ id }) => id)).toEqual([acmeRequest]);
    const none = await call(stranger, usage.listRequests, listed(""));
    expect(none.requests).toEqual([]);
    const all = await call(operator, usage.listRequests, listed(""));
    expect(all.requests.map(({ id }) => id)).toContain(acmeRequest);
  });

  test("sums of the last 30 days are the default", async () => {
    const all = { accountId: "", fromDay: "", toDay: "", ...PAGE };
    const { summaries, total } = await call(member, usage.summarizeUsage, all);
    expect(total).toMatchObject({ day: "", accountId: "acme", requestCount: 1n, costNanos: 10n });
    expect(summaries).toMatchObject([{ day: "2026-11-21", accountId: "acme", requestCount: 1n, costNanos: 10n }]);
    const range = { accountId: "", fromDay: "2026-11-22", toDay: "2026-11-23", ...PAGE };
    expect((await call(member, usage.summarizeUsage, range)).summaries).toEqual([]);
  });

  test.each([
    { fromDay: "2026-02-30", toDay: "", want: `${PARAMETER_INVALID} from_day` },
    { fromDay: "yesterday", toDay: "", want: `${PARAMETER_INVALID} from_day` },
    { fromDay: "2026-11-21T00:00", toDay: "", want: `${PARAMETER_INVALID} from_day` },
    { fromDay: "", toDay: "2026-13-01", want: `${PARAMETER_INVALID} to_day` },
    { fromDay: "2026-11-02", toDay: "2026-11-01", want: `${PARAMETER_INVALID} from_day` },
  ])("the days $fromDay to $toDay are refused", async ({ want, ...days }) => {
    expect(await refused(call(member, usage.summarizeUsage, { accountId: "", ...days, ...PAGE }))).toBe(want);
  });
});

describe("models and upstreams", () => {
  test("only an operator sees which upstreams serve a model", async () => {
    const shown = async (secret: string) => (await call(secret, models.getModel, { id: "beta/one" })).model?.upstreams;
    expect(await shown(member)).toEqual([]);
    expect(await shown(operator)).toEqual(["here", "there"]);
    const all = await call(member, models.listModels, PAGE);
    expect(all.models.flatMap((model) => model.upstreams)).toEqual([]);
  });

  test("a list goes on where a page ended, and ends", async () => {
    const first = await call(member, models.listModels, { pageSize: 2, pageToken: "" });
    expect(first.models.map(({ id }) => id)).toEqual(["alpha", "beta/one"]);
    const rest = await call(member, models.listModels, { pageSize: 2, pageToken: first.nextPageToken });
    expect([rest.models.map(({ id }) => id), rest.nextPageToken]).toEqual([["gamma"], ""]);
  });

  test("a key sees the models that it may use", async () => {
    const { secret } = await core.makeKey("acme", { models: ["alpha"] });
    expect((await call(secret, models.listModels, PAGE)).models.map(({ id }) => id)).toEqual(["alpha"]);
    expect(await refused(call(secret, models.getModel, { id: "gamma" }))).toBe("ERROR_REASON_MODEL_NOT_ALLOWED");
  });

  test("an operator resets an upstream that exists", async () => {
    const { health } = (await call(operator, upstreams.resetUpstream, { id: "here" })).upstream!;
    expect(health).toBe(UpstreamHealth.UPSTREAM_HEALTH_HEALTHY);
    expect(await refused(call(operator, upstreams.resetUpstream, { id: "gone" }))).toBe(RESOURCE_UNKNOWN);
  });
});
