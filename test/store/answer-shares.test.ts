/** Room for answers with an Idempotency-Key, on each driver: nobody's flood takes what is another's equal share. */
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fc } from "../support/seeds.js";
import { describe, expect, onTestFinished, test } from "vitest";
import type { AnswerBounds, AnswerRow, AnswerTotals } from "../../src/store/answer-rows.js";
import { openPostgresStore } from "../../src/store/postgres/store.js";
import { openAnswerFile, SqliteAnswers } from "../../src/store/sqlite/answer-file.js";
import { postgresMissing } from "../support/postgres.js";
import { makeStoreDatabase } from "../support/stores.js";
import { quickDirectory } from "../support/quick-directory.js";

const HOUR_MS = 3_600_000;

interface Place {
  put(rows: readonly AnswerRow[]): Promise<void>;
  sweep(bounds: AnswerBounds): Promise<AnswerTotals>;
  find(id: Uint8Array): Promise<Pick<AnswerRow, "record"> | undefined>;
}

/** What an account put: how many bytes each of its records has. */
type Put = readonly number[];

function sqlite(): Promise<Place> {
  const directory = mkdtempSync(join(quickDirectory(), "tollgate-shares-"));
  const file = openAnswerFile(directory);
  onTestFinished(() => {
    file.close();
    rmSync(directory, { recursive: true });
  });
  const answers = new SqliteAnswers(file.database);
  return Promise.resolve({
    put: (rows) => Promise.resolve(answers.write(rows.map((row) => ({ kind: "put", row })))),
    sweep: (bounds) => Promise.resolve(answers.sweep(0, bounds)),
    find: (id) => Promise.resolve(answers.find(id, 0)),
  });
}

async function postgres(): Promise<Place> {
  const store = await openPostgresStore({ url: await makeStoreDatabase(), nodeId: "node_1" });
  onTestFinished(() => store.close());
  const open = (bounds?: AnswerBounds, onSwept: (totals: AnswerTotals) => void = () => undefined) =>
    store.answers({ nowMs: () => 0, onSwept, onError: () => undefined, ...(bounds && { bounds }) });
  const answers = open();
  return {
    put: async (rows) => void (await Promise.all(rows.map((row) => answers.put(row)))),
    sweep: async (bounds) => {
      let swept: AnswerTotals | undefined;
      const sweeper = open(bounds, (totals) => (swept = totals));
      await sweeper.sweep();
      await sweeper.close();
      return swept ?? expect.unreachable("nothing was swept");
    },
    find: (id) => answers.find(id),
  };
}

const idOf = (round: number, account: number, place: number): Buffer => Buffer.from(`${round} ${account} ${place}`);

function rowsOf(round: number, puts: readonly Put[]): AnswerRow[] {
  return puts.flatMap((put, account) =>
    put.map((bytes, place) => ({
      id: idOf(round, account, place),
      accountId: `account ${account}`,
      requestId: "req",
      print: Buffer.alloc(1),
      record: Buffer.alloc(bytes),
      recordUntilMs: HOUR_MS + place,
      untilMs: HOUR_MS + place,
    })),
  );
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);

/** How many records and bytes of them, and how many keys, are left of each account. */
async function leftOf(place: Place, round: number, puts: readonly Put[]): Promise<{ bytes: number; keys: number }[]> {
  return Promise.all(
    puts.map(async (put, account) => {
      const found = await Promise.all(put.map((_, index) => place.find(idOf(round, account, index))));
      return {
        bytes: sum(found.map((one) => one?.record?.length ?? 0)),
        keys: found.filter((one) => one !== undefined).length,
      };
    }),
  );
}

const PUTS = fc.array(fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 60 }), { minLength: 2, maxLength: 6 });

/** What is left of what somebody had, where all had to make room: all of it, or about an equal share. */
function expectFair(had: readonly number[], left: readonly number[], most: number, step: number): void {
  const over = Math.max(0, sum(had) - most);
  const share = most / had.length;
  expect(sum(left)).toBeLessThanOrEqual(most);
  for (const [account, size] of had.entries())
    expect(left[account]).toBeGreaterThanOrEqual(Math.min(size, share - over / 8 - step));
  for (const [account, size] of had.entries()) if (size <= share) expect(left[account]).toBe(size);
}

describe.each([
  { name: "SQLite", missing: undefined, open: sqlite, runs: 100 },
  { name: "PostgreSQL", missing: postgresMissing, open: postgres, runs: 15 },
])("on $name", ({ missing, open, runs }) => {
  test.skipIf(missing !== undefined)("who has little keeps it, and who floods loses its own", async () => {
    const place = await open();
    let round = 0;
    const property = fc.asyncProperty(
      PUTS,
      fc.integer({ min: 20, max: 600 }),
      fc.integer({ min: 6, max: 60 }),
      async (puts, bytesMax, rowsMax) => {
        round += 1;
        // What a failed round left, too.
        await place.sweep({ recordBytesMax: 0, rowsMax: 0 });
        await place.put(rowsOf(round, puts));
        const before = await leftOf(place, round, puts);
        await place.sweep({ recordBytesMax: bytesMax, rowsMax: 1_000 });
        const records = await leftOf(place, round, puts);
        const bytes = (one: { readonly bytes: number }): number => one.bytes;
        expectFair(before.map(bytes), records.map(bytes), bytesMax, 40);
        // Keys outlive their records.
        expect(records.map(({ keys }) => keys)).toEqual(before.map(({ keys }) => keys));
        await place.sweep({ recordBytesMax: bytesMax, rowsMax });
        const keys = await leftOf(place, round, puts);
        expectFair(
          before.map((one) => one.keys),
          keys.map((one) => one.keys),
          rowsMax,
          1,
        );
      },
    );
    await fc.assert(property, { numRuns: runs });
  });
});
