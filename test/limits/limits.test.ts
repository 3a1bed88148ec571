/** Limits of a caller: what is refused and what it says, what is given back, which headers tell of it. */
import { fc } from "../support/seeds.js";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { KeySettings } from "../../src/api/index.js";
import type { Coordination } from "../../src/coordination/coordination.js";
import { createInProcessCoordination, type InProcessCoordination } from "../../src/coordination/in-process.js";
import { GatewayError } from "../../src/base/errors.js";
import { errorHeaders } from "../../src/http/error-reply.js";
import { typeOf } from "../../src/wire/openai/error.js";
import { formatDuration } from "../../src/limits/duration.js";
import type { LimitDecision } from "../../src/limits/limit-decision.js";
import { type LimitedCaller, Limits } from "../../src/limits/limits.js";

let clock = { nowMs: 1_800_000_000_000 };
let coordination: InProcessCoordination;
let limits: Limits;

beforeEach(() => {
  clock = { nowMs: 1_800_000_000_000 };
  coordination = createInProcessCoordination({ nowMs: () => clock.nowMs, heartbeatMs: 0 });
  limits = new Limits({ coordination });
});

afterEach(async () => {
  await coordination.close();
});

const callerWith = (some: Partial<KeySettings>, keyId = "key_1") => ({
  keyId,
  accountId: "acme",
  settings: { ...KeySettings.decode(new Uint8Array()), ...some },
  maker: undefined,
  accountLimits: undefined,
});

let requestCount = 0;
function admit(caller: LimitedCaller, tokens = 0, requestId = `r${requestCount++}`): LimitDecision {
  const admission = limits.admit(caller, requestId);
  if (admission instanceof Promise) throw new Error("in one process, the answer comes at once");
  try {
    admission.reserve(tokens, "sim-1");
  } catch (error) {
    admission.release();
    throw error;
  }
  return admission;
}

