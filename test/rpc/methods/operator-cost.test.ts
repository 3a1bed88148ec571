/** What the operator pays for a request, and what is left of it, is shown to operators alone, by every method. */
import { randomUUID } from "node:crypto";
import type { DescMessage } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { CallMetadata } from "../../../src/api/channel.js";
import { methods } from "../../../src/api/descriptors.js";
import { Price, Usage, UsageServiceService as usage, UsageSource } from "../../../src/api/index.js";
import { requiredMethod } from "../../../src/api/methods.js";
import { ACCOUNT_HEADER, SESSION_HEADER } from "../../../src/api/session-headers.js";
import type { ServerCall } from "../../../src/rpc/call/server-call.js";
import { SCOPES } from "../../../src/keys/caller.js";
import { RequestFeed } from "../../../src/records/request-record.js";
import { TEST_ACT } from "../../support/acts.js";
import { NOW_MS, openCore, type OpenCore } from "../open-core.js";
import { openRecords } from "../open-records.js";
import { signIn, type Who } from "../sign-in.js";

const SECRET_FIELD = /^(?:operator_cost|margin)(?:_|$)/;
const SIGNAL = new AbortController().signal;
/** Amounts that nothing else has, so that they are found wherever they stand. */
const COST = 70_001n;
const OPERATOR_COST = 31_337n;
const MARGIN = COST - OPERATOR_COST;
const TOLD = new RegExp(`${OPERATOR_COST}|${MARGIN}`);

const done = `req_${randomUUID()}`;
const running = `req_${randomUUID()}`;
const FILTERED = { startTime: new Date(0), model: "alpha" };
/** What each method is asked. All of it is about requests that the operator paid for. */
const ASKED: readonly { readonly name: string; readonly path: string; readonly fields: object }[] = [
  { name: "the receipt of one that ended", path: usage.getRequest.path, fields: { id: done } },
  { name: "the receipt of one that runs", path: usage.getRequest.path, fields: { id: running } },
  { name: "a list", path: usage.listRequests.path, fields: {} },
  { name: "a filtered list", path: usage.listRequests.path, fields: FILTERED },
  { name: "a list of those that run", path: usage.listRequests.path, fields: { state: 1 } },
  { name: "sums", path: usage.queryUsage.path, fields: {} },
  { name: "sums by two properties", path: usage.queryUsage.path, fields: { groupBy: [1, 6] } },
  { name: "sums with a filter", path: usage.queryUsage.path, fields: { ...FILTERED, upstream: "here" } },
  { name: "a watch", path: usage.watchRequests.path, fields: {} },
  { name: "sums by day", path: usage.summarizeUsage.path, fields: {} },
];

const PEOPLE: readonly Who[] = ["owner", "admin", "member", "viewer"];
const callers: Record<string, CallMetadata> = {};
const feed = new RequestFeed({ nowMs: () => NOW_MS, onError: () => expect.unreachable() });
/** Tells of the request that ended, to whoever listens then. */
let tell: () => void;
let core: OpenCore;
let kept: Awaited<ReturnType<typeof openRecords>>;

beforeAll(async () => {
  kept = await openRecords();
  core = await openCore({ records: kept.records, requests: feed });
  const { ledger } = core.parts;
  await ledger.start();
  const key = async (account: string, scopes: string[]): Promise<CallMetadata> => ({
    authorization: `Bearer ${(await core.makeKey(account, { scopes })).secret}`,
  });
  const { id: keyId } = await core.makeKey("acme");
  callers["a key to read usage"] = await key("acme", ["usage"]);
  callers["a key with every scope but the operator's"] = await key(
    "acme",
    SCOPES.filter((scope) => scope !== "operator"),
  );
  for (const who of [...PEOPLE, "operator"] as const)
    callers[who] = { [SESSION_HEADER]: await signIn(core, who, "acme"), [ACCOUNT_HEADER]: "acme" };
  callers["an operator's key"] = await key("root", ["operator"]);
  await ledger.credit({ creditId: "first", accountId: "acme", amountNanos: 1_000_000n, act: TEST_ACT });
  await spend(keyId);
});
afterAll(async () => {
  await core.parts.ledger.close();
  await core.close();
  await kept.close();
});

