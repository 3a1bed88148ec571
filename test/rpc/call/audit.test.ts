/** Every management method leaves its record in the audit log, done or refused, found by its filter. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { methods } from "../../../src/api/descriptors.js";
import {
  AccountServiceService as accounts,
  type AuditEvent,
  AuditResult,
  AuditServiceService,
  KeyServiceService as keys,
  KeySettings,
  Price,
  UpstreamServiceService as upstreams,
  Usage,
  UsageServiceService as usage,
  UsageSource,
} from "../../../src/api/index.js";
import { requiredMethod } from "../../../src/api/methods.js";
import { GatewayError } from "../../../src/base/errors.js";
import type { Plan } from "../../../src/plans/plan.js";
import { RequestFeed } from "../../../src/records/request-record.js";
import { auditedCall, CallAudit, methodName } from "../../../src/rpc/call/call-audit.js";
import { isChange } from "../../../src/rpc/call/call-log.js";
import { NamedHead } from "../../../src/rpc/call/head.js";
import { createInProcessChannel } from "../../../src/rpc/transport/in-process-channel.js";
import { TEST_ACT } from "../../support/acts.js";
import { withKey } from "../edges.js";
import { NOW_MS, openCore, type OpenCore } from "../open-core.js";
import { openRecords } from "../open-records.js";

const { AUDIT_RESULT_DONE: DONE, AUDIT_RESULT_REFUSED: REFUSED, AUDIT_RESULT_UNCHANGED: UNCHANGED } = AuditResult;
const CHANGES = methods().filter(isChange);
const NO_LIMITS = {
  budgetDayNanos: 0n,
  budgetWeekNanos: 0n,
  budgetMonthNanos: 0n,
  budgetQuarterNanos: 0n,
  budgetTotalNanos: 0n,
  requestCostMaxNanos: 0n,
  requestsPerMinute: 0n,
  tokensPerMinute: 0n,
  concurrency: 0n,
};
const TEAM: Plan = {
  id: "team",
  budgets: NO_LIMITS,
  limits: { ...NO_LIMITS, concurrency: 9n, modelLimits: [] },
  content: { isAllowed: false, redactions: [], bodyBytesMax: 0, totalBytesMax: 0n },
  members: NO_LIMITS,
  keys: { ...NO_LIMITS, expiresAfterDays: 0 },
};
const teamNamed = (name: string): Plan | undefined => (name === "team" ? TEAM : undefined);

let core: OpenCore;
let operator = { secret: "", id: "" };
let member = { secret: "", id: "" };
let requestId = "";
let kept: Awaited<ReturnType<typeof openRecords>>;

beforeAll(async () => {
  kept = await openRecords();
  core = await openCore({ records: kept.records, plans: { get: teamNamed, find: async (name) => teamNamed(name) } });
  await core.parts.ledger.start();
  operator = await core.makeKey("root", { scopes: ["operator"], name: "boss" });
  member = await core.makeKey("acme", { scopes: ["keys", "audit", "usage"] });
  await core.parts.ledger.credit({ creditId: "first", accountId: "acme", amountNanos: 1_000n, act: TEST_ACT });
  requestId = await spend();
  recordOf("ann");
});
afterAll(async () => {
  await core.parts.ledger.close();
  await core.close();
  await kept.close();
});

/** The record of a request of the member's for a person. */
function recordOf(endUser: string): void {
  const feed = new RequestFeed({ nowMs: () => NOW_MS, onError: () => expect.unreachable() });
  feed.subscribe((request) => kept.records.add(request));
  const record = feed.begin(requestId, "/v1/chat/completions", { "x-tollgate-user": endUser });
  record.askedBy({ accountId: "acme", keyId: member.id }, "203.0.113.9");
  const settings = { kept: true, redactions: [], bodyBytesMax: 0, totalBytesMax: 0n };
  record.keepContent(settings, { source: { body: Buffer.from("what was said") }, prompt: () => ({}) });
  record.end(undefined);
}

