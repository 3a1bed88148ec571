/**
 * Sums over chunks are those that adding up one row after the other gives, for every grouping and filter, and whether
 * those of a whole chunk were added up before.
 */
import { fc } from "../support/seeds.js";
import { expect, test } from "vitest";
import { ChunkSumsCache } from "../../src/records/chunk-sums.js";
import { ChunkBuilder, decodePart, encodeChunk } from "../../src/records/chunk.js";
import { FLAG, type RecordRow, storedTime } from "../../src/records/columns.js";
import { type RecordFilter, rowPasses } from "../../src/records/filter.js";
import { BatchBuilder } from "../../src/records/row-batch.js";
import { type Dimension, DIMENSIONS, periodName } from "../../src/records/usage-codes.js";
import { groupsOf } from "../../src/records/usage-groups.js";
import { GROUPS_MAX, TooManyGroups } from "../../src/records/usage-places.js";
import { UsageScan } from "../../src/records/usage-scan.js";
import { SUMS } from "../../src/records/usage-sums.js";
import { rowWith } from "./row.js";

const DAY = 1_795_219_200_000;
const ALL: RecordFilter = { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER, names: {} };

const rows = fc.array(
  fc.record({
    endTimeMs: fc.integer({ min: DAY - 7_200_000, max: DAY + 7_200_000 }),
    flags: fc.constantFrom(
      0,
      FLAG.answered,
      FLAG.answered | FLAG.streamed,
      FLAG.answered | FLAG.costKnown,
      FLAG.answered | FLAG.adopted,
    ),
    account: fc.constantFrom("acme", "other"),
    key: fc.constantFrom("k1", "k2", "k3"),
    model: fc.constantFrom("m1", "m2"),
    upstream: fc.constantFrom("", "u1"),
    endUser: fc.constantFrom("", "ann", "=bob"),
    tags: fc.constantFrom("", "a=1", "a=1\nb=2"),
    reason: fc.constantFrom("", "RATE_LIMITED", "UPSTREAM_FAILED"),
    // Many of these together are above what a double holds exactly.
    costNanos: fc.constantFrom(0, 7, 4_000_000_000_000_003),
    chargedNanos: fc.constantFrom(0, 7, 4_000_000_000_000_001),
    inputTokens: fc.nat(1_000_000),
    total: fc.constantFrom(0, storedTime(1) ?? 0, storedTime(250) ?? 0),
    firstToken: fc.constantFrom(0, storedTime(1) ?? 0, storedTime(100) ?? 0),
    outputTokens: fc.constantFrom(0, 12),
    cacheSavedNanos: fc.constantFrom(0, 9, -4_000),
    node: fc.constantFrom("", "n1"),
  }),
  { maxLength: 60 },
);

test("of any rows in any chunks are those of the rows", async () => {
  const dimensions = fc.uniqueArray(fc.constantFrom(...DIMENSIONS), { maxLength: 2 });
  const filter = fc.constantFrom<Partial<RecordFilter>>(
    {},
    { names: { model: "m1" } },
    { tag: "b=2" },
    { fromMs: DAY },
  );
  await fc.assert(
    fc.asyncProperty(rows, fc.nat(20), dimensions, filter, fc.boolean(), async (some, cut, by, narrowed, isWhole) => {
      const known = some.map((row) => Object.assign(rowWith(row), { operatorCostNanos: isKnown(row) ? 5 : 0 }));
      const asked = { ...ALL, ...narrowed };
      const scan = new UsageScan(by, asked);
      const cache = new ChunkSumsCache(0);
      for (const [id, part] of [known.slice(0, cut), known.slice(cut)].entries()) {
        if (part.length === 0) continue;
        const chunk = chunkOf(part);
        const sums =
          isWhole && scan.takesAllOf(chunk) ? await cache.of([id], by, () => Promise.resolve(chunk)) : undefined;
        if (sums === undefined) scan.add(chunk);
        else scan.addSums(sums);
      }
      const found = groupsOf(scan.table());
      const told = found.map(({ values, requestCount, answeredCount, errors, sums }) => ({
        values,
        requestCount,
        answeredCount,
        errors,
        sums,
      }));
      expect(told).toEqual(
        addedUp(
          known.filter((row) => rowPasses(row, asked)),
          by,
        ),
      );
    }),
    { numRuns: 150 },
  );
});

test("so many groups are told, in order, and one more is refused", () => {
  const some = (count: number): readonly RecordRow[] =>
    Array.from({ length: count }, (_, at) => rowWith({ endTimeMs: DAY, endUser: `u${at % 200}`, key: `k${at}` }));
  const scan = new UsageScan(["user", "key"], ALL);
  for (let at = 0; at < GROUPS_MAX; at += 4_000) scan.add(chunkOf(some(GROUPS_MAX).slice(at, at + 4_000)));
  const { names, places, requestCounts } = scan.table();
  const values = Array.from(requestCounts, (_, at) =>
    [0, 1].map((place) => names[place]?.[places[at * 2 + place] ?? 0]),
  );
  const ids = values.map((each) => each.join("\u0000"));
  expect(ids).toEqual(ids.toSorted());
  expect(new Set(ids).size).toBe(GROUPS_MAX);
  expect(() => scan.add(chunkOf(some(GROUPS_MAX + 1).slice(-1)))).toThrow(TooManyGroups);
});

