/** Records are kept behind: what is too much is dropped and counted, and nothing that they do holds others up. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, onTestFinished, test } from "vitest";
import type { ChunkStore } from "../../src/records/chunk-store.js";
import { GatewayError } from "../../src/base/errors.js";
import type { RecordFilter } from "../../src/records/filter.js";
import { openSqliteChunks } from "../../src/records/sqlite-chunks.js";
import { Engine } from "../../src/records/engine.js";
import { REQUEST_MS_MAX } from "../../src/records/columns.js";
import type { RecordCaller, RecordCallName } from "../../src/records/record-calls.js";
import { Records } from "../../src/records/records.js";
import { type LeftOut, RefusalBounds } from "../../src/records/refusal-bounds.js";
import { RequestFeed } from "../../src/records/request-record.js";
import { BatchBuilder, type RowBatch } from "../../src/records/row-batch.js";
import type { UsageGroup } from "../../src/records/usage-groups.js";
import { NO_USAGE } from "../../src/api/usage.js";
import { rowWith } from "./row.js";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

const NOW_MS = 1_795_219_200_000;
const DAY_MS = 86_400_000;
const ALL: RecordFilter = { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER, names: {} };

/** The id of a request that began then. */
function idAt(timeMs: number, rest: string): string {
  return `req_${timeMs.toString(16).padStart(12, "0")}${rest.padStart(20, "0")}`;
}

/** Of all that the filter takes; undefined where that is nothing. */
async function sumOf(records: Records, filter: RecordFilter): Promise<UsageGroup | undefined> {
  const { groups } = await records.usage([{ dimensions: [], filter }], []);
  return groups[0]?.[0];
}

