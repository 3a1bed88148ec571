/** Who may call what: the whole table, told once here and once in the protocol. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { CallMetadata } from "../../../src/api/channel.js";
import { methods } from "../../../src/api/descriptors.js";
import {
  EventServiceService,
  FrontServiceService,
  KeyServiceService,
  UsageServiceService,
} from "../../../src/api/index.js";
import { serviceMethod, serviceMethods } from "../../../src/api/methods.js";
import { SCOPES } from "../../../src/keys/caller.js";
import { createDispatcher } from "../../../src/rpc/methods/service-table.js";
import { Dispatcher } from "../../../src/rpc/call/dispatcher.js";
import type { ServerCall } from "../../../src/rpc/call/server-call.js";
import { FRONT_TOKEN, openCore, type OpenCore } from "../open-core.js";

/** The scope that each method asks for; `any` is any valid key, `person` no key at all, `nobody` asks for nothing. */
const TABLE: Readonly<Record<string, string>> = {
  "InferenceService/StreamGenerate": "chat",
  "InferenceService/Generate": "chat",
  "InferenceService/CancelStream": "chat",
  "InferenceService/CountTokens": "chat",
  "InferenceService/Embed": "embeddings",
  "InferenceService/Rerank": "rerank",
  "InferenceService/Moderate": "moderations",
  "InferenceService/StreamSpeech": "audio",
  "InferenceService/EstimateCost": "chat",
  "InferenceService/ResumeStream": "chat",
  "ModelService/ListModels": "models",
  "ModelService/GetModel": "models",
  "KeyService/CreateKey": "keys",
  "KeyService/GetKey": "keys",
  "KeyService/ListKeys": "keys",
  "KeyService/UpdateKey": "keys",
  "KeyService/RevokeKey": "keys",
  "KeyService/RotateKey": "keys",
  "KeyService/GetCaller": "any",
  "AccountService/CreateAccount": "operator",
  "AccountService/GetAccount": "usage",
  "AccountService/ListAccounts": "usage",
  "AccountService/CreditAccount": "operator",
  "AccountService/UpdateAccount": "members",
  "AccountService/GetAccountPlan": "usage",
  "AccountService/SetAccountPlan": "operator",
  "AccountService/GetPlanEffect": "operator",
  "AccountService/ApplyPlan": "operator",
  "AccountService/DebitAccount": "operator",
  "AccountService/FreezeAccount": "operator",
  "AccountService/UnfreezeAccount": "operator",
  "UsageService/RefundRequest": "operator",
  "AccountService/GetBalance": "usage",
  "AccountService/GetStatement": "usage",
  "AccountService/ListEntries": "usage",
  "AccountService/VerifyLedger": "operator",
  "UsageService/GetRequest": "usage",
  "UsageService/ListRequests": "usage",
  "UsageService/WatchRequests": "usage",
  "UsageService/SummarizeUsage": "usage",
  "UsageService/QueryUsage": "usage",
  "UsageService/EraseEndUser": "operator",
  "UsageService/ReadRequestContent": "operator",
  "UpstreamService/ListUpstreams": "operator",
  "UpstreamService/GetUpstream": "operator",
  "NodeService/ListNodes": "operator",
  "AuditService/ListAuditEvents": "audit",
  "UpstreamService/ResetUpstream": "operator",
  "UpstreamService/DrainUpstream": "operator",
  "UpstreamService/UndrainUpstream": "operator",
  "UpstreamService/TestUpstream": "operator",
  "PriceService/GetPriceList": "operator",
  "PriceService/ListPriceChanges": "operator",
  "PriceService/AcceptPriceChanges": "operator",
  "PriceService/RejectPriceChanges": "operator",
  "PriceService/RollBackPriceList": "operator",
  "PriceService/RefreshPriceList": "operator",
  "IdentityService/GetSignIn": "nobody",
  "IdentityService/CreateFirstOperator": "nobody",
  "IdentityService/SignIn": "nobody",
  "IdentityService/BeginOidcSignIn": "nobody",
  "IdentityService/FinishOidcSignIn": "nobody",
  "IdentityService/SignOut": "person",
  "IdentityService/CreateUser": "operator",
  "IdentityService/EndUserSessions": "operator",
  "IdentityService/EndMemberSessions": "members",
  "IdentityService/GetMemberLimits": "members",
  "IdentityService/UpdateMemberLimits": "members",
  "SettingsService/GetSettings": "operator",
  "SettingsService/CheckSettings": "operator",
  "SettingsService/UpdateSettings": "operator",
  "SettingsService/ExportSettings": "operator",
  "SettingsService/ListObjects": "operator",
  "SettingsService/GetObject": "operator",
  "SettingsService/CreateObject": "operator",
  "SettingsService/UpdateObject": "operator",
  "SettingsService/DeleteObject": "operator",
  "SettingsService/MoveObject": "operator",
  "SettingsService/CheckObjects": "operator",
  "SettingsService/ApplyObjects": "operator",
  "SettingsService/TestObject": "operator",
  "SettingsService/GetFamilies": "operator",
  "SettingsService/GetFirstSteps": "operator",
  "SettingsService/ListRevisions": "operator",
  "SettingsService/RestoreRevision": "operator",
  "PaymentService/CreateTopUpCodes": "operator",
  "PaymentService/ListTopUpCodes": "operator",
  "PaymentService/ListTopUpBatches": "operator",
  "PaymentService/VoidTopUpCodes": "operator",
  "PaymentService/RedeemTopUpCode": "usage",
  "PaymentService/CreateCheckout": "usage",
  "PaymentService/GetPayment": "usage",
  "PaymentService/ListPayments": "usage",
  "PaymentService/ReconcilePayments": "operator",
  // The signature of the event is what is asked for.
  "PaymentService/HandleStripeEvent": "nobody",
  "IdentityService/ProveSession": "person",
  "IdentityService/ChangeName": "person",
  "IdentityService/BeginPasskeySignIn": "nobody",
  "IdentityService/BeginPasskeyProof": "person",
  "IdentityService/BeginPasskey": "person",
  "IdentityService/CreatePasskey": "person",
  "IdentityService/ListPasskeys": "person",
  "IdentityService/UpdatePasskey": "person",
  "IdentityService/DeletePasskey": "person",
  "IdentityService/CreateSecondFactor": "person",
  "IdentityService/ConfirmSecondFactor": "person",
  "IdentityService/CreateRecoveryCodes": "person",
  "IdentityService/DeleteSecondFactor": "person",
  "IdentityService/GetAccountSecurity": "members",
  "IdentityService/UpdateAccountSecurity": "members",
  "IdentityService/GetSession": "person",
  "AlertService/CreateAlert": "alerts",
  "AlertService/GetAlert": "usage",
  "AlertService/ListAlerts": "usage",
  "AlertService/UpdateAlert": "alerts",
  "AlertService/DeleteAlert": "alerts",
  "EventService/GetEvent": "usage",
  "EventService/ListEvents": "usage",
  "EventService/WatchEvents": "usage",
  "WebhookService/CreateWebhook": "alerts",
  "WebhookService/GetWebhook": "usage",
  "WebhookService/ListWebhooks": "usage",
  "WebhookService/UpdateWebhook": "alerts",
  "WebhookService/DeleteWebhook": "alerts",
  "WebhookService/RotateWebhookSecret": "alerts",
  "WebhookService/TestWebhook": "alerts",
  "WebhookService/ListDeliveries": "usage",
  "WebhookService/GetDelivery": "usage",
  "WebhookService/ResendDelivery": "alerts",
  "IdentityService/ListSessions": "person",
  "IdentityService/EndSession": "person",
  "IdentityService/EndSessions": "person",
  "IdentityService/ChangePassword": "person",
  "IdentityService/SetPassword": "nobody",
  "IdentityService/AcceptInvitation": "nobody",
  "IdentityService/ListMembers": "members",
  "IdentityService/UpdateMember": "members",
  "IdentityService/RemoveMember": "members",
  "IdentityService/CreateInvitation": "members",
  "IdentityService/ListInvitations": "members",
  "IdentityService/RevokeInvitation": "members",
  "IdentityService/ListUsers": "operator",
  "IdentityService/InviteUser": "operator",
  "IdentityService/UpdateUser": "operator",
  "IdentityService/ResetUser": "operator",
  "IdentityService/RemoveUser": "operator",
};
/** They answer nothing for as long as their caller may ask. */
const ENDLESS: ReadonlySet<string> = new Set([
  FrontServiceService.watchCaller.path,
  EventServiceService.watchEvents.path,
  UsageServiceService.watchRequests.path,
]);
/** Methods that ask for the front token in place of a key. The dispatcher never runs them. */
const FRONT_PATHS = ["/tollgate.internal.v1.TunnelService/Tunnel"];
/** What front ends ask for their clients, with the clients' keys. */
const INTERNAL_TABLE: typeof TABLE = {
  "FrontService/CheckCaller": "any",
  "FrontService/WatchCaller": "any",
  "FrontService/ReportUndelivered": "chat",
  "FrontService/ReportRefusals": "nobody",
};
const ROWS = [rowsOf("tollgate.v1", TABLE), rowsOf("tollgate.internal.v1", INTERNAL_TABLE)].flat();
/** Those that a key may call. */
const KEYED = ROWS.filter(({ scope }) => scope !== "person" && scope !== "nobody");
const REFUSED_EARLY = /^ERROR_REASON_(?:KEY_|SCOPE_MISSING|ADDRESS_NOT_ALLOWED)/;
const SIGNAL = new AbortController().signal;

