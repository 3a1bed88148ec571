/** Limits of many subjects at once: the key, those that made it, its account, and the account with the model. */
import { fc } from "../support/seeds.js";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createInProcessCoordination, type InProcessCoordination } from "../../src/coordination/in-process.js";
import { GatewayError } from "../../src/base/errors.js";
import { GlobSet } from "../../src/keys/glob.js";
import type { LimitDecision } from "../../src/limits/limit-decision.js";
import { type AccountLimits, type LimitedCaller, Limits } from "../../src/limits/limits.js";

let clock = { nowMs: 1_800_000_000_000 };
let coordination: InProcessCoordination;
let limits: Limits;

beforeEach(() => {
  clock = { nowMs: 1_800_000_000_000 };
  coordination = createInProcessCoordination({ nowMs: () => clock.nowMs, heartbeatMs: 0 });
  limits = new Limits({ coordination });
});
afterEach(() => coordination.close());

interface Numbers {
  readonly requests?: number;
  readonly tokens?: number;
  readonly slots?: number;
}

function limitOf({ requests = 0, tokens = 0, slots = 0 }: Numbers) {
  return { requestsPerMinute: BigInt(requests), tokensPerMinute: BigInt(tokens), concurrency: BigInt(slots) };
}

function accountOf(own: Numbers, models: Readonly<Record<string, Numbers>> = {}): AccountLimits {
  return { ...limitOf(own), models: Object.entries(models).map(([model, numbers]) => modelLimit(model, numbers)) };
}

function modelLimit(model: string, numbers: Numbers): AccountLimits["models"][number] {
  const set = new GlobSet([model]);
  return { model, ...limitOf(numbers), matches: (name) => set.matches(name) };
}

function keyOf(keyId: string, own: Numbers, some: Partial<LimitedCaller> = {}): LimitedCaller {
  return { keyId, accountId: "acme", settings: limitOf(own), maker: undefined, accountLimits: undefined, ...some };
}