async function folder(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "tollgate-records-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

async function open(
  directory: string,
): Promise<{ records: Records; feed: RequestFeed; dropped: () => number; leftOut: readonly LeftOut[] }> {
  let dropped = 0;
  const leftOut: LeftOut[] = [];
  const onError = (problem: unknown): never => expect.unreachable(String(problem));
  const retention = { recordsMs: DAY_MS, refusalsMs: DAY_MS / 2 };
  const onDropped = (count: number): void => void (dropped += count);
  const content = { keys: [Buffer.alloc(32, 7)], previous: undefined, keptMs: DAY_MS };
  const given = { place: { directory }, retention, content, nowMs: () => NOW_MS };
  const records = await Records.open({
    ...given,
    onDropped,
    onRefusalsLeftOut: (told) => leftOut.push(told),
    onContentDropped: onDropped,
    onError,
  });
  onTestFinished(() => records.close());
  const feed = new RequestFeed({ nowMs: () => NOW_MS, onError });
  feed.subscribe((request) => records.add(request));
  return { records, feed, dropped: () => dropped, leftOut };
}

test("more than 20,000 that wait are dropped and counted, and later ones are taken again", async () => {
  const { records, feed, dropped } = await open(await folder());
  const end = (count: number): void => {
    for (let at = 0; at < count; at++) {
      const record = feed.begin(`req_${at}`, "/some", {});
      record.askedBy({ accountId: "acme", keyId: "k" }, "");
      record.end(undefined);
    }
  };
  end(20_300);
  expect(dropped()).toBe(300);
  const sum = await sumOf(records, ALL);
  expect(sum?.requestCount).toBe(20_000);
  end(10);
  expect((await sumOf(records, ALL))?.requestCount).toBe(20_010);
  expect(dropped()).toBe(300);
});

test("of those without a key fifty a second are kept, and the others are counted", async () => {
  const { records, feed, dropped } = await open(await folder());
  for (let at = 0; at < 80; at++) feed.begin(`req_${at}`, "/some", {}).end(undefined);
  expect(dropped()).toBe(30);
  expect((await sumOf(records, ALL))?.requestCount).toBe(50);
});

test("of an account's refusals 3,000 a minute are kept, and what is left out is counted and told", async () => {
  const { records, feed, dropped, leftOut } = await open(await folder());
  const refusal = new GatewayError("ERROR_REASON_RATE_LIMITED");
  const end = (account: string, failure: GatewayError | undefined): void => {
    const record = feed.begin("req_1", "/some", {});
    record.askedBy({ accountId: account, keyId: "k" }, "");
    record.end(failure);
  };
  for (let at = 0; at < 5_000; at++) end("noisy", refusal);
  for (let at = 0; at < 10; at++) end("noisy", undefined);
  for (let at = 0; at < 20; at++) end("quiet", refusal);
  expect(dropped()).toBe(2_000);
  const counts = async (account: string): Promise<number | undefined> =>
    (await sumOf(records, { ...ALL, names: { account } }))?.requestCount;
  expect([await counts("noisy"), await counts("quiet")]).toEqual([3_010, 20]);
  await records.close();
  expect(leftOut).toEqual([{ account: "noisy", count: 2_000 }]);
});

/** Records whose thread is `call`, of requests that end at once. */
async function withThread(
  call: (name: RecordCallName) => Promise<unknown>,
  settled: () => Promise<unknown>,
): Promise<{ records: Records; end: (id: string) => void }> {
  const fail = (problem: unknown): never => expect.unreachable(String(problem));
  const told = { onDropped: fail, onRefusalsLeftOut: fail, onContentDropped: fail, onError: fail };
  const records = await Records.open({
    place: { directory: "" },
    caller: { call: call as RecordCaller["call"], close: () => Promise.resolve() },
    retention: { recordsMs: DAY_MS, refusalsMs: DAY_MS },
    content: { keys: [], previous: undefined, keptMs: DAY_MS },
    nowMs: () => NOW_MS,
    settled,
    ...told,
  });
  const feed = new RequestFeed({ nowMs: () => NOW_MS, onError: fail });
  feed.subscribe((request) => records.add(request));
  return { records, end: (id) => feed.begin(id, "/some", {}).end(undefined) };
}

test("no record is told before the ledger has what was settled before it", async () => {
  const called: string[] = [];
  let settle = (): void => undefined;
  const call = (name: RecordCallName): Promise<unknown> => {
    called.push(name);
    return Promise.resolve();
  };
  const { records, end } = await withThread(call, () => new Promise<void>((resolve) => (settle = resolve)));
  end("req_1");
  const asked = records.find("req_1");
  await new Promise((resolve) => setImmediate(resolve));
  expect(called).not.toContain("append");
  settle();
  await asked;
  // What ended before the question is in its answer.
  expect(called.slice(called.indexOf("append"), called.indexOf("find") + 1)).toEqual(["append", "find"]);
  await records.close();
});

test("a flush keeps nothing of the flushes before the last", async () => {
  const resolved: WeakRef<object>[] = [];
  const settled = (): Promise<object> => {
    const answer = {};
    resolved.push(new WeakRef(answer));
    return Promise.resolve(answer);
  };
  const { records, end } = await withThread(() => Promise.resolve(), settled);
  for (let flush = 0; flush < 4; flush++) {
    end(`req_${flush}`);
    await records.find(`req_${flush}`);
  }
  // A reference that was made or read in this turn of the event loop is a strong one until it ends.
  await new Promise((resolve) => setImmediate(resolve));
  collectGarbage();
  expect(resolved.map((reference) => reference.deref() === undefined)).toEqual([true, true, true, false]);
  await records.close();
});

test("records that could not be stored are told once they can be, with those that were charged", async () => {
  let isFull = true;
  const dropped: unknown[] = [];
  const lost: unknown[] = [];
  const call = (name: RecordCallName): Promise<unknown> =>
    isFull && name === "append" ? Promise.reject(new Error("database or disk is full")) : Promise.resolve();
  const records = await Records.open({
    place: { directory: "" },
    caller: { call: call as RecordCaller["call"], close: () => Promise.resolve() },
    retention: { recordsMs: DAY_MS, refusalsMs: DAY_MS },
    content: { keys: [], previous: undefined, keptMs: DAY_MS },
    nowMs: () => NOW_MS,
    onDropped: (count, cause) => void dropped.push([count, cause]),
    onLost: (one) => void lost.push(one),
    onRefusalsLeftOut: () => undefined,
    onContentDropped: () => undefined,
    onError: () => undefined,
  });
  const since: number[] = [];
  records.afterLoss((sinceMs) => void since.push(sinceMs));
  const feed = new RequestFeed({ nowMs: () => NOW_MS, onError: (error) => expect.unreachable(String(error)) });
  feed.subscribe((request) => records.add(request));
  const end = async (chargedNanos: bigint): Promise<void> => {
    const request = feed.begin("req_1", "/some", {});
    const costs = { costNanos: chargedNanos, chargedNanos, operatorCostNanos: undefined };
    const upstream = { upstream: "u", upstreamModel: "m", attempts: 1, queueMs: 0, firstTokenMs: 1, upstreamMs: 1 };
    const usage = { usage: NO_USAGE, usageSource: 1 };
    const none = { clampedTo: undefined, cacheSavedNanos: 0n };
    request.answer = { createTimeMs: NOW_MS, ...upstream, ...usage, ...costs, ...none };
    request.end(undefined);
    await records.find("any");
  };
  await end(5n);
  await end(0n);
  expect(dropped).toEqual([
    [1, "lost"],
    [1, "lost"],
  ]);
  expect(lost).toEqual([]);
  isFull = false;
  await end(7n);
  await end(7n);
  expect(lost).toEqual([{ count: 2, chargedCount: 1, sinceMs: NOW_MS }]);
  expect(since).toEqual([NOW_MS]);
  await records.close();
});

test("many accounts that are refused without end share a room, and one that is refused little has its place", () => {
  const told: LeftOut[] = [];
  const bounds = new RefusalBounds((leftOut) => told.push(leftOut));
  const kept = (account: string, count: number, timeMs = 0): number =>
    Array.from({ length: count }, () => bounds.mayKeep(account, timeMs)).filter(Boolean).length;
  const busy = Array.from({ length: 10 }, (_, at) => kept(`busy${at}`, 4_000));
  expect(busy.slice(0, 4)).toEqual([3_000, 3_000, 3_000, 3_000]);
  expect(busy.reduce((sum, count) => sum + count, 0)).toBeLessThan(24_000);
  expect(kept("quiet", 30)).toBe(30);
  expect(kept("busy0", 10, 60_000)).toBe(10);
  expect(told).toHaveLength(10);
});

test("whoever asks while old records are swept waits for one piece at most", async () => {
  const directory = await folder();
  const engine = new Engine(openSqliteChunks(directory));
  for (let chunk = 0; chunk < 33; chunk++) {
    const batch = new BatchBuilder();
    for (let row = 0; row < 500; row++) {
      const endTimeMs = NOW_MS - 3 * DAY_MS + chunk * 60_000 + row;
      batch.push(
        rowWith({ id: `req_${chunk}_${row}`, endTimeMs, account: "acme", reason: row % 2 ? "" : "KEY_INVALID" }),
      );
    }
    await engine.append(batch.take());
  }
  const recent = new BatchBuilder();
  const newId = idAt(NOW_MS - 2, "");
  recent.push(rowWith({ id: newId, endTimeMs: NOW_MS - 1, account: "acme" }));
  recent.push(rowWith({ id: "req_refused", endTimeMs: NOW_MS - DAY_MS + 1, account: "acme", reason: "KEY_INVALID" }));
  await engine.append(recent.take());
  await engine.close();
  const { records } = await open(directory);
  let isSwept = false;
  const sweeping = records.sweep().then(() => (isSwept = true));
  expect(await records.find(newId)).toBeDefined();
  expect(isSwept).toBe(false);
  await sweeping;
  const left = await records.list(ALL, 10, undefined);
  expect(left.map(({ id }) => id)).toContain(newId);
  expect(await sumOf(records, { ...ALL, toMs: NOW_MS - 2 * DAY_MS })).toBeUndefined();
});

test("more questions at once than may wait are refused, and the others answered", async () => {
  const { records } = await open(await folder());
  const asked = await Promise.allSettled(Array.from({ length: 4_200 }, () => records.find("req_1")));
  const refused = asked.flatMap((one) => (one.status === "rejected" ? [one.reason as { reason: string }] : []));
  expect(refused.length).toBeGreaterThan(0);
  expect(refused.length).toBeLessThan(200);
  expect(refused[0]?.reason).toBe("ERROR_REASON_OVERLOADED");
  expect(await records.find("req_1")).toBeUndefined();
});

test("a part of an id is found in the newest and the oldest chunk, and a whole one in its time alone", async () => {
  const directory = await folder();
  const engine = new Engine(openSqliteChunks(directory));
  const ids: string[] = [];
  for (let chunk = 0; chunk < 3; chunk++) {
    const batch = new BatchBuilder();
    for (let row = 0; row < 5; row++) {
      const endTimeMs = NOW_MS - chunk * 3_600_000 - row;
      const id = idAt(endTimeMs - 10, `${chunk}${row}`);
      ids.push(id);
      batch.push(rowWith({ id, endTimeMs, clientRequestId: `a "quoted" id ${chunk}-${row}`, session: "s" }));
    }
    await engine.append(batch.take());
  }
  await engine.close();
  const { records } = await open(directory);
  const found = async (id: string): Promise<string[]> =>
    (await records.list({ ...ALL, id }, 100, undefined)).map((row) => row.id);
  for (const id of ids) expect(await found(id)).toEqual([id]);
  expect(await found('"quoted" id 2-')).toEqual(ids.slice(10));
  expect(await found("nowhere")).toEqual([]);
  expect(await records.known([ids[3]!, "req_none", ids[12]!])).toEqual([ids[3], ids[12]]);
});

test("a request is looked for where its id says that it began, and one without a time nowhere", async () => {
  const store = openSqliteChunks(await folder());
  const read: number[] = [];
  const reading = { ...methodsOf(store), texts: (id: number) => (read.push(id), store.texts(id)) };
  const writer = new Engine(store);
  // So far apart that only one of them can be of an id.
  const APART_MS = 2 * REQUEST_MS_MAX;
  for (let step = 0; step < 20; step++) {
    const batch = new BatchBuilder();
    const endTimeMs = NOW_MS - step * APART_MS;
    batch.push(rowWith({ id: idAt(endTimeMs - 10, String(step)), endTimeMs }));
    await writer.append(batch.take());
  }
  const engine = new Engine(reading);
  onTestFinished(() => engine.close());
  for (const id of ["req_none", "", "17", `req_${"g".repeat(32)}`, `${idAt(NOW_MS, "")}0`])
    expect(await engine.find(id), id).toBeUndefined();
  expect(await engine.known(Array.from({ length: 100 }, (_, at) => `of-another-${at}`))).toEqual([]);
  expect(read).toEqual([]);
  expect(await engine.find(idAt(NOW_MS - 5 * APART_MS - 10, "5"))).toBeDefined();
  expect(await engine.find(idAt(NOW_MS - 7 * APART_MS - 10, "abc"))).toBeUndefined();
  expect(read).toHaveLength(2);
});

test("what has a record is given no second one while others put chunks together, or before it is shown", async () => {
  const store = openSqliteChunks(await folder());
  const batchOf = (...ids: readonly string[]): RowBatch => {
    const batch = new BatchBuilder();
    for (const id of ids) batch.push(rowWith({ id, endTimeMs: NOW_MS }));
    return batch.take();
  };
  const [writer, joiner] = [new Engine(store), new Engine(store)];
  for (const id of ["a", "b", "c"]) await writer.append(batchOf(id));
  let isJoined = false;
  const facts = async (id: number): Promise<Uint8Array | undefined> => {
    const found = await store.facts(id);
    if (!isJoined) {
      isJoined = true;
      await joiner.joinLeft(NOW_MS);
    }
    return found;
  };
  const adopting = new Engine({ ...methodsOf(store), facts });
  onTestFinished(() => adopting.close());
  await adopting.keep(batchOf("d"));
  const rows = ["a", "b", "c", "d", "e"].map((id) => rowWith({ id, endTimeMs: NOW_MS }));
  expect(await adopting.adopt(rows, NOW_MS, NOW_MS)).toBe(1);
  expect(isJoined).toBe(true);
  expect(await adopting.adopt(rows, NOW_MS, NOW_MS)).toBe(0);
});

function methodsOf(store: ChunkStore): ChunkStore {
  return {
    insert: (chunk) => store.insert(chunk),
    replace: (ids, chunks) => store.replace(ids, chunks),
    within: (fromMs, toMs) => store.within(fromMs, toMs),
    over: (beforeMs, refusalsBeforeMs) => store.over(beforeMs, refusalsBeforeMs),
    unsealed: (beforeMs) => store.unsealed(beforeMs),
    facts: (id) => store.facts(id),
    texts: (id) => store.texts(id),
    alone: (work) => store.alone(work),
    close: () => store.close(),
  };
}

test.each([60_000, 1, 0, -600_000])("a record is found by an id that is %i ms ahead of its end", async (aheadMs) => {
  const { records, feed } = await open(await folder());
  const id = idAt(NOW_MS + aheadMs, "1");
  feed.begin(id, "/v1/models", {}).end(new GatewayError("ERROR_REASON_KEY_INVALID"));
  expect(await records.find(id)).toMatchObject({ id });
  expect(await records.list({ ...ALL, id }, 10, undefined)).toMatchObject([{ id }]);
});