let core: OpenCore;

function rowsOf(protoPackage: string, table: typeof TABLE): { name: string; scope: string; path: string }[] {
  return Object.entries(table).map(([name, scope]) => ({ name, scope, path: `/${protoPackage}.${name}` }));
}

beforeAll(async () => {
  core = await openCore();
});
afterAll(() => core.close());

/** The reason with which an empty request is refused; empty where it is answered. */
async function reasonOf(path: string, metadata: CallMetadata, more: Partial<ServerCall> = {}): Promise<string> {
  const method = serviceMethod(path);
  if (method === undefined) throw new Error(`no method ${path}`);
  const call: ServerCall = { metadata, signal: SIGNAL, timeoutMs: undefined, peer: "192.0.2.7", local: false, ...more };
  const request = method.requestDeserialize(Buffer.alloc(0));
  const sink = { head: () => undefined, data: () => true, onDrain: () => undefined };
  const outcome = method.responseStream
    ? await core.dispatcher.stream(method, request, call, sink)
    : await core.dispatcher.unary(method, request, call);
  return outcome.kind === "refused" ? outcome.error.reason : "";
}

/** The same of a call that is let in: one that would not end is ended. */
function reasonOfShort(path: string, metadata: CallMetadata): Promise<string> {
  return reasonOf(path, metadata, ENDLESS.has(path) ? { timeoutMs: 20 } : {});
}