let count = 0;
function admit(caller: LimitedCaller, tokens = 0, model = "gpt-5"): LimitDecision {
  const admission = limits.admit(caller, `r${count++}`);
  if (admission instanceof Promise) throw new Error("in one process, the answer comes at once");
  try {
    admission.reserve(tokens, model);
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

const MAKER = keyOf("key_maker", { requests: 1 });
const TOKENS = keyOf("key_maker", { tokens: 10 });
describe("a refusal names whose limit it is", () => {
  test.each([
    { caller: keyOf("key_1", { requests: 1 }), owner: "key key_1", limit: "requests_per_minute" },
    { caller: keyOf("key_1", {}, { maker: MAKER }), owner: "key key_maker", limit: "requests_per_minute" },
    { caller: keyOf("key_1", {}, { maker: TOKENS }), owner: "key key_maker", limit: "tokens_per_minute" },
    {
      caller: keyOf("key_1", { requests: 9 }, { maker: keyOf("key_2", {}, { maker: MAKER }) }),
      owner: "key key_maker",
      limit: "requests_per_minute",
    },
    {
      caller: keyOf("key_1", { requests: 9 }, { accountLimits: accountOf({ requests: 1 }) }),
      owner: "account acme",
      limit: "requests_per_minute",
    },
    {
      caller: keyOf("key_1", {}, { accountLimits: accountOf({ tokens: 10 }) }),
      owner: "account acme",
      limit: "tokens_per_minute",
    },
    {
      caller: keyOf("key_1", {}, { accountLimits: accountOf({ slots: 1 }) }),
      owner: "account acme",
      limit: "concurrency",
    },
    ...[
      { numbers: { requests: 1 }, limit: "requests_per_minute" },
      { numbers: { tokens: 10 }, limit: "tokens_per_minute" },
      { numbers: { slots: 1 }, limit: "concurrency" },
    ].map(({ numbers, limit }) => ({
      caller: keyOf(
        "key_1",
        {},
        { accountLimits: accountOf({ requests: 9 }, { "gpt-*": numbers, o4: { requests: 1 } }) },
      ),
      owner: "account acme, model gpt-*",
      limit,
    })),
  ])("$limit of $owner", ({ caller, owner, limit }) => {
    admit(caller, 10);
    const error = refusal(() => admit(caller, 10));
    expect(error.metadata).toMatchObject({ owner, limit, remaining: "0" });
    expect(error.message).toContain(`The limit ${limit} of ${owner} is `);
    expect(error.retryAfterMs).toBeGreaterThan(0);
  });
});

test("a model that no limit names is not limited, and an account without any costs nothing", () => {
  const caller = keyOf("key_1", {}, { accountLimits: accountOf({}, { "gpt-*": { requests: 1, slots: 1 } }) });
  for (let times = 0; times < 3; times++) admit(caller, 10, "claude");
  expect(coordination.subjectCount).toBe(0);
});

test("headers tell of the tightest of each kind", () => {
  const accountLimits = accountOf({ requests: 5, tokens: 1_000 }, { "gpt-*": { requests: 3, tokens: 2_000 } });
  const head = admit(keyOf("key_1", { requests: 7, tokens: 3_000 }, { accountLimits }), 100).head;
  expect(head).toMatchObject({
    "x-ratelimit-limit-requests": "3",
    "x-ratelimit-remaining-requests": "2",
    "x-ratelimit-limit-tokens": "1000",
    "x-ratelimit-remaining-tokens": "900",
  });
});

test("one that refuses takes nothing of the others", () => {
  const accountLimits = accountOf({ tokens: 100 }, { "gpt-*": { tokens: 50, slots: 1 } });
  const caller = keyOf("key_1", {}, { accountLimits });
  admit(caller, 40);
  for (let times = 0; times < 5; times++) refusal(() => admit(caller, 20));
  expect(admit(caller, 60, "claude").head["x-ratelimit-remaining-tokens"]).toBe("0");
});

test("what was used is corrected and slots are freed for every subject", () => {
  const accountLimits = accountOf({ tokens: 80, slots: 1 }, { "gpt-*": { tokens: 60, slots: 1 } });
  const caller = keyOf("key_1", { slots: 1 }, { accountLimits, maker: keyOf("key_2", { slots: 1, tokens: 100 }) });
  for (let times = 0; times < 3; times++) {
    const admission = admit(caller, 40);
    refusal(() => limits.admit(caller, "other"));
    admission.correct(30);
    admission.correct(10);
    admission.release();
  }
  expect(refusal(() => admit(caller, 31)).metadata).toMatchObject({
    owner: "account acme, model gpt-*",
    remaining: "30",
  });
});

test("slots that nobody frees come back for every subject", () => {
  const accountLimits = accountOf({ slots: 1 }, { "*": { slots: 1 } });
  const caller = keyOf("key_1", {}, { accountLimits, maker: keyOf("key_2", { slots: 1 }) });
  admit(caller);
  clock.nowMs += 31_000;
  admit(caller).release();
});

test("any 60 seconds hold at most each subject's limit, whichever keys of one account and maker ask", () => {
  const limit = fc.record({ requests: fc.integer({ min: 1, max: 6 }), tokens: fc.integer({ min: 20, max: 60 }) });
  const asks = fc.array(
    fc.record({
      key: fc.nat(3),
      model: fc.constantFrom("gpt-5", "o4"),
      tokens: fc.integer({ min: 1, max: 20 }),
      stepMs: fc.nat(9_000),
    }),
    { maxLength: 60 },
  );
  const holds = fc.property(limit, limit, limit, asks, (maker, account, model, asked) => {
    const run = `run${count++}`;
    const accountLimits = accountOf(account, { "gpt-*": model });
    const making = keyOf(`${run}-maker`, maker);
    const keys = [0, 1, 2, 3].map((index) =>
      keyOf(`${run}-${index}`, {}, { accountId: run, accountLimits, maker: index < 2 ? making : undefined }),
    );
    const taken: { atMs: number; tokens: number; of: (typeof asked)[number] }[] = [];
    for (const of of asked) {
      clock.nowMs += of.stepMs;
      const caller = keys[of.key];
      if (caller === undefined) throw new Error("there are four keys");
      try {
        admit(caller, of.tokens, of.model).release();
        taken.push({ atMs: clock.nowMs, tokens: of.tokens, of });
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error;
      }
    }
    const subjects = [
      { most: maker, counts: ({ key }: (typeof asked)[number]) => key < 2 },
      { most: account, counts: () => true },
      { most: model, counts: ({ model: named }: (typeof asked)[number]) => named === "gpt-5" },
    ];
    for (const { most, counts } of subjects) {
      const own = taken.filter(({ of }) => counts(of));
      for (const { atMs } of own) {
        const window = own.filter((one) => one.atMs > atMs - 60_000 && one.atMs <= atMs);
        expect(window.length).toBeLessThanOrEqual(most.requests);
        expect(window.reduce((sum, { tokens }) => sum + tokens, 0)).toBeLessThanOrEqual(most.tokens);
      }
    }
  });
  fc.assert(holds, { numRuns: 100 });
});