/** A request of the member's that was charged. */
async function spend(): Promise<string> {
  const id = `req_${randomUUID()}`;
  const price = Price.decode(new Uint8Array());
  const amounts = { amountNanos: 100n, leastNanos: 100n, budgets: [], price, timeoutMs: 1_000 };
  const hold = await core.parts.ledger.hold({
    requestId: id,
    accountId: "acme",
    keyId: member.id,
    model: "alpha",
    ...amounts,
  });
  const used = { ...Usage.decode(new Uint8Array()), outputTokens: 5n };
  const settlement = { usage: used, usageSource: UsageSource.USAGE_SOURCE_REPORTED, costNanos: 10n };
  await hold.settle({ ...settlement, upstream: "here", attempts: 1, attemptLog: "" });
  return id;
}

async function call(secret: string, path: string, request: object): Promise<object> {
  const channel = createInProcessChannel(core.dispatcher, { encode: true });
  const method = requiredMethod(path);
  // What is left out of an empty request is as the wire has it.
  const isEmpty = Object.keys(request).length === 0;
  const whole = method.requestDeserialize(isEmpty ? Buffer.alloc(0) : method.requestSerialize(request));
  return (await channel.unary(method, whole, withKey(secret))).message as object;
}

async function listed(secret: string, filter: object): Promise<readonly AuditEvent[]> {
  const answer = await call(secret, AuditServiceService.listAuditEvents.path, { ...EVERYTHING, ...filter });
  return (answer as { auditEvents: AuditEvent[] }).auditEvents;
}

const EVERYTHING = {
  from: "",
  to: "",
  actor: "",
  accountId: "",
  method: "",
  resource: "",
  result: 0,
  pageSize: 0,
  pageToken: "",
};
const settings = KeySettings.decode(new Uint8Array());

/** What each method is asked, so that it is done; in this order. `of` is what the record is about. */
const DONE_CALLS: readonly { readonly path: string; readonly request: () => object; readonly of: () => string }[] = [
  {
    path: accounts.createAccount.path,
    request: () => ({ id: "fresh", name: "", plan: "" }),
    of: () => "accounts/fresh",
  },
  {
    path: accounts.updateAccount.path,
    request: () => ({
      id: "acme",
      settings: { ...NO_ACCOUNT, budgetDayNanos: 5_000n },
      updateMask: ["budget_day_nanos"],
      etag: "",
    }),
    of: () => "accounts/acme",
  },
  {
    path: accounts.setAccountPlan.path,
    request: () => ({ id: "acme", plan: "team", copySettings: false, etag: "" }),
    of: () => "accounts/acme",
  },
  { path: accounts.applyPlan.path, request: () => ({ plan: "team", etag: effect }), of: () => "accounts/acme" },
  {
    path: accounts.creditAccount.path,
    request: () => ({ id: "acme", amountNanos: 5n, creditId: "inv-7", reason: "goodwill" }),
    of: () => "accounts/acme",
  },
  {
    path: accounts.debitAccount.path,
    request: () => ({ id: "acme", amountNanos: 5n, debitId: "d-7", reason: "error" }),
    of: () => "accounts/acme",
  },
  {
    path: accounts.freezeAccount.path,
    request: () => ({ id: "fresh", reason: "unpaid", endStreams: false }),
    of: () => "accounts/fresh",
  },
  { path: accounts.unfreezeAccount.path, request: () => ({ id: "fresh" }), of: () => "accounts/fresh" },
  {
    path: keys.createKey.path,
    request: () => ({ accountId: "acme", settings, secret: "", secretDigest: "", hint: "" }),
    of: () => `keys/${made}`,
  },
  {
    path: keys.updateKey.path,
    request: () => ({ id: made, settings: { ...settings, concurrency: 3n }, updateMask: ["concurrency"], etag: "" }),
    of: () => `keys/${made}`,
  },
  { path: keys.rotateKey.path, request: () => ({ id: made, graceSeconds: 60 }), of: () => `keys/${made}` },
  { path: keys.revokeKey.path, request: () => ({ id: made }), of: () => `keys/${made}` },
  {
    path: usage.refundRequest.path,
    request: () => ({ id: requestId, amountNanos: 1n, refundId: "r-7", reason: "cut" }),
    of: () => `requests/${requestId}`,
  },
  { path: usage.readRequestContent.path, request: () => ({ id: requestId }), of: () => `requests/${requestId}` },
  {
    path: usage.eraseEndUser.path,
    request: () => ({ endUser: "ann", accountId: "acme" }),
    of: () => "usage/acme",
  },
  ...[upstreams.resetUpstream, upstreams.drainUpstream, upstreams.undrainUpstream, upstreams.testUpstream].map(
    ({ path }) => ({ path, request: () => ({ id: "here" }), of: () => "upstreams/here" }),
  ),
];
const NO_ACCOUNT = { ...NO_LIMITS, modelLimits: [], content: undefined };
let made = "";
/** What applying the plan would change. */
let effect = "";

