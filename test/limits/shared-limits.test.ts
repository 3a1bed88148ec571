/** Limits that nodes share: what of a request they are asked, when, and what an answer by one node's own share says. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  type AdmissionRequest,
  type AdmissionResult,
  type Coordination,
  NO_REVISIONS,
} from "../../src/coordination/coordination.js";
import { createInProcessCoordination, type InProcessCoordination } from "../../src/coordination/in-process.js";
import { type LimitedCaller, Limits } from "../../src/limits/limits.js";

const REVISIONS = { names: ["key key_1"], words: ["a"] };
const NONE = { requestsPerMinute: 0n, tokensPerMinute: 0n, concurrency: 0n };

let own: InProcessCoordination;
let limits: Limits;
/** What was asked of the nodes, in order. */
let asked: { readonly way: string; readonly request?: AdmissionRequest; readonly subject?: string }[];
let isDegraded: boolean;

/** The limits of one process, as nodes that share them answer: later, and each question is noted. */
function sharedBy(coordination: Coordination, isShared: boolean): Coordination {
  const answer =
    (way: "admit" | "peek") =>
    async (request: AdmissionRequest): Promise<AdmissionResult> => {
      asked.push({ way, request });
      const result = await coordination[way](request);
      return isDegraded ? { ...result, degraded: true } : result;
    };
  return {
    isShared,
    relays: undefined,
    state: () => coordination.state(),
    revisionsOf: (...names) => coordination.revisionsOf(...names),
    admit: answer("admit"),
    peek: answer("peek"),
    correct: (accountId, subject, ...rest) => {
      asked.push({ way: "correct", subject });
      coordination.correct(accountId, subject, ...rest);
    },
    release: (accountId, subject, requestId) => {
      asked.push({ way: "release", subject });
      coordination.release(accountId, subject, requestId);
    },
    publishRevision: (...published) => coordination.publishRevision(...published),
    onRevision: (callback) => coordination.onRevision(callback),
    publishCoolDown: () => undefined,
    publishOrder: () => undefined,
    onOrder: () => undefined,
    onCoolDown: () => undefined,
    close: () => coordination.close(),
  };
}

beforeEach(() => {
  own = createInProcessCoordination({ nowMs: () => 1_800_000_000_000, heartbeatMs: 0 });
  asked = [];
  isDegraded = false;
  limits = new Limits({ coordination: sharedBy(own, true) });
});
afterEach(() => own.close());

function callerWith(some: Partial<LimitedCaller["settings"]>, more: Partial<LimitedCaller> = {}): LimitedCaller {
  const settings = { ...NONE, ...some };
  return { keyId: "key_1", accountId: "acme", settings, maker: undefined, accountLimits: undefined, ...more };
}

const ways = (): string[] => asked.map(({ way }) => way);

describe("a caller without limits", () => {
  const caller = callerWith({}, { revisions: REVISIONS });

  test("is compared with each request, and by nothing else", async () => {
    expect(await limits.check(caller)).toBeUndefined();
    expect(asked).toEqual([]);
    const admission = await limits.admit(caller, "a");
    await admission.reserve(5, "sim-1");
    expect(asked).toMatchObject([{ way: "admit", request: { revisions: REVISIONS, first: [], demands: [] } }]);
    await (await limits.peek(caller, "b")).reserve(5, "sim-1");
    expect(ways()).toEqual(["admit", "peek"]);
    expect(asked[1]?.request?.revisions).toBeUndefined();
  });

  test.each([
    { name: "before its request", isShared: true, caller, want: ["admit"] },
    { name: "never in one process", isShared: false, caller, want: undefined },
    { name: "with its limits, where it has some", isShared: true, caller: callerWith({ concurrency: 1n }) },
  ])("is compared $name", ({ isShared, caller, want }) => {
    limits = new Limits({ coordination: sharedBy(own, isShared) });
    expect(limits.compare(caller) !== undefined).toBe(want !== undefined);
    expect(ways()).toEqual(want ?? []);
  });

  test("has no header until a node says that it decided by its own share", async () => {
    isDegraded = true;
    const admission = limits.compare(caller);
    expect(admission?.head).toEqual({});
    await admission?.enter();
    expect(admission?.head).toEqual({ "x-tollgate-degraded": "limits" });
  });
});