function bearer(secret: string): CallMetadata {
  return { authorization: `Bearer ${secret}` };
}

describe("the table", () => {
  test("names every method of the protocol, each with a handler", () => {
    const paths = ROWS.map(({ path }) => path).sort();
    expect(
      methods()
        .map(({ path }) => path)
        .sort(),
    ).toEqual([...paths, ...FRONT_PATHS].sort());
    expect(
      serviceMethods()
        .map(({ path }) => path)
        .sort(),
    ).toEqual([...paths, ...FRONT_PATHS].sort());
    expect([...core.dispatcher.paths()].sort()).toEqual(paths);
  });

  test("a method that declares no permission does not start", () => {
    const path = KeyServiceService.getCaller.path;
    const route = { path, unary: async () => ({}) };
    expect(() => new Dispatcher(core.parts, [route], () => undefined)).toThrow(`${path} declares no permission`);
    expect(() => createDispatcher(core.parts)).not.toThrow();
  });

  test.each(FRONT_PATHS)("%s is for front ends, and no key runs it", async (path) => {
    expect(methods().find((method) => method.path === path)?.permission).toEqual({
      scope: "",
      operator: false,
      front: true,
    });
    const operator = await core.makeKey("root", { scopes: ["operator"] });
    expect(await reasonOf(path, bearer(operator.secret))).toBe("ERROR_REASON_PATH_UNKNOWN");
    expect(() => new Dispatcher(core.parts, [{ path, unary: async () => ({}) }])).toThrow(`${path} is for front ends`);
  });

  test.each(ROWS.filter(({ scope }) => scope === "nobody"))("$name needs nobody", async ({ path }) => {
    expect(await reasonOfShort(path, {})).not.toMatch(REFUSED_EARLY);
    expect(await reasonOfShort(path, bearer("sk-nobody-has-this-one"))).not.toMatch(REFUSED_EARLY);
  });

  test.each(ROWS.filter(({ scope }) => scope === "person"))(
    "$name needs a person, and no key will do",
    async ({ path }) => {
      const operator = await core.makeKey("root", { scopes: ["operator"] });
      expect(await reasonOf(path, bearer(operator.secret))).toBe("ERROR_REASON_USER_MISSING");
    },
  );

  test.each(ROWS.filter(({ scope }) => scope !== "nobody"))("$name needs a key", async ({ path }) => {
    expect(await reasonOf(path, {})).toBe("ERROR_REASON_KEY_MISSING");
    expect(await reasonOf(path, bearer("sk-nobody-has-this-one"))).toBe("ERROR_REASON_KEY_INVALID");
  });

  test.each(KEYED.filter(({ scope }) => scope !== "any"))(
    "$name is refused without $scope",
    async ({ path, scope }) => {
      const scopes = SCOPES.filter((one) => one !== scope && one !== "operator");
      const { secret } = await core.makeKey("acme", { scopes });
      expect(await reasonOf(path, bearer(secret))).toBe("ERROR_REASON_SCOPE_MISSING");
    },
  );

  test.each(KEYED)("$name runs with $scope, and for an operator", async ({ path, scope }) => {
    // A new key that names no scopes gets those of a client, which the one who makes it must have.
    const more =
      path === KeyServiceService.createKey.path
        ? ["chat", "embeddings", "rerank", "moderations", "audio", "models", "usage"]
        : [];
    // What is about people, no key may but an operator's.
    const named = scope === "members" ? "operator" : scope;
    const narrow = await core.makeKey("acme", { scopes: [named === "any" ? "models" : named, ...more] });
    const operator = await core.makeKey("root", { scopes: ["operator"] });
    expect(await reasonOfShort(path, bearer(narrow.secret))).not.toMatch(REFUSED_EARLY);
    expect(await reasonOfShort(path, bearer(operator.secret))).not.toMatch(REFUSED_EARLY);
  });
});

