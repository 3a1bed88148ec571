/** Sums of money are the ledger's to the nano for every grouping, whichever records a crash lost. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fc } from "../support/seeds.js";
import { expect, test } from "vitest";
import { Price, UsageSource } from "../../src/api/index.js";
import { NO_USAGE } from "../../src/api/usage.js";
import { Ledger } from "../../src/ledger/ledger.js";
import { Adopter } from "../../src/records/adopter.js";
import { FLAG } from "../../src/records/columns.js";
import { openSqliteChunks } from "../../src/records/sqlite-chunks.js";
import { Engine } from "../../src/records/engine.js";
import { BatchBuilder } from "../../src/records/row-batch.js";
import { Records, type SnapshotGroups } from "../../src/records/records.js";
import { DIMENSIONS } from "../../src/records/usage-codes.js";
import { UsageQuestions } from "../../src/records/usage-questions.js";
import type { UsageAsk } from "../../src/records/usage-snapshot.js";
import { SUMS } from "../../src/records/usage-sums.js";
import type { DaySpan } from "../../src/store/store.js";
import { TEST_ACT } from "../support/acts.js";
import { openTestStore } from "../support/open-test-store.js";
import { rowWith } from "./row.js";
import { bySweep } from "../support/sweep.js";

/** 2026-11-21. */
const DAY_MS = 1_795_219_200_000;
const WEEK = { recordsMs: 604_800_000, refusalsMs: 604_800_000 };

const traffic = fc.array(
  fc.record({
    costNanos: fc.bigInt({ min: 0n, max: 1_000_000_000n }),
    atMs: fc.integer({ min: -86_400_000, max: 3_600_000 }),
    // A key is of one account for good: the comparison by key and model rests on it.
    of: fc.constantFrom(
      { account: "acme", key: "k1" },
      { account: "acme", key: "k2" },
      { account: "other", key: "k3" },
    ),
    model: fc.constantFrom("m1", "m2"),
    endUser: fc.constantFrom("", "ann"),
    isLost: fc.boolean(),
    isVoid: fc.boolean(),
  }),
  { minLength: 1, maxLength: 12 },
);
type Traffic = typeof traffic extends fc.Arbitrary<infer Value> ? Value : never;

const ONE = {
  costNanos: 7n,
  atMs: 0,
  of: { account: "acme", key: "k1" },
  model: "m1",
  endUser: "",
  isLost: false,
} as const;
/** The ledger counts no request that it voided, so those of the records must not hide one that was lost. */
const VOIDS_BESIDE_LOST: Traffic = [
  { ...ONE, isVoid: true },
  { ...ONE, isVoid: true },
  { ...ONE, isLost: true, isVoid: false },
];

test("whatever was lost stands under unknown, and no grouping shows another sum", async () => {
  await fc.assert(
    fc.asyncProperty(traffic, fc.boolean(), async (requests, isAdopted) => {
      const directory = await mkdtemp(join(tmpdir(), "tollgate-sums-"));
      try {
        await compare(directory, requests, isAdopted);
      } finally {
        await rm(directory, { recursive: true });
      }
    }),
    { numRuns: bySweep({ short: 8, long: 20, all: 20 }), examples: [[VOIDS_BESIDE_LOST, false]] },
  );
});

const NOTHING = {
  requestCount: 0,
  usage: NO_USAGE,
  costNanos: 0n,
  refundedNanos: 0n,
  operatorCostNanos: 0n,
  marginNanos: 0n,
};

test("days that were compared after the start are not compared for whoever asks first", async () => {
  const days: string[] = [];
  const requests = {
    summarize: (_account: string | undefined, { fromDay, toDay }: DaySpan) => {
      if (fromDay === toDay) days.push(fromDay);
      return Promise.resolve({ rows: [], nextPageToken: "", total: NOTHING });
    },
  };
  const usage = (_asked: readonly UsageAsk[], spans: readonly object[]): Promise<SnapshotGroups> =>
    Promise.resolve({ groups: [], states: spans.map(() => "") });
  const parts = {
    records: { usage, keptSinceMs: 0 },
    requests,
    adopter: { adopt: () => Promise.resolve(0) },
  };
  const questions = new UsageQuestions({ ...parts, nowMs: () => DAY_MS + 7_200_000 });
  await questions.warm(0);
  expect([days.length, days[0], days.at(-1)]).toEqual([30, "2026-11-20", "2026-10-22"]);
  await questions.ask(["model"], { fromMs: DAY_MS - 29 * 86_400_000, toMs: DAY_MS + 7_200_000, names: {} });
  expect(days.slice(30)).toEqual(["2026-11-21"]);
});

