/** What the log keeps of calls: every refusal of a caller and every change, with who and from where, and no secret. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { AccountServiceService, KeyServiceService, UsageServiceService } from "../../../src/api/index.js";
import { Cancellation } from "../../../src/base/cancellation.js";
import type { Method } from "../../../src/api/channel.js";
import { methods } from "../../../src/api/descriptors.js";
import { GatewayError, type ReasonName, REASONS, reasonWord } from "../../../src/base/errors.js";
import { CallLog, isChange } from "../../../src/rpc/call/call-log.js";
import { NamedHead } from "../../../src/rpc/call/head.js";
import { openCore, type LogLine, type OpenCore } from "../open-core.js";

let core: OpenCore;
beforeEach(async () => {
  core = await openCore();
});
afterEach(() => core.close());

async function call<Request, Response>(method: Method<Request, Response>, request: Request, secret = "") {
  const metadata: Record<string, string> = secret === "" ? {} : { authorization: `Bearer ${secret}` };
  const origin = { metadata, peer: "192.0.2.7", local: false, signal: new Cancellation() };
  return core.dispatcher.unary(method, request, origin);
}

function told(message: string): Readonly<Record<string, unknown>>[] {
  return core.log.filter((line) => line.message === message).map((line) => line.fields);
}

test("a refused key and a missing scope leave a line each, with who asked and from where", async () => {
  const { secret, id } = await core.makeKey("acme", { scopes: ["chat"] });
  await call(UsageServiceService.getRequest, { id: "req_1" });
  await call(UsageServiceService.getRequest, { id: "req_1" }, "sk-of-nobody-0123456789");
  await call(UsageServiceService.getRequest, { id: "req_1" }, secret);
  await call(AccountServiceService.createAccount, { id: "x", name: "x", plan: "" }, secret);
  const lines = told("a caller was refused");
  expect(lines.map(({ reason, status }) => [reason, status])).toEqual([
    ["KEY_MISSING", 401],
    ["KEY_INVALID", 401],
    ["SCOPE_MISSING", 403],
    ["SCOPE_MISSING", 403],
  ]);
  for (const line of lines) expect(line).toMatchObject({ request_id: expect.stringMatching(/^req_/) });
  expect(lines[2]).toMatchObject({ account: "acme", key: id, address: "192.0.2.7", scope: "usage" });
  expect(JSON.stringify(lines)).not.toContain(secret);
  expect(JSON.stringify(lines)).not.toContain("of-nobody");
});

const CALLERS_FAULTS = Object.keys(REASONS).filter((name): name is ReasonName =>
  [401, 402, 403, 429].includes(new GatewayError(name as ReasonName).http),
);

describe("of every reason", () => {
  const lines: LogLine[] = [];
  let nowMs = 0;
  const write = (level: string) => (fields: LogLine["fields"], message: string) =>
    void lines.push({ level, fields, message });
  const log = { debug: write("debug"), info: write("info"), warn: write("warn"), error: write("error") };
  const callLog = new CallLog(log, () => nowMs);
  beforeEach(() => {
    lines.length = 0;
    nowMs += 10_000;
  });

  const ofUpstreams = new Set<ReasonName>(["ERROR_REASON_UPSTREAM_RATE_LIMITED", "ERROR_REASON_UPSTREAM_FULL"]);
  test.each(CALLERS_FAULTS.filter((reason) => !ofUpstreams.has(reason)))("%s is told", (reason) => {
    callLog.refused(
      new GatewayError(reason, { owner: "key key_1", limit: "concurrency" }),
      "/x",
      new NamedHead("req_1"),
    );
    expect(lines).toMatchObject([
      { level: "warn", fields: { reason: reasonWord(reason), request_id: "req_1", owner: "key key_1" } },
    ]);
  });

  test("a flood of refusals cannot fill the disk, and what was left out is counted", () => {
    const refuse = (): void => callLog.refused(new GatewayError("ERROR_REASON_KEY_MISSING"), "/x", new NamedHead("r"));
    for (let count = 0; count < 1_000; count++) refuse();
    expect(lines).toHaveLength(50);
    nowMs += 1_000;
    refuse();
    expect(lines.at(-1)?.fields["lines_left_out"]).toBe(950);
    refuse();
    expect(lines.at(-1)?.fields["lines_left_out"]).toBeUndefined();
  });
});

test("a change leaves a line with who made it and what it changed, and never a secret", async () => {
  const { secret } = await core.makeKey("boss", { scopes: ["operator"] });
  await call(AccountServiceService.createAccount, { id: "acme", name: "Acme", plan: "" }, secret);
  await call(
    AccountServiceService.creditAccount,
    { id: "acme", amountNanos: 5n, creditId: "inv-1", reason: "paid" },
    secret,
  );
  const made = await call(
    KeyServiceService.createKey,
    { accountId: "acme", settings: undefined, secret: "sk-imported-0123456789abcdef", secretDigest: "", hint: "" },
    secret,
  );
  expect(made.kind).toBe("answered");
  await call(AccountServiceService.getAccount, { id: "acme" }, secret);
  const lines = told("something was changed");
  expect(lines).toMatchObject([
    { path: "/tollgate.v1.AccountService/CreateAccount", account: "boss", id: "acme" },
    { path: "/tollgate.v1.AccountService/CreditAccount", id: "acme", credit_id: "inv-1", amount_nanos: "5" },
    { path: "/tollgate.v1.KeyService/CreateKey", account_id: "acme", made_key_id: expect.stringMatching(/^key_/) },
  ]);
  expect(JSON.stringify(core.log)).not.toContain("sk-imported");
});

test("who proves the ledger or tries an upstream is not said to have changed something", async () => {
  const { secret } = await core.makeKey("boss", { scopes: ["operator"] });
  await call(AccountServiceService.verifyLedger, {}, secret);
  expect(told("something was changed")).toEqual([]);
  expect(told("something was looked into")).toMatchObject([
    { path: "/tollgate.v1.AccountService/VerifyLedger", account: "boss" },
  ]);
});

const QUESTION = new RegExp(
  "^(Get|List|Query|Summarize|Generate|Stream|Count|Embed|Rerank|Moderate|Estimate|Export|Resume|Cancel|Check|Report|Open|Tunnel|Admit|Watch)",
);

test("every management method that is no mere question is a change", () => {
  const changes = methods()
    .filter(isChange)
    .map(({ desc }) => desc.name);
  expect(changes).toEqual(
    expect.arrayContaining(["CreateKey", "UpdateKey", "RevokeKey", "RotateKey", "ResetUpstream"]),
  );
  const questions = methods()
    .filter((method) => !isChange(method))
    .map(({ desc }) => desc.name);
  for (const name of questions) expect(name).toMatch(QUESTION);
});
