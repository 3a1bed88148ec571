/** Sums that are kept of chunks say what the chunks say, whatever became of them meanwhile. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fc } from "../support/seeds.js";
import { expect, test } from "vitest";
import { ChunkSumsCache } from "../../src/records/chunk-sums.js";
import { personOf } from "../../src/records/erasure.js";
import { Engine } from "../../src/records/engine.js";
import { batchOf } from "../../src/records/row-batch.js";
import { openSqliteChunks } from "../../src/records/sqlite-chunks.js";
import { groupsOf, type UsageGroup } from "../../src/records/usage-groups.js";
import { rowWith } from "./row.js";
import { bySweep } from "../support/sweep.js";

/** 2026-11-21. */
const DAY = 1_795_219_200_000;
const EVER = Number.MAX_SAFE_INTEGER;
const WEEK_MS = 604_800_000;
const USERS = ["ann", "bob", "carol"] as const;

const appended = fc.record({
  kind: fc.constant("append" as const),
  rows: fc.array(
    fc.record({
      endTimeMs: fc.integer({ min: DAY, max: DAY + WEEK_MS }),
      endUser: fc.constantFrom(...USERS),
      model: fc.constantFrom("m1", "m2"),
      reason: fc.constantFrom("", "RATE_LIMITED"),
      costNanos: fc.nat(1_000_000),
      total: fc.nat(10_000),
    }),
    { minLength: 1, maxLength: 20 },
  ),
});
const step = fc.oneof(
  appended,
  fc.record({ kind: fc.constant("seal" as const) }),
  fc.record({ kind: fc.constant("ask" as const) }),
  fc.record({ kind: fc.constant("erase" as const), user: fc.constantFrom(...USERS) }),
  fc.record({ kind: fc.constant("sweep" as const), ageMs: fc.integer({ min: 0, max: WEEK_MS }) }),
);
const QUESTIONS = [[], ["user"], ["model", "reason"], ["day", "user"]] as const;

/** Cold: of a chunk store that nobody asked before. */
async function answers(engine: Engine): Promise<readonly (readonly UsageGroup[])[]> {
  const tables: (readonly UsageGroup[])[] = [];
  for (const dimensions of QUESTIONS) {
    // Of all, and of a time that begins within a run.
    for (const fromMs of [0, DAY + WEEK_MS / 3]) {
      const asked = { dimensions, filter: { fromMs, toMs: EVER, names: {} } };
      for (const table of (await engine.usage([asked], [])).tables) tables.push(groupsOf(table).map(plain));
    }
  }
  return tables;
}

function plain({ values, requestCount, sums, errors, meters, totalMs, firstTokenMs, ...rest }: UsageGroup): UsageGroup {
  const { answeredCount, settledCount } = rest;
  return { values, requestCount, answeredCount, settledCount, sums, errors, meters, totalMs, firstTokenMs };
}

test("after any appends, erasures and sweeps they are those of whoever never asked before", () =>
  fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 18 }), async (steps) => {
      const directory = mkdtempSync(join(tmpdir(), "tollgate-sums-"));
      const chunks = openSqliteChunks(directory);
      try {
        // Runs of two chunks.
        const engine = new Engine(chunks, new ChunkSumsCache(0, 2));
        const cold = (): Engine => new Engine(chunks, new ChunkSumsCache(Infinity));
        let next = 0;
        for (const one of [...steps, { kind: "seal" } as const, { kind: "ask" } as const]) {
          if (one.kind === "append")
            await engine.append(batchOf(one.rows.map((row) => rowWith({ ...row, id: `req_${next++}` }))));
          if (one.kind === "seal") await cold().joinLeft(EVER);
          if (one.kind === "erase") await engine.erase(undefined, personOf(one.user));
          if (one.kind === "sweep")
            while (await engine.sweepOne(DAY + WEEK_MS, { recordsMs: WEEK_MS, refusalsMs: one.ageMs }));
          expect(await answers(engine)).toEqual(await answers(cold()));
        }
      } finally {
        await chunks.close();
        rmSync(directory, { recursive: true });
      }
    }),
    { numRuns: bySweep({ short: 10, long: 25, all: 25 }) },
  ));