test("a request whose record comes while its question is asked is counted once", async () => {
  const row = { ...NOTHING, day: "2026-11-21", accountId: "acme", keyId: "k1", model: "m1", requestCount: 1 };
  const sums = Object.fromEntries(SUMS.map((name) => [name, 0n])) as Record<(typeof SUMS)[number], bigint>;
  const counts = { requestCount: 1, answeredCount: 1, settledCount: 1, errors: {}, sums, meters: [] };
  let hasRecord = false;
  const usage = (asked: readonly UsageAsk[]): Promise<SnapshotGroups> => {
    const told = { ...counts, firstTokenMs: undefined, totalMs: undefined };
    const groups = asked.map(({ dimensions }) =>
      hasRecord ? [{ ...told, values: dimensions.map((name) => (name === "key" ? "k1" : "m1")) }] : [],
    );
    return new Promise((resolve) => {
      setImmediate(() => {
        // It comes once this is answered.
        hasRecord = true;
        resolve({ groups, states: [] });
      });
    });
  };
  const requests = { summarize: () => Promise.resolve({ rows: [row], nextPageToken: "", total: NOTHING }) };
  const parts = { records: { usage, keptSinceMs: 0 }, requests, adopter: { adopt: () => Promise.resolve(0) } };
  const questions = new UsageQuestions({ ...parts, nowMs: () => DAY_MS + 7_200_000 });
  for (let at = 0; at < 2; at++) {
    const groups = await questions.ask(["model"], { fromMs: DAY_MS, toMs: DAY_MS + 7_200_000, names: {} });
    expect(groups.map(({ values, requestCount }) => [values, requestCount])).toEqual([[["m1"], 1]]);
  }
});

/** Records of a day that goes on: of what the ledger knows before they are read, knows then, and never gets to know. */
test.each([
  { name: "ends while the question is asked", before: 1, after: 2, recorded: 2 },
  { name: "ends while the question is asked, and has no record yet", before: 1, after: 2, recorded: 1 },
  { name: "was charged by its record alone", before: 1, after: 1, recorded: 2 },
  { name: "was charged by its record alone, beside one without a record", before: 1, after: 2, recorded: 3 },
  { name: "was charged by its record alone, of a key that the ledger does not know", before: 0, after: 0, recorded: 1 },
])("sums of today are the ledger's, or an error, where a request $name", async ({ before, after, recorded }) => {
  const charge = 5n;
  const row = { ...NOTHING, day: "2026-11-21", accountId: "acme", keyId: "k1", model: "m1" };
  const rowsOf = (count: number) =>
    count === 0
      ? []
      : [{ ...row, requestCount: count, costNanos: charge * BigInt(count), marginNanos: charge * BigInt(count) }];
  const zero = Object.fromEntries(SUMS.map((name) => [name, 0n])) as Record<(typeof SUMS)[number], bigint>;
  const nanos = charge * BigInt(recorded);
  const sums = { ...zero, costNanos: nanos, chargedNanos: nanos, marginNanos: nanos };
  const counts = {
    requestCount: recorded,
    answeredCount: recorded,
    settledCount: recorded,
    errors: {},
    sums,
    meters: [],
  };
  const value = { day: row.day, account: "acme", key: "k1", model: "m1" } as Readonly<Record<string, string>>;
  const dimensions = DIMENSIONS.map((one) => [one]);
  for (const asked of [[], ...dimensions]) {
    let wasRead = false;
    const usage = (questions: readonly UsageAsk[]): Promise<SnapshotGroups> => {
      wasRead = true;
      const told = { ...counts, firstTokenMs: undefined, totalMs: undefined };
      const groups = questions.map(({ dimensions: by }) => [
        { ...told, values: by.map((name) => value[name] ?? "told") },
      ]);
      return Promise.resolve({ groups, states: [] });
    };
    const requests = {
      summarize: () => Promise.resolve({ rows: rowsOf(wasRead ? after : before), nextPageToken: "", total: NOTHING }),
    };
    const parts = { records: { usage, keptSinceMs: 0 }, requests, adopter: { adopt: () => Promise.resolve(0) } };
    const questions = new UsageQuestions({ ...parts, nowMs: () => DAY_MS + 7_200_000 });
    const ask = { fromMs: DAY_MS, toMs: DAY_MS + 7_200_000, names: { account: "acme" } };
    const answer = await questions.ask(asked, ask).catch((error: unknown) => String(error));
    if (typeof answer === "string") {
      expect(answer).toContain("records of 2026-11-21 say more than the ledger");
      expect(["hour", "minute", "upstream", "user", "tag", "reason", "quarter_hour", "node"]).toContain(asked[0]);
      expect(recorded).toBeGreaterThan(after);
      continue;
    }
    const sum = answer.reduce((all, group) => all + group.sums.chargedNanos, 0n);
    expect([asked, [charge * BigInt(before), charge * BigInt(after)]]).toEqual([asked, expect.arrayContaining([sum])]);
  }
});