function isKnown({ flags }: Pick<RecordRow, "flags">): boolean {
  return (flags & FLAG.costKnown) !== 0;
}

test("days and hours of a time zone are local, also where an hour comes twice or a zone is off by a half", () => {
  const at = (time: string): RecordRow => rowWith({ endTimeMs: Date.parse(time) });
  const valuesBy = (by: Dimension, ...times: string[]): unknown[] => {
    const scan = new UsageScan([by], ALL);
    scan.add(chunkOf(times.map(at)));
    return groupsOf(scan.table()).map(({ values, requestCount }) => [values[0], requestCount]);
  };
  const late = ["2026-11-22T22:59:59Z", "2026-11-22T23:00:00Z", "2026-11-23T22:59:59Z"];
  expect(valuesBy("day@Europe/Berlin", ...late)).toEqual([
    ["2026-11-22", 1],
    ["2026-11-23", 2],
  ]);
  const twice = ["2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z"];
  expect(valuesBy("hour@Europe/Berlin", ...twice)).toEqual([
    ["2026-10-25T02:00+01:00", 1],
    ["2026-10-25T02:00+02:00", 1],
  ]);
  expect(valuesBy("hour@Asia/Kolkata", "2026-11-22T10:25:00Z", "2026-11-22T10:35:00Z")).toEqual([
    ["2026-11-22T15:00+05:30", 1],
    ["2026-11-22T16:00+05:30", 1],
  ]);
  expect(valuesBy("minute@America/New_York", "2026-11-22T10:25:07Z")).toEqual([["2026-11-22T05:25-05:00", 1]]);
});

test("the values of one tag are summed up, whatever other tags a request has", () => {
  const tags = ["team=search\nenv=prod", "env=dev\nteam=search", "team=ads\nteam=search", "env=prod", "", "unknown"];
  const scan = new UsageScan(["tag=team"], ALL);
  scan.add(chunkOf(tags.map((text) => rowWith({ endTimeMs: DAY, tags: text }))));
  const found = groupsOf(scan.table()).map(({ values, requestCount }) => [values[0], requestCount]);
  expect(found).toEqual([
    ["", 2],
    ["ads", 1],
    ["search", 2],
    ["unknown", 1],
  ]);
});

function chunkOf(part: readonly RecordRow[]): ReturnType<ChunkBuilder["build"]> {
  const batch = new BatchBuilder();
  for (const row of part) batch.push(row);
  const builder = new ChunkBuilder(part.length);
  builder.pushBatch(batch.take());
  const chunk = builder.build();
  const bytes = encodeChunk(chunk);
  return { ...chunk, facts: decodePart(bytes.facts), texts: decodePart(bytes.texts) };
}

function addedUp(all: readonly RecordRow[], by: readonly Dimension[]): unknown[] {
  const groups = new Map<string, { values: string[]; rows: RecordRow[] }>();
  for (const row of all) {
    const values = by.map((each) => valueOf(row, each));
    const id = values.join("\u0000");
    groups.set(id, { values, rows: [...(groups.get(id)?.rows ?? []), row] });
  }
  const sorted = [...groups.keys()].toSorted().flatMap((id) => groups.get(id) ?? []);
  return sorted.map(({ values, rows: of }) => {
    const errors: Record<string, number> = {};
    for (const { reason, flags } of of)
      if (reason !== "" && (flags & FLAG.adopted) === 0) errors[reason] = (errors[reason] ?? 0) + 1;
    const sums = Object.fromEntries(SUMS.map((name) => [name, of.reduce((sum, row) => sum + sumOf(row, name), 0n)]));
    const answeredCount = of.filter(({ flags }) => (flags & FLAG.answered) !== 0).length;
    return { values, requestCount: of.length, answeredCount, errors, sums };
  });
}

function sumOf(row: RecordRow, name: (typeof SUMS)[number]): bigint {
  if (name === "streamedTokens" || name === "streamedTenths") {
    const tenths = row.firstToken === 0 ? 0 : row.total - row.firstToken;
    if ((row.flags & FLAG.streamed) === 0 || tenths <= 0 || row.outputTokens === 0) return 0n;
    return BigInt(name === "streamedTenths" ? tenths : row.outputTokens);
  }
  if (name !== "marginNanos") return BigInt(row[name]);
  return isKnown(row) ? BigInt(row.chargedNanos) - BigInt(row.operatorCostNanos) : 0n;
}

function valueOf(row: RecordRow, dimension: Dimension): string {
  const periods: Partial<Record<Dimension, number>> = {
    day: 86_400_000,
    hour: 3_600_000,
    quarter_hour: 900_000,
    minute: 60_000,
  };
  const periodMs = periods[dimension];
  if (periodMs !== undefined) return periodName(Math.floor(row.endTimeMs / periodMs) * periodMs, dimension);
  if (dimension === "tag") return row.tags.replaceAll("\n", ", ");
  const column =
    dimension === "user" ? "endUser" : (dimension as "account" | "key" | "model" | "upstream" | "reason" | "node");
  return row[column];
}