/** A request that was charged, with its record, and one that runs and was noted. */
async function spend(keyId: string): Promise<void> {
  const { ledger } = core.parts;
  const asked = { accountId: "acme", keyId, model: "alpha", amountNanos: 100_000n, leastNanos: 100_000n, budgets: [] };
  const price = Price.decode(new Uint8Array());
  const noted = {
    usage: { ...Usage.decode(new Uint8Array()), outputTokens: 5n },
    costNanos: COST,
    operatorCostNanos: OPERATOR_COST,
    upstream: "here",
    attempts: 1,
  };
  const still = await ledger.hold({ ...asked, requestId: running, price, timeoutMs: 60_000 });
  still.checkpoint(noted);
  const isNoted = async (): Promise<void> =>
    expect(await core.store.requests.get(running)).toMatchObject({ operatorCostNanos: OPERATOR_COST });
  await vi.waitFor(isNoted, { timeout: 60_000 });
  const hold = await ledger.hold({ ...asked, requestId: done, price, timeoutMs: 60_000 });
  const usageSource = UsageSource.USAGE_SOURCE_REPORTED;
  await hold.settle({ ...noted, usageSource, attemptLog: "" });
  tell = () => {
    const record = feed.begin(done, "/v1/chat/completions", {});
    record.askedBy({ accountId: "acme", keyId }, "203.0.113.9");
    record.model = "alpha";
    const times = { createTimeMs: NOW_MS, queueMs: 1, firstTokenMs: 2, upstreamMs: 3, cacheSavedNanos: 0n };
    record.answer = { ...noted, ...times, usageSource, upstreamModel: "a", chargedNanos: COST, clampedTo: undefined };
    record.end(undefined);
  };
  const end = feed.subscribe((request) => kept.records.add(request));
  tell();
  end();
}

/** The whole answer, as text. */
async function answer(path: string, fields: object, metadata: CallMetadata): Promise<string> {
  const method = requiredMethod(path);
  const request = Object.assign(method.requestDeserialize(Buffer.alloc(0)) as object, fields);
  const call = { metadata, signal: SIGNAL, timeoutMs: 5_000, peer: "", local: true };
  if (method.responseStream) return jsonOf(method, await firstMessage(method, request, call));
  const outcome = await core.dispatcher.unary(method, request, call);
  if (outcome.kind === "refused") throw outcome.error;
  return jsonOf(method, outcome.message);
}

/** What a stream says first of a request that ends meanwhile. */
function firstMessage(method: ReturnType<typeof requiredMethod>, request: object, call: ServerCall): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const leaving = new AbortController();
    const data = (message: unknown): boolean => {
      resolve(message);
      leaving.abort();
      return true;
    };
    // The head says that it listens, from the next turn on.
    const head = (): void => void setImmediate(tell);
    const sink = { head, data, onDrain: () => undefined };
    core.dispatcher
      .stream(method, request, { ...call, signal: leaving.signal }, sink)
      .then((outcome) => outcome.kind === "refused" && reject(outcome.error), reject);
  });
}

/** As a caller reads it: what a message leans on inside the process travels nowhere. */
function jsonOf(method: ReturnType<typeof requiredMethod>, message: unknown): string {
  const read = method.responseDeserialize(method.responseSerialize(message));
  return JSON.stringify(read, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value));
}

/** Where the fields stand in a message, however deep. */
function tells(message: DescMessage, seen = new Set<DescMessage>()): boolean {
  if (seen.has(message)) return false;
  seen.add(message);
  return message.fields.some(
    ({ name, message: inner }) => SECRET_FIELD.test(name) || (inner !== undefined && tells(inner, seen)),
  );
}

test("every method that could tell it is asked here", () => {
  const telling = methods().filter(({ desc }) => tells(desc.output));
  expect(telling.map(({ path }) => path).sort()).toEqual([...new Set(ASKED.map(({ path }) => path))].sort());
});

describe.each(ASKED)("$name", ({ path, fields }) => {
  test.each(["a key to read usage", "a key with every scope but the operator's", ...PEOPLE])(
    "tells %s nothing of it",
    async (who) => {
      const told = await answer(path, fields, callers[who]!);
      expect(told).toContain('"costNanos"');
      expect(told).not.toMatch(/"(?:operatorCost|margin)/);
      expect(told).not.toMatch(TOLD);
    },
  );

  test.each(["operator", "an operator's key"])("tells it to an operator: %s", async (who) => {
    expect(await answer(path, { accountId: "acme", ...fields }, callers[who]!)).toContain(
      `"operatorCostNanos":"${OPERATOR_COST}"`,
    );
  });
});