describe("what was done", () => {
  test.each(DONE_CALLS)("$path is recorded once, with who and what", async ({ path, request, of }) => {
    if (path === accounts.applyPlan.path)
      effect = ((await call(operator.secret, accounts.getPlanEffect.path, { plan: "team" })) as { etag: string }).etag;
    const answer = await call(operator.secret, path, request());
    if (path === keys.createKey.path) made = (answer as { key: { id: string } }).key.id;
    const found = await listed(operator.secret, { method: methodName(path), actor: operator.id });
    expect(found).toHaveLength(1);
    const [event] = found;
    expect(event).toMatchObject({ resource: of(), result: DONE, reason: "" });
    expect(event?.actor).toMatchObject({ id: operator.id, name: "boss", accountId: "root" });
    expect(event?.actor?.requestId).toMatch(/^req_/);
    expect(await listed(operator.secret, { resource: of(), method: methodName(path), result: DONE })).toEqual(found);
    const { secret } = answer as { secret?: string };
    if (secret !== undefined) expect(JSON.stringify([event?.before, event?.after])).not.toContain(secret);
  });

  test("money names its transfer, and a change says what was before and is since", async () => {
    const of = async (method: string): Promise<AuditEvent | undefined> =>
      (await listed(operator.secret, { method, actor: operator.id }))[0];
    expect((await of("CreditAccount"))?.transferId).toBe("c:inv-7");
    expect((await of("DebitAccount"))?.transferId).toBe("d:d-7");
    expect((await of("RefundRequest"))?.transferId).toBe("r:r-7");
    expect(await of("UpdateKey")).toMatchObject({ before: "{}", after: '{"concurrency":"3"}' });
    // Of whom it was is not written: the log could never forget it.
    expect(await of("EraseEndUser")).toMatchObject({
      accountId: "acme",
      before: "",
      after: '{"request_count":"1","content_count":"1"}',
    });
    // Who read what was said is written, and nothing of what.
    expect(await of("ReadRequestContent")).toMatchObject({ accountId: "acme", before: "", after: "" });
    expect((await of("FreezeAccount"))?.after).toContain('"reason":"unpaid"');
    expect(JSON.parse((await of("RotateKey"))?.after ?? "")).toMatchObject({
      previous_secret_until: expect.any(String),
    });
  });

  test("a call that finds everything as it wants it is recorded too", async () => {
    await call(operator.secret, keys.revokeKey.path, { id: made });
    await call(operator.secret, accounts.creditAccount.path, {
      id: "acme",
      amountNanos: 5n,
      creditId: "inv-7",
      reason: "goodwill",
    });
    const found = await listed(operator.secret, { result: UNCHANGED, actor: operator.id });
    expect(found.map(({ method }) => method)).toEqual(["AccountService.CreditAccount", "KeyService.RevokeKey"]);
  });

  test("the log is proved with the ledger", async () => {
    expect(await core.parts.ledger.verify()).toMatchObject({ holds: true });
  });
});