function refusal(call: () => unknown): GatewayError {
  try {
    call();
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  throw new Error("expected a refusal");
}

test("a second model takes its own tokens, and what was taken for the first one is given back", () => {
  const caller = callerWith({ tokensPerMinute: 100n });
  const admission = admit(caller, 60);
  admission.reserve(90, "sim-2");
  expect(refusal(() => admit(caller, 11)).metadata).toMatchObject({ limit: "tokens_per_minute", remaining: "10" });
  admission.correct(20);
  expect(() => admit(caller, 80)).not.toThrow();
});

test("a second model that the limit does not cover leaves nothing taken", () => {
  const caller = callerWith({ tokensPerMinute: 100n });
  const other = admit(caller, 50);
  const admission = admit(caller, 40);
  expect(refusal(() => admission.reserve(60, "sim-2")).metadata).toMatchObject({ limit: "tokens_per_minute" });
  other.correct(0);
  expect(() => admit(caller, 100)).not.toThrow();
});

test("a key without limits is admitted without a trace", () => {
  const caller = callerWith({});
  const admission = admit(caller, 1_000_000_000);
  expect(admission.head).toEqual({});
  expect(admission.enter()).toBeUndefined();
  admission.correct(5);
  admission.release();
  expect(coordination.subjectCount).toBe(0);
  expect(admit(caller)).toBe(admission);
});

describe("headers", () => {
  test.each([
    {
      name: "requests alone",
      settings: { requestsPerMinute: 10n },
      head: {
        "x-ratelimit-limit-requests": "10",
        "x-ratelimit-remaining-requests": "9",
        "x-ratelimit-reset-requests": "1m1s",
      },
    },
    {
      name: "tokens alone",
      settings: { tokensPerMinute: 1_000n },
      head: {
        "x-ratelimit-limit-tokens": "1000",
        "x-ratelimit-remaining-tokens": "900",
        "x-ratelimit-reset-tokens": "1m1s",
      },
    },
    { name: "concurrency alone", settings: { concurrency: 1n }, head: {} },
    {
      name: "all",
      settings: { requestsPerMinute: 1n, tokensPerMinute: 100n, concurrency: 1n },
      head: {
        "x-ratelimit-limit-requests": "1",
        "x-ratelimit-limit-tokens": "100",
        "x-ratelimit-remaining-requests": "0",
        "x-ratelimit-remaining-tokens": "0",
        "x-ratelimit-reset-requests": "1m1s",
        "x-ratelimit-reset-tokens": "1m1s",
      },
    },
  ])("tell of $name", ({ settings, head }) => {
    expect(admit(callerWith(settings), 100).head).toEqual(head);
  });
});

describe("a refusal", () => {
  test.each([
    {
      limit: "requests_per_minute",
      settings: { requestsPerMinute: 1n },
      type: "requests",
      facts: { limit_value: "1", remaining: "0", reset_ms: "58800", remaining_requests: "0", reset_requests: "58.8s" },
      head: {
        "x-ratelimit-limit-requests": "1",
        "x-ratelimit-remaining-requests": "0",
        "x-ratelimit-reset-requests": "58.8s",
      },
    },
    {
      limit: "tokens_per_minute",
      settings: { tokensPerMinute: 150n },
      type: "tokens",
      facts: { limit_value: "150", remaining: "50", reset_ms: "58800", limit_tokens: "150", reset_tokens: "58.8s" },
      head: {
        "x-ratelimit-limit-tokens": "150",
        "x-ratelimit-remaining-tokens": "50",
        "x-ratelimit-reset-tokens": "58.8s",
      },
    },
    {
      limit: "concurrency",
      settings: { concurrency: 1n, requestsPerMinute: 9n },
      type: "requests",
      facts: { limit_value: "1", remaining: "0", reset_ms: "1000", remaining_requests: "8" },
      head: {
        "x-ratelimit-limit-requests": "9",
        "x-ratelimit-remaining-requests": "8",
        "x-ratelimit-reset-requests": "58.8s",
      },
    },
  ])(
    "by $limit names the limit, its owner, what remains and when to come back",
    ({ limit, settings, type, facts, head }) => {
      const caller = callerWith(settings);
      admit(caller, 100);
      clock.nowMs += 2_200;
      const error = refusal(() => admit(caller, 100));
      expect(error.reason).toBe("ERROR_REASON_RATE_LIMITED");
      expect(typeOf(error)).toBe(type);
      expect(error.metadata).toMatchObject({ limit, owner: "key key_1", ...facts });
      expect(error.retryAfterMs).toBe(Number(facts.reset_ms));
      expect(error.message).toContain(limit);
      expect(error.message).toContain("key key_1");
      const limits = Object.entries(errorHeaders(error)).filter(([name]) => name.startsWith("x-ratelimit-"));
      expect(Object.fromEntries(limits)).toEqual(head);
    },
  );
});

describe("tokens", () => {
  test("that were not used are given back, and those above the reservation are taken", () => {
    const caller = callerWith({ tokensPerMinute: 100n });
    const admission = admit(caller, 80);
    refusal(() => admit(caller, 21));
    admission.correct(30);
    const second = admit(caller, 70);
    second.correct(71);
    expect(refusal(() => admit(caller, 1)).metadata["remaining"]).toBe("0");
  });

  test("of a limit of one are one", () => {
    const caller = callerWith({ tokensPerMinute: 1n });
    admit(caller, 1);
    expect(refusal(() => admit(caller, 1)).metadata["limit"]).toBe("tokens_per_minute");
  });

  test("can be corrected again, each time to what was used in all", () => {
    const caller = callerWith({ tokensPerMinute: 100n });
    const admission = admit(caller, 90);
    for (const used of [10, 20, 20, 0, 40]) admission.correct(used);
    expect(admit(caller, 60).head["x-ratelimit-remaining-tokens"]).toBe("0");
  });

  test("of a bound above the limit pass once the window is empty, and what is used beyond is waited for", () => {
    const caller = callerWith({ tokensPerMinute: 100n });
    admit(caller, 1);
    expect(refusal(() => admit(caller, 5_000)).metadata["limit"]).toBe("tokens_per_minute");
    clock.nowMs += 61_000;
    const admission = admit(caller, 5_000);
    admission.correct(40);
    admit(caller, 60).correct(300);
    expect(refusal(() => admit(caller, 1)).retryAfterMs).toBe(61_000);
  });

  test.each([Number.NaN, -1])("of %s are a broken invariant", (tokens) => {
    expect(() => admit(callerWith({ tokensPerMinute: 1n }), tokens)).toThrow("number from 0");
  });
});

test("a slot comes back at its release, and only once", () => {
  const caller = callerWith({ concurrency: 1n });
  const first = admit(caller, 0, "first");
  refusal(() => admit(caller));
  first.release();
  const second = admit(caller, 0, "first");
  // The same id again: a second release by the first must not free it.
  first.release();
  refusal(() => admit(caller));
  second.release();
  admit(caller);
});

test("a request counts from its entry, whatever its tokens are refused for, and takes none of those", () => {
  const caller = callerWith({ requestsPerMinute: 2n, tokensPerMinute: 100n });
  const error = refusal(() => {
    admit(caller, 100);
    admit(caller, 1);
  });
  expect(error.metadata).toMatchObject({ limit: "tokens_per_minute", remaining: "0", remaining_requests: "0" });
  expect(refusal(() => admit(caller)).metadata["limit"]).toBe("requests_per_minute");
});

test("new settings of a key count at once, with what its window holds", () => {
  admit(callerWith({ requestsPerMinute: 5n }));
  expect(admit(callerWith({ requestsPerMinute: 2n })).head["x-ratelimit-remaining-requests"]).toBe("0");
  refusal(() => admit(callerWith({ requestsPerMinute: 2n })));
  admit(callerWith({ requestsPerMinute: 2n }, "key_2"));
});

let questions = 0;
test("a question is refused exactly where a request is, with the same facts, and takes nothing", () => {
  const question = fc.property(
    fc.record({ requests: fc.nat(4), tokens: fc.nat(60), concurrency: fc.nat(3) }),
    fc.array(fc.record({ tokens: fc.nat(40), stepMs: fc.nat(20_000), ends: fc.boolean() }), { maxLength: 25 }),
    (limit, asked) => {
      const settings = {
        requestsPerMinute: BigInt(limit.requests),
        tokensPerMinute: BigInt(limit.tokens),
        concurrency: BigInt(limit.concurrency),
      };
      const caller = callerWith(settings, `key_${++questions}`);
      const outcome = (ask: () => unknown): unknown => {
        try {
          ask();
          return "admitted";
        } catch (error) {
          if (!(error instanceof GatewayError)) return error;
          const { limit, limit_value, remaining, reset_ms, owner } = error.metadata;
          return { limit, limit_value, remaining, reset_ms, owner };
        }
      };
      const peek = (id: string, tokens: number): void => {
        const admission = limits.peek(caller, id);
        if (!(admission instanceof Promise)) admission.reserve(tokens, "sim-1");
      };
      for (const [index, { tokens, stepMs, ends }] of asked.entries()) {
        clock.nowMs += stepMs;
        const id = `q${questions}-${index}`;
        const first = outcome(() => peek(id, tokens));
        expect(outcome(() => peek(id, tokens))).toEqual(first);
        const entered = outcome(() => void limits.peek(caller, id));
        expect(outcome(() => void limits.check(caller))).toEqual(entered);
        const admitted = outcome(() => {
          const admission = admit(caller, tokens, id);
          if (ends) admission.release();
        });
        expect(admitted).toEqual(first);
      }
    },
  );
  fc.assert(question, { numRuns: 300, verbose: 1 });
});

test("a shared driver that answers later refuses and admits alike", async () => {
  const later: Coordination = {
    isShared: false,
    relays: undefined,
    state: () => coordination.state(),
    revisionsOf: (...asked) => coordination.revisionsOf(...asked),
    admit: (request) => Promise.resolve(coordination.admit(request)),
    peek: (request) => Promise.resolve(coordination.peek(request)),
    correct: (...corrected) => coordination.correct(...corrected),
    release: (...released) => coordination.release(...released),
    publishRevision: (...published) => coordination.publishRevision(...published),
    onRevision: (callback) => coordination.onRevision(callback),
    publishCoolDown: () => undefined,
    publishOrder: () => undefined,
    onOrder: () => undefined,
    onCoolDown: () => undefined,
    close: () => coordination.close(),
  };
  limits = new Limits({ coordination: later });
  const caller = callerWith({ concurrency: 1n, tokensPerMinute: 100n });
  const admission = await limits.admit(caller, "a");
  await expect(limits.admit(caller, "b")).rejects.toMatchObject({ reason: "ERROR_REASON_RATE_LIMITED" });
  await expect(limits.peek(caller, "b")).rejects.toMatchObject({ reason: "ERROR_REASON_RATE_LIMITED" });
  await expect(limits.check(caller)).rejects.toMatchObject({ reason: "ERROR_REASON_RATE_LIMITED" });
  await admission.reserve(90, "sim-1");
  admission.release();
  const second = await limits.admit(caller, "b");
  await expect(second.reserve(11, "sim-1")).rejects.toMatchObject({ metadata: { limit: "tokens_per_minute" } });
});

test.each([
  [0, "0s"],
  [-5, "0s"],
  [1, "1ms"],
  [120, "120ms"],
  [119.2, "120ms"],
  [999.5, "1s"],
  [1_000, "1s"],
  [1_200, "1.2s"],
  [59_999, "59.999s"],
  [60_000, "1m0s"],
  [360_000, "6m0s"],
  [61_500, "1m1.5s"],
  [3_599_999, "59m59.999s"],
  [3_600_000, "1h0m0s"],
  [3_723_004, "1h2m3.004s"],
])("%s ms are written %s", (ms, want) => {
  expect(formatDuration(ms)).toBe(want);
});