/** `isAdopted`: enough time is over for what was lost to be given records again. */
async function compare(directory: string, requests: Traffic, isAdopted: boolean): Promise<void> {
  let nowMs = DAY_MS;
  const store = await openTestStore(directory);
  const ledger = new Ledger({ store, nodeId: "n1", nowMs: () => nowMs });
  await ledger.start();
  for (const id of ["acme", "other"]) {
    await ledger.createAccount({ id, name: id }, TEST_ACT);
    await ledger.credit({ creditId: id, accountId: id, amountNanos: 10n ** 12n, act: TEST_ACT });
  }
  // What is written before a crash is there after it, and what was not is lost.
  const engine = new Engine(openSqliteChunks(directory));
  const batch = new BatchBuilder();
  for (const [at, { costNanos, atMs, of, model, endUser, isLost, isVoid }] of requests.entries()) {
    const { account, key } = of;
    nowMs = DAY_MS + atMs;
    const id = `req_${(nowMs - 50).toString(16).padStart(12, "0")}${String(at).padStart(20, "0")}`;
    const asked = {
      requestId: id,
      accountId: account,
      keyId: key,
      model,
      amountNanos: costNanos,
      leastNanos: costNanos,
    };
    const hold = await ledger.hold({ ...asked, budgets: [], price: Price.decode(new Uint8Array()), timeoutMs: 1_000 });
    const usageSource = isVoid ? UsageSource.USAGE_SOURCE_NONE : UsageSource.USAGE_SOURCE_REPORTED;
    const usage = isVoid ? NO_USAGE : { ...NO_USAGE, inputTokens: BigInt(at) };
    const paid = { costNanos: isVoid ? 0n : costNanos, operatorCostNanos: isVoid ? undefined : 3n };
    const outcome = await hold.settle(
      { usage, usageSource, ...paid, upstream: "u", attempts: 1, attemptLog: "[]" },
      true,
    );
    if (isLost) continue;
    batch.push(
      rowWith({
        id,
        endTimeMs: nowMs,
        account,
        key,
        model,
        endUser,
        upstream: "u",
        usageSource,
        flags: FLAG.answered | (isVoid ? 0 : FLAG.costKnown),
        costNanos: Number(paid.costNanos),
        chargedNanos: Number(outcome?.chargedNanos ?? 0n),
        operatorCostNanos: isVoid ? 0 : 3,
        inputTokens: Number(usage.inputTokens),
      }),
    );
  }
  if (batch.count > 0) await engine.append(batch.take());
  await engine.close();
  nowMs = DAY_MS + (isAdopted ? 7_200_000 : 3_600_001);
  const fail = (problem: unknown): never => expect.unreachable(String(problem));
  const content = { keys: [], previous: undefined, keptMs: DAY_MS };
  const told = { onDropped: fail, onRefusalsLeftOut: fail, onContentDropped: fail, onError: fail };
  const options = { retention: WEEK, content, nowMs: () => nowMs, ...told };
  const records = await Records.open({ place: { directory }, ...options });
  const adopter = new Adopter({ records, requests: ledger.requests, nowMs: () => nowMs });
  const questions = new UsageQuestions({ records, requests: ledger.requests, adopter, nowMs: () => nowMs });
  const want = requests.reduce((sum, one) => sum + (one.isVoid ? 0n : one.costNanos), 0n);
  for (const one of DIMENSIONS)
    for (const pair of [[one], [one, one === "day" ? ("user" as const) : ("day" as const)]]) {
      const groups = await questions.ask(pair, { fromMs: DAY_MS - 86_400_000, toMs: nowMs, names: {} });
      const sums = groups.reduce((sum, group) => sum + group.sums.costNanos, 0n);
      expect([pair, sums]).toEqual([pair, want]);
      const ids = groups.map(({ values }) => values.join("\u0000"));
      expect(ids).toEqual([...new Set(ids)].toSorted());
      const settled = groups.reduce((count, group) => count + group.settledCount, 0);
      expect([pair, settled]).toEqual([pair, requests.filter(({ isVoid }) => !isVoid).length]);
    }
  await records.close();
  await ledger.close();
  await store.close();
}