describe("the address", () => {
  const path = KeyServiceService.getCaller.path;
  const allowed = "198.51.100.9";
  const front = { "x-tollgate-front": FRONT_TOKEN };
  const told = { "x-tollgate-client-address": allowed };
  const NOT_ALLOWED = "ERROR_REASON_ADDRESS_NOT_ALLOWED";

  test.each<{ name: string; more: CallMetadata; call?: Partial<ServerCall>; want: string }>([
    { name: "the socket's own", more: {}, call: { peer: allowed }, want: "" },
    { name: "the socket's own, as IPv6 tells IPv4", more: {}, call: { peer: `::ffff:${allowed}` }, want: "" },
    { name: "another socket", more: {}, want: NOT_ALLOWED },
    { name: "a stranger's word", more: told, want: NOT_ALLOWED },
    { name: "a stranger's word with a wrong token", more: { ...told, "x-tollgate-front": "no" }, want: NOT_ALLOWED },
    { name: "a front end's word", more: { ...told, ...front }, want: "" },
    { name: "a word in this process", more: told, call: { local: true, peer: "" }, want: "" },
    {
      name: "a front end's word that is no address, from an allowed socket",
      more: { ...front, "x-tollgate-client-address": "unknown" },
      call: { peer: allowed },
      want: NOT_ALLOWED,
    },
    { name: "no address in this process", more: {}, call: { local: true, peer: "" }, want: NOT_ALLOWED },
    { name: "no address over a socket", more: {}, call: { peer: "" }, want: NOT_ALLOWED },
  ])("$name decides: '$want'", async ({ more, call, want }) => {
    const { secret } = await core.makeKey("acme", { addresses: ["198.51.100.0/24"] });
    expect(await reasonOf(path, { ...bearer(secret), ...more }, call)).toBe(want);
  });

  test("a key without addresses needs none", async () => {
    const { secret } = await core.makeKey("acme");
    expect(await reasonOf(path, bearer(secret), { peer: "" })).toBe("");
  });

  test("the scope is checked before the address", async () => {
    const { secret } = await core.makeKey("acme", { scopes: ["chat"], addresses: ["198.51.100.0/24"] });
    expect(await reasonOf("/tollgate.v1.KeyService/ListKeys", bearer(secret))).toBe("ERROR_REASON_SCOPE_MISSING");
  });
});