describe("a caller with limits", () => {
  test("is asked for once, with all of them, and compared by the first question alone", async () => {
    const caller = callerWith({ requestsPerMinute: 9n, tokensPerMinute: 100n }, { revisions: REVISIONS });
    const together = await limits.admit(caller, "a");
    expect(asked).toEqual([]);
    await together.reserve(10, "sim-1");
    const parts = await limits.admit(caller, "b");
    await Promise.all([parts.enter(), parts.enter()]);
    await parts.reserve(10, "sim-1");
    const subject = "key key_1";
    expect(asked).toMatchObject([
      { request: { revisions: REVISIONS, first: [{ subject }], demands: [{ subject, tokens: 10 }] } },
      { request: { revisions: REVISIONS, first: [{ subject }], demands: [] } },
      { request: { demands: [{ subject, tokens: 10 }] } },
    ]);
    expect(asked[2]?.request).toMatchObject({ revisions: undefined, first: undefined });
    expect(parts.head).toMatchObject({ "x-ratelimit-remaining-requests": "7", "x-ratelimit-remaining-tokens": "80" });
  });

  test.each([
    { name: "where nobody knows how it was remembered", isShared: true, way: "admit", want: NO_REVISIONS },
    { name: "in one process", isShared: false, way: "admit", want: undefined },
    { name: "by a question that takes nothing", isShared: true, way: "peek", want: undefined },
  ] as const)("is compared as $want $name", async ({ isShared, way, want }) => {
    limits = new Limits({ coordination: sharedBy(own, isShared) });
    const admission = await limits[way](callerWith({ requestsPerMinute: 9n }), "a");
    await admission.enter();
    await admission.reserve(1, "sim-1");
    expect(asked.map(({ request }) => request?.revisions)).toEqual([want]);
  });

  test("has its limits worked out once", async () => {
    let reads = 0;
    const caller = {
      ...callerWith({}),
      get settings() {
        reads += 1;
        return { ...NONE, requestsPerMinute: 9n };
      },
    };
    for (const id of ["a", "b", "c"]) await (await limits.admit(caller, id)).reserve(1, "sim-1");
    expect(reads).toBe(1);
  });

  test.each([
    { name: "its entry", call: "enter", head: { "x-ratelimit-remaining-requests": "8" } },
    { name: "its tokens", call: "reserve", head: { "x-ratelimit-remaining-tokens": "95" } },
  ] as const)("has a header where a node decided $name by its own share", async ({ call, head }) => {
    const caller = callerWith({ requestsPerMinute: 9n, tokensPerMinute: 100n });
    for (const degraded of [true, false]) {
      isDegraded = degraded;
      const admission = await limits.admit(callerWith(caller.settings, { keyId: `key ${degraded}` }), "a");
      await (call === "enter" ? admission.enter() : admission.reserve(5, "sim-1"));
      expect(admission.head).toMatchObject(head);
      expect(admission.head["x-tollgate-degraded"]).toBe(degraded ? "limits" : undefined);
    }
  });

  test.each([true, false])("is refused by a node's own share (%s), which the refusal says", async (degraded) => {
    isDegraded = degraded;
    const caller = callerWith({ requestsPerMinute: 1n });
    await (await limits.admit(caller, "a")).enter();
    const refusal = await Promise.resolve((await limits.admit(caller, "b")).enter()).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ reason: "ERROR_REASON_RATE_LIMITED", metadata: { limit: "requests_per_minute" } });
    expect(Object.entries((refusal as { metadata: object }).metadata).filter(([name]) => name === "degraded")).toEqual(
      degraded ? [["degraded", "limits"]] : [],
    );
  });
});

describe("what a request took", () => {
  const model = { ...NONE, concurrency: 2n, model: "*", matches: () => true };
  const account = { ...NONE, requestsPerMinute: 50n, models: [model] };

  test("is corrected where tokens are limited and another number was used", async () => {
    const caller = callerWith({ tokensPerMinute: 100n }, { accountLimits: account });
    const admission = await limits.admit(caller, "a");
    admission.correct(4);
    expect(asked).toEqual([]);
    await admission.reserve(10, "sim-1");
    // Of a model whose tokens are not limited none are taken.
    expect(asked[0]?.request?.demands.map(({ subject, tokens }) => [subject, tokens])).toEqual([
      ["key key_1", 10],
      ["account acme, model *", 0],
    ]);
    for (const used of [10, 4, 4]) admission.correct(used);
    expect(asked).toMatchObject([{ way: "admit" }, { way: "correct", subject: "key key_1" }]);
    const question = await limits.peek(caller, "b");
    question.correct(4);
    await question.reserve(10, "sim-1");
    question.correct(4);
    question.release();
    expect(ways()).toEqual(["admit", "correct", "peek"]);
  });

  test("is freed by its own request, and by none that was refused before it took anything", async () => {
    const caller = callerWith({ concurrency: 1n }, { accountLimits: account });
    const first = await limits.admit(caller, "a");
    await first.reserve(1, "sim-1");
    const second = await limits.admit(caller, "b");
    await expect(second.reserve(1, "sim-1")).rejects.toMatchObject({ metadata: { limit: "concurrency" } });
    second.release();
    expect(ways()).toEqual(["admit", "admit"]);
    first.release();
    first.release();
    expect(asked.slice(2)).toMatchObject([{ subject: "key key_1" }, { subject: "account acme, model *" }]);
  });
});