describe("every method that the protocol declares as a change", () => {
  test("is among those that are done here, or only proves", () => {
    const others = CHANGES.map(({ path }) => path).filter((path) => !DONE_CALLS.some((one) => one.path === path));
    const own = others.filter((path) => /\.(?:Account|Key|Usage|Upstream)Service\//.test(path));
    expect(own).toEqual([accounts.verifyLedger.path]);
  });

  test.each(CHANGES.map(({ path }) => ({ path })))("$path leaves a record of a refused attempt", async ({ path }) => {
    const weak = await core.makeKey(`weak-${randomUUID().slice(0, 8)}`, { scopes: ["models"] });
    const refused: unknown = await call(weak.secret, path, {}).then(
      () => undefined,
      (error: unknown) => error,
    );
    // A method that any key may call is not refused, and leaves its record all the same.
    const reason = refused === undefined ? "" : GatewayError.from(refused).reasonWord;
    const [newest] = await listed(operator.secret, { method: methodName(path) });
    expect(newest).toMatchObject({ reason, result: reason === "" ? expect.anything() : REFUSED });
    // Nobody has a key yet who signs in.
    expect([weak.id, ""]).toContain(newest?.actor?.id);
  });
});

describe("who reads it", () => {
  test("a key with the scope sees what concerns its own account, and not where the operator sits", async () => {
    const own = await listed(member.secret, {});
    expect(own.length).toBeGreaterThan(5);
    expect(new Set(own.map(({ accountId }) => accountId))).toEqual(new Set(["acme"]));
    const byOperator = own.find(({ actor }) => actor?.id === operator.id);
    expect(byOperator?.actor).toMatchObject({ address: "", requestId: "" });
    await expect(listed(member.secret, { accountId: "root" })).rejects.toMatchObject({
      reason: "ERROR_REASON_RESOURCE_UNKNOWN",
    });
  });

  test("a key without it sees nothing", async () => {
    const { secret } = await core.makeKey("acme", { scopes: ["keys", "usage"] });
    await expect(listed(secret, {})).rejects.toMatchObject({ reason: "ERROR_REASON_SCOPE_MISSING" });
  });

  test("refusals of one caller are bounded, and those that were left out are counted", async () => {
    const { secret, id } = await core.makeKey("noisy", { scopes: ["models"] });
    for (let count = 0; count < 40; count += 1)
      await call(secret, keys.revokeKey.path, { id: "key_none" }).catch(() => undefined);
    expect(await listed(operator.secret, { actor: id })).toHaveLength(30);
    await call(operator.secret, keys.revokeKey.path, { id: "key_none" }).catch(() => undefined);
    const [last] = await listed(operator.secret, { actor: operator.id, result: REFUSED });
    expect(last).toMatchObject({ after: '{"refusals_left_out":"10"}', reason: "RESOURCE_UNKNOWN" });
  });

  test("what strangers are answered hides nothing that they are refused", async () => {
    const audit = new CallAudit(core.parts.store.audit, () => NOW_MS, undefined);
    const path = "/tollgate.v1.PaymentService/HandleStripeEvent";
    const called = auditedCall(path, { metadata: {}, local: true }, []);
    const headFrom = (requestId: string): NamedHead =>
      Object.assign(new NamedHead(requestId), { address: "192.0.2.7" });
    for (let count = 0; count < 400; count += 1)
      await audit.answered(audit.actOf(called, headFrom(`req_${count}`)), path, {});
    audit.refused(new GatewayError("ERROR_REASON_STRIPE_EVENT_REFUSED"), called, {}, headFrom("req_refused"));
    await audit.flush();
    const [newest, before] = await listed(operator.secret, { method: methodName(path) });
    expect([newest?.result, newest?.actor?.requestId]).toEqual([REFUSED, "req_refused"]);
    expect(before?.result).toBe(UNCHANGED);
  });
});
